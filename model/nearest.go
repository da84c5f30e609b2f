package model

import "strings"

// Nearest is the word of a list that given is a slip of, without regard to
// case: at most a quarter of its letters (and at least one) are added, left out,
// replaced or swapped with their neighbour. Empty: none is.
func Nearest(given string, list []string) string {
	if len(given) > mostSlips {
		return ""
	}
	given = strings.ToLower(given)
	best, least := "", max(1, len(given)/4)+1
	for _, word := range list {
		if d := slips(given, strings.ToLower(word)); d < least {
			best, least = word, d
		}
	}
	return best
}

// mostSlips bounds a word that is looked for, in bytes.
const mostSlips = 64

// slips counts the letters added, left out, replaced or swapped with their
// neighbour between two words.
func slips(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			replace := row[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			next[j] = min(replace, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
