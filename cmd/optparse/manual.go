package optparse

import (
	"fmt"
	"slices"
	"strings"
)

// Manual returns the program's manual page in the language of man, for section 1. what describes the program in
// one line.
func (p *Parser) Manual(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(strings.ReplaceAll(p.Prog, " ", "\\-")),
		strings.ReplaceAll(p.Prog, " ", "\\-"), roff(what))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(p.usage()))
	if p.Description != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(p.Description))
	}
	b.WriteString(".SH OPTIONS\n")
	for _, o := range p.top {
		o.manual(&b)
	}
	for _, g := range p.groups {
		fmt.Fprintf(&b, ".SS %s\n", roff(g.title))
		if g.description != "" {
			fmt.Fprintf(&b, "%s\n", roff(g.description))
		}
		for _, o := range g.options {
			o.manual(&b)
		}
	}
	if p.Epilog != "" {
		fmt.Fprintf(&b, ".SH NOTES\n%s\n", roff(strings.ReplaceAll(p.Epilog, "%prog", p.Prog)))
	}
	return b.String()
}

// manual writes the entry of one option.
func (o *Option) manual(b *strings.Builder) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(o.strings()), roff(o.help()))
}

// roff writes a text as one paragraph. It escapes commands and hyphens.
func roff(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// Flags lists all flags of the program, in the order of the help.
func (p *Parser) Flags() []string {
	var list []string
	add := func(options []*Option) {
		for _, o := range options {
			list = append(list, o.Flags...)
		}
	}
	add(p.top)
	for _, g := range p.groups {
		add(g.options)
	}
	return slices.Clip(list)
}
