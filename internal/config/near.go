package config

import (
	"strings"

	"chaintop/internal/clean"
)

// nearest is the word of list that given is a slip of, empty when none is near.
func nearest(given string, list []string) string {
	given = strings.ToLower(clean.Text(given, maxName))
	best, least := "", max(1, len(given)/4)+1
	for _, word := range list {
		if d := distance(given, word); d < least {
			best, least = word, d
		}
	}
	return best
}

// distance counts the letters added, left out, replaced or swapped with their
// neighbour between two words.
func distance(a, b string) int {
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
