package outputters

import (
	"fmt"
	"strings"
	"unicode"
)

const binaryTag = "!!binary"

// scalarTraits is what decides on the style of a scalar (emitter.c, yaml_emitter_analyze_scalar).
type scalarTraits struct {
	multiline             bool
	flowPlain, blockPlain bool
	singleQuoted          bool
}

func isYAMLBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isYAMLBlank(r rune) bool { return r == ' ' || r == '\t' || isYAMLBreak(r) }

// isYAMLPrintable leaves out what needs an escape: controls, and every character past U+FFFF.
func isYAMLPrintable(r rune) bool {
	switch {
	case r == '\n', r >= 0x20 && r <= 0x7e, r >= 0xa0 && r <= 0xd7ff:
		return true
	case r >= 0xe000 && r <= 0xfffd:
		return r != 0xfeff
	}
	return false
}

func analyze(s string, ascii bool) scalarTraits {
	if s == "" {
		return scalarTraits{blockPlain: true, singleQuoted: true}
	}
	a := scalarAnalysis{runes: []rune(s), ascii: ascii}
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		a.flowIndicator, a.blockIndicator = true, true
	}
	for i := range a.runes {
		a.indicators(i)
		a.spaces(i)
	}
	return a.traits()
}

type scalarAnalysis struct {
	runes                         []rune
	ascii                         bool
	flowIndicator, blockIndicator bool
	lineBreaks, special           bool
	outer                         bool // white space at either end
	breakSpace, spaceBreak        bool
}

// blankAt tells whether white space or the end is at i.
func (a *scalarAnalysis) blankAt(i int) bool {
	return i < 0 || i >= len(a.runes) || isYAMLBlank(a.runes[i])
}

func (a *scalarAnalysis) indicators(i int) {
	r := a.runes[i]
	followed := a.blankAt(i + 1)
	switch {
	case i == 0 && strings.ContainsRune("#,[]{}&*!|>'\"%@`", r), i == 0 && r == '-' && followed,
		i > 0 && r == '#' && a.blankAt(i-1):
		a.flowIndicator, a.blockIndicator = true, true
	case r == ':', i == 0 && r == '?':
		a.flowIndicator = true
		a.blockIndicator = a.blockIndicator || followed
	case i > 0 && strings.ContainsRune(",?[]{}", r):
		a.flowIndicator = true
	}
}

func (a *scalarAnalysis) spaces(i int) {
	r := a.runes[i]
	end := i == 0 || i == len(a.runes)-1
	a.special = a.special || !isYAMLPrintable(r) || a.ascii && r > unicode.MaxASCII
	switch {
	case r == ' ':
		a.outer = a.outer || end
		a.breakSpace = a.breakSpace || i > 0 && isYAMLBreak(a.runes[i-1])
	case isYAMLBreak(r):
		a.lineBreaks = true
		a.outer = a.outer || end
		a.spaceBreak = a.spaceBreak || i > 0 && a.runes[i-1] == ' '
	}
}

func (a *scalarAnalysis) traits() scalarTraits {
	quoted := a.spaceBreak || a.special
	plain := !a.outer && !a.breakSpace && !quoted && !a.lineBreaks
	return scalarTraits{
		multiline:    a.lineBreaks,
		flowPlain:    plain && !a.flowIndicator,
		blockPlain:   plain && !a.blockIndicator,
		singleQuoted: !a.breakSpace && !quoted,
	}
}

// scalar picks the style and writes the scalar; its further lines stand one step further in.
func (e *emitter) scalar(n *yamlNode, simpleKey bool) {
	before := e.increase(true, false)
	defer func() { e.indent = before }()
	if n.binary {
		e.binary(n, simpleKey)
		return
	}
	t := analyze(n.text, e.ascii)
	allowed := t.blockPlain
	if e.flowLevel > 0 {
		allowed = t.flowPlain
	}
	switch {
	case simpleKey && t.multiline:
		e.doubleQuoted(n.text, false)
	case allowed && n.plainOK && !(n.text == "" && (e.flowLevel > 0 || simpleKey)):
		e.plain(n.text, !simpleKey)
	case t.singleQuoted:
		e.singleQuoted(n.text, !simpleKey)
	default:
		e.doubleQuoted(n.text, !simpleKey)
	}
}

// plain writes text as it is, folded at single blanks.
func (e *emitter) plain(s string, fold bool) {
	if !e.whitespace && (s != "" || e.flowLevel > 0) {
		e.put(" ")
	}
	runes := []rune(s)
	for i, r := range runes {
		if r == ' ' && fold && e.column > e.width && !blankRune(runes, i-1) && !blankRune(runes, i+1) {
			e.writeIndent()
			continue
		}
		e.put(string(r))
		if r != ' ' {
			e.indention = false
		}
	}
	e.whitespace, e.indention = false, false
}

func blankRune(runes []rune, i int) bool {
	return i >= 0 && i < len(runes) && runes[i] == ' '
}

// singleQuoted doubles quotes and writes a line end as one more.
func (e *emitter) singleQuoted(s string, fold bool) {
	e.indicator("'", true, false, false)
	runes := []rune(s)
	breaks := false
	for i, r := range runes {
		inner := i > 0 && i < len(runes)-1
		switch {
		case r == ' ' && fold && e.column > e.width && inner && !blankRune(runes, i-1) && !blankRune(runes, i+1):
			e.writeIndent()
		case r == ' ':
			e.put(" ")
		case isYAMLBreak(r):
			if !breaks && r == '\n' {
				e.lineBreak()
			}
			e.writeBreak(r)
			e.indention, breaks = true, true
			continue
		default:
			if breaks {
				e.writeIndent()
			}
			if r == '\'' {
				e.put("'")
			}
			e.put(string(r))
			e.indention = false
		}
		if r != ' ' {
			breaks = false
		}
	}
	if breaks {
		e.writeIndent()
	}
	e.indicator("'", false, false, false)
	e.whitespace, e.indention = false, false
}

// writeBreak writes one character that ends a line.
func (e *emitter) writeBreak(r rune) {
	e.out.WriteRune(r)
	e.column = 0
}

// doubleQuoted escapes what is not printable and folds at blanks.
func (e *emitter) doubleQuoted(s string, fold bool) {
	e.indicator(`"`, true, false, false)
	runes := []rune(s)
	spaces := false
	for i, r := range runes {
		switch {
		case !isYAMLPrintable(r) || e.ascii && r > unicode.MaxASCII || isYAMLBreak(r) || r == '"' || r == '\\':
			e.put(yamlEscape(r))
			spaces = false
		case r == ' ' && fold && !spaces && e.column > e.width && i > 0 && i < len(runes)-1:
			e.writeIndent()
			if blankRune(runes, i+1) {
				e.put(`\`)
			}
			spaces = true
		default:
			e.put(string(r))
			spaces = r == ' '
		}
	}
	e.indicator(`"`, false, false, false)
	e.whitespace, e.indention = false, false
}

func yamlEscape(r rune) string {
	const names = "\x00" + `0` + "\a" + `a` + "\b" + `b` + "\t" + `t` + "\n" + `n` + "\v" + `v` + "\f" + `f` +
		"\r" + `r` + "\x1b" + `e` + `""` + `\\` + "\u0085" + `N` + "\u00a0" + `_` + "\u2028" + `L` + "\u2029" + `P`
	pairs := []rune(names)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == r {
			return `\` + string(pairs[i+1])
		}
	}
	switch {
	case r <= 0xff:
		return fmt.Sprintf(`\x%02X`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04X`, r)
	}
	return fmt.Sprintf(`\U%08X`, r)
}

// binary writes base64 lines as a literal block, or quoted where a block cannot stand.
func (e *emitter) binary(n *yamlNode, simpleKey bool) {
	if !e.whitespace {
		e.put(" ")
	}
	e.put(binaryTag)
	e.whitespace, e.indention = false, false
	if e.flowLevel > 0 || simpleKey || n.text == "" {
		e.doubleQuoted(n.text, !simpleKey)
		return
	}
	e.indicator("|", true, false, false)
	e.lineBreak()
	e.indention, e.whitespace = true, true
	for line := range strings.Lines(n.text) {
		e.writeIndent()
		e.put(strings.TrimSuffix(line, "\n"))
		e.indention = false
		e.lineBreak()
		e.indention, e.whitespace = true, true
	}
}
