package slsutil

import (
	"strings"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/modules/outputters"
)

const (
	bannerTitle = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT"
	bannerText  = "The contents of this file are managed by Salt. " +
		"Any changes to this file may be overwritten automatically and without warning."
	maxBanner = 10000 // characters in a line
)

// box is a banner.
type box struct {
	Width      int64  `arg:"width=72"`
	Comment    string `arg:"commentchar=#"`
	Border     string `arg:"borderchar=#"`
	BlockStart any    `arg:"blockstart=None"`
	BlockEnd   any    `arg:"blockend=None"`
	Title      any    `arg:"title=None"`
	Text       any    `arg:"text=None"`
	Newline    bool   `arg:"newline=False"`
}

// banner makes a box of comment lines with a title in its middle and a text.
func banner(_ *loader.Call, a box) (any, error) {
	sign, border, width := a.Comment, a.Border, int(min(a.Width, maxBanner))
	left, right := strings.TrimRight(sign, " \t\n"), strings.TrimSpace(sign)
	inner := width - runes(left) - runes(right)
	room := inner - 2
	if room <= 0 {
		return nil, loader.Raise("salt.exceptions.ArgumentValueError", "Width is too small to render banner")
	}
	first := ""
	if _, size := utf8.DecodeRuneInString(border); size > 0 {
		first = border[:size]
	}
	edge := sign + strings.Repeat(first, inner) + right
	spacer := sign + strings.Repeat(" ", max(width-2*runes(sign), 0)) + sign
	var lines []string
	if start := a.BlockStart; start != nil {
		lines = append(lines, loader.Text(start))
	}
	lines = append(lines, edge, spacer)
	for _, line := range outputters.Wrap(textOr(a.Title, bannerTitle), room) {
		lines = append(lines, left+" "+center(line, room)+" "+right)
	}
	lines = append(lines, spacer)
	for _, line := range outputters.Wrap(textOr(a.Text, bannerText), room) {
		lines = append(lines, left+" "+line+strings.Repeat(" ", max(room-runes(line), 0))+" "+right)
	}
	lines = append(lines, edge)
	if end := a.BlockEnd; end != nil {
		lines = append(lines, loader.Text(end))
	}
	if a.Newline {
		lines = append(lines, "")
	}
	return strings.Join(lines, "\n"), nil
}

func runes(s string) int { return utf8.RuneCountInString(s) }

func textOr(v any, standard string) string {
	if v == nil {
		return standard
	}
	return loader.Text(v)
}

// center is Python's str.center: of an odd rest the left side gets more when the width is odd.
func center(s string, width int) string {
	pad := width - runes(s)
	if pad <= 0 {
		return s
	}
	left := pad/2 + pad&width&1
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", pad-left)
}

// choice is a value and the texts for its truth.
type choice struct {
	Value bool `arg:"value"`
	True  any  `arg:"true=true"`
	False any  `arg:"false=false"`
}

func boolstr(_ *loader.Call, a choice) (any, error) {
	if a.Value {
		return a.True, nil
	}
	return a.False, nil
}
