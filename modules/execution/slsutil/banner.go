package slsutil

import (
	"strings"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/modules/outputters"
)

const (
	bannerTitle = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT"
	bannerText  = "The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and without warning."
	maxBanner   = 10000 // characters in a line
)

// banner makes a box of comment lines with a title in its middle and a text.
func banner(_ *loader.Call, a loader.Args) (any, error) {
	width, err := a.Int("width")
	if err != nil {
		return nil, err
	}
	sign, border := a.Str("commentchar"), a.Str("borderchar")
	left, right := strings.TrimRight(sign, " \t\n"), strings.TrimSpace(sign)
	inner := int(min(width, maxBanner)) - runes(left) - runes(right)
	room := inner - 2
	if room <= 0 {
		return nil, loader.Raise("salt.exceptions.ArgumentValueError", "Width is too small to render banner")
	}
	first := ""
	if _, size := utf8.DecodeRuneInString(border); size > 0 {
		first = border[:size]
	}
	edge := sign + strings.Repeat(first, inner) + right
	spacer := sign + strings.Repeat(" ", max(int(min(width, maxBanner))-2*runes(sign), 0)) + sign
	var lines []string
	if start := a.Get("blockstart"); start != nil {
		lines = append(lines, loader.Text(start))
	}
	lines = append(lines, edge, spacer)
	for _, line := range outputters.Wrap(textOr(a.Get("title"), bannerTitle), room) {
		lines = append(lines, left+" "+center(line, room)+" "+right)
	}
	lines = append(lines, spacer)
	for _, line := range outputters.Wrap(textOr(a.Get("text"), bannerText), room) {
		lines = append(lines, left+" "+line+strings.Repeat(" ", max(room-runes(line), 0))+" "+right)
	}
	lines = append(lines, edge)
	if end := a.Get("blockend"); end != nil {
		lines = append(lines, loader.Text(end))
	}
	if a.Bool("newline") {
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

func boolstr(_ *loader.Call, a loader.Args) (any, error) {
	if a.Bool("value") {
		return a.Get("true"), nil
	}
	return a.Get("false"), nil
}
