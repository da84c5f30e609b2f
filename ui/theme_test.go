package ui

import (
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// contrast is WCAG 2's, of two colours in hex.
func contrast(a, b string) float64 {
	x, y := luminance(lipgloss.Color(a)), luminance(lipgloss.Color(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	lin := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

// Each colour can be read on each ground it may lie on, the selected row's
// among them.
func TestContrast(t *testing.T) {
	const least = 4.5
	dark := []string{"#000000", "#1c1c1c", "#282c34", selectGround.dark.rgb}
	light := []string{"#ffffff", "#f5f5f5", "#fdf6e3", selectGround.light.rgb}
	for r := range roles {
		p := palette[r]
		if r == banner {
			dark, light := contrast(p.dark.rgb, bannerGround.dark.rgb), contrast(p.light.rgb, bannerGround.light.rgb)
			if min(dark, light) < least {
				t.Errorf("the banner has %.1f and %.1f", dark, light)
			}
			continue
		}
		if p.dark.rgb == "" {
			continue // the terminal's own
		}
		for k := range dark {
			if c := contrast(p.dark.rgb, dark[k]); c < least {
				t.Errorf("role %d on %s: %.1f", r, dark[k], c)
			}
			if c := contrast(p.light.rgb, light[k]); c < least {
				t.Errorf("role %d on %s: %.1f", r, light[k], c)
			}
		}
	}
}

// The 256 colours are the true ones: nothing is rounded.
func TestIndexedColoursAreTheTrueOnes(t *testing.T) {
	hues := append([]hue{selectGround, bannerGround}, palette[:]...)
	for _, h := range hues {
		for _, s := range []shade{h.dark, h.light} {
			if s.rgb == "" {
				continue
			}
			n, err := strconv.Atoi(s.index)
			if err != nil {
				t.Fatal(err)
			}
			if got := ansi.IndexedColor(n); luminance(got) != luminance(lipgloss.Color(s.rgb)) {
				t.Errorf("%s is not colour %d", s.rgb, n)
			}
		}
	}
}

// States that stand beside each other look different, also without colour:
// no theme gives a mark alone.
func TestRolesDiffer(t *testing.T) {
	for _, dark := range []bool{true, false} {
		for _, depth := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI} {
			th := newTheme(dark, depth, false)
			seen := map[string]role{}
			for _, r := range []role{good, warn, bad, hold, banner} {
				if was, ok := seen[th.plain[r]]; ok {
					t.Errorf("dark %v, %v: roles %d and %d look alike", dark, depth, was, r)
				}
				seen[th.plain[r]] = r
			}
			if th.plain[text] == th.selected[text] {
				t.Errorf("dark %v, %v: the selected row looks like any other", dark, depth)
			}
		}
	}
}

// Every sign that any frame of ours draws is one cell, and has its ASCII.
func TestEverySignHasItsASCII(t *testing.T) {
	files, err := filepath.Glob("testdata/TestFrames/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatal("no frames", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(b) {
			if r < utf8.RuneSelf {
				continue
			}
			if _, ok := asciiOf[r]; !ok || ansi.StringWidth(string(r)) != 1 || ansi.StringWidthWc(string(r)) != 1 {
				t.Errorf("%s draws %q: ASCII %v, %d cells", f, r, ok, ansi.StringWidth(string(r)))
			}
		}
	}
	for r := range asciiOf {
		if !narrow(r) || ansi.StringWidth(string(r)) != 1 {
			t.Errorf("%q is no sign of one cell", r)
		}
	}
}
