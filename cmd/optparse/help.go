package optparse

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// The layout of help texts, in columns: optparse's IndentedHelpFormatter.
const (
	indentStep      = 2
	maxHelpPosition = 24
	minTextWidth    = 11
)

// formatter lays out one help text.
type formatter struct {
	b        strings.Builder
	width    int // of the whole text
	position int // where the explanations begin
}

// HelpText is the text of --help, as wide as the environment's COLUMNS, or 80.
func (p *Parser) HelpText() string {
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || columns <= 0 {
		columns = 80
	}
	f := &formatter{width: columns - 2}
	f.measure(p)
	fmt.Fprintf(&f.b, "Usage: %s\n\n", p.usage())
	if p.Description != "" {
		f.text(p.Description, 0)
		f.b.WriteByte('\n')
	}
	f.b.WriteString("Options:\n")
	for _, o := range p.top {
		f.option(o, indentStep)
	}
	for _, g := range p.groups {
		fmt.Fprintf(&f.b, "\n%*s%s:\n", indentStep, "", g.title)
		if g.description != "" {
			f.text(g.description, 2*indentStep)
			f.b.WriteByte('\n')
		}
		for _, o := range g.options {
			f.option(o, 2*indentStep)
		}
	}
	if p.Epilog != "" {
		f.b.WriteByte('\n')
		f.text(strings.ReplaceAll(p.Epilog, "%prog", p.Prog), 0)
	}
	return f.b.String()
}

// measure finds the column of the explanations: two blanks after the longest option, at most maxHelpPosition.
func (f *formatter) measure(p *Parser) {
	longest := 0
	for _, o := range p.top {
		longest = max(longest, utf8.RuneCountInString(o.strings())+indentStep)
	}
	for _, g := range p.groups {
		for _, o := range g.options {
			longest = max(longest, utf8.RuneCountInString(o.strings())+2*indentStep)
		}
	}
	f.position = min(longest+2, maxHelpPosition)
}

// strings is the option as help shows it: "-t TIMEOUT, --timeout=TIMEOUT".
func (o *Option) strings() string {
	var short, long []string
	metavar := o.Metavar
	if metavar == "" {
		metavar = strings.ToUpper(o.dest())
	}
	for _, f := range o.Flags {
		switch isLong := strings.HasPrefix(f, "--"); {
		case isLong && o.Kind.takesValue():
			long = append(long, f+"="+metavar)
		case isLong:
			long = append(long, f)
		case o.Kind.takesValue():
			short = append(short, f+" "+metavar)
		default:
			short = append(short, f)
		}
	}
	return strings.Join(append(short, long...), ", ")
}

// option writes one option and its explanation.
func (f *formatter) option(o *Option, indent int) {
	head := o.strings()
	room := f.position - indent - 2
	lines := wrap(o.help(), max(f.width-f.position, minTextWidth))
	fits := utf8.RuneCountInString(head) <= room
	if !fits || len(lines) == 0 {
		fmt.Fprintf(&f.b, "%*s%s\n", indent, "", head)
	} else {
		fmt.Fprintf(&f.b, "%*s%-*s  %s\n", indent, "", room, head, lines[0])
		lines = lines[1:]
	}
	for _, line := range lines {
		fmt.Fprintf(&f.b, "%*s%s\n", f.position, "", line)
	}
}

// help is the explanation with its default filled in.
func (o *Option) help() string {
	def := "none"
	if o.Default != nil {
		def = python.Str(o.Default)
	} else if o.Kind == Flag {
		def = "False"
	}
	return strings.ReplaceAll(o.Help, "%default", def)
}

// text writes a filled paragraph.
func (f *formatter) text(s string, indent int) {
	for _, line := range wrap(s, max(f.width-indent, minTextWidth)) {
		fmt.Fprintf(&f.b, "%*s%s\n", indent, "", line)
	}
}

// wrap breaks a text at blanks into lines of at most width columns; a longer word stands alone.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(s) {
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= width:
			line += " " + w
		default:
			lines = append(lines, line)
			line = w
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
