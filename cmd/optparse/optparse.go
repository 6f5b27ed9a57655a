// Package optparse reads command lines by the rules of Python's optparse, which Salt's tools follow and scripts
// rely on: options and arguments in any order, unambiguous prefixes of long options, bundled short options, and
// its error texts. It prints nothing and does not end the process: the errors carry the text to print and the
// exit code. It knows no Salt option.
package optparse

import (
	"errors"
	"fmt"
	"strings"
)

// ExitUsage is the exit code of a usage error (salt/defaults/exitcodes.py, EX_USAGE).
const ExitUsage = 64

// Kind tells what an option does with its value.
type Kind int

// All kinds but Flag, Const, Help and Version take a value.
const (
	String  Kind = iota // any text
	Int                 // a whole number as Python's optparse reads it: 0x and 0b prefixes, a leading 0 is octal
	Choice              // one of Choices
	Append              // texts; each occurrence adds one
	Flag                // true
	Const               // Option.Const
	Help                // ends parsing with the help text
	Version             // ends parsing with the version line
)

func (k Kind) takesValue() bool { return k <= Append }

// Option declares one option.
type Option struct {
	Flags   []string // "-t", "--timeout", ...; the first long flag names the destination unless Dest does
	Dest    string
	Kind    Kind
	Default any
	Const   any
	Choices []string
	Metavar string // name of the value in help; "" is the destination in capitals
	Help    string // %default stands for the default
	// Convert, if set, converts the text. Its error becomes the usage error "option -x: ERROR".
	Convert func(text string) (any, error)
}

// dest is the name under which the option's value is stored.
func (o *Option) dest() string {
	if o.Dest != "" {
		return o.Dest
	}
	for _, f := range o.Flags {
		if name, long := strings.CutPrefix(f, "--"); long {
			return strings.ReplaceAll(name, "-", "_")
		}
	}
	if len(o.Flags) > 0 {
		return strings.TrimPrefix(o.Flags[0], "-")
	}
	return ""
}

// group is a titled part of the help text.
type group struct {
	title, description string
	options            []*Option
}

// Parser declares the command line of one program. Declare everything before the first Parse.
type Parser struct {
	Prog        string // the program's name in errors and help
	Usage       string // the usage line, where %prog is the program; "" is "%prog [options]"
	Version     string // output of --version, with %prog
	Description string
	Epilog      string // with %prog

	top    []*Option
	groups []*group
	long   map[string]*Option
	short  map[string]*Option
	twice  error // error about a flag that was declared twice
}

// Add declares options that help lists first.
func (p *Parser) Add(opts ...Option) { p.top = p.declare(p.top, opts) }

// Group declares options under a title. If the title exists already, they are added there.
func (p *Parser) Group(title, description string, opts ...Option) {
	for _, g := range p.groups {
		if g.title == title {
			g.options = p.declare(g.options, opts)
			return
		}
	}
	p.groups = append(p.groups, &group{title, description, p.declare(nil, opts)})
}

func (p *Parser) declare(list []*Option, opts []Option) []*Option {
	if p.long == nil {
		p.long, p.short = map[string]*Option{}, map[string]*Option{}
	}
	for _, o := range opts {
		for _, f := range o.Flags {
			table := p.short
			if strings.HasPrefix(f, "--") {
				table = p.long
			}
			if table[f] != nil {
				p.twice = errors.Join(p.twice, fmt.Errorf("optparse: option %s is declared twice", f))
			}
			table[f] = &o
		}
		list = append(list, &o)
	}
	return list
}

// all lists the options in the order of the help text.
func (p *Parser) all() []*Option {
	list := p.top
	for _, g := range p.groups {
		list = append(list[:len(list):len(list)], g.options...)
	}
	return list
}

// UsageError means that a command line cannot be understood.
type UsageError struct {
	Prog, Usage, Text string
}

func (e *UsageError) Error() string { return e.Text }

// Report returns the text for stderr.
func (e *UsageError) Report() string {
	return "Usage: " + e.Usage + "\n\n" + e.Prog + ": error: " + strings.TrimSuffix(e.Text, "\n") + "\n"
}

// Errorf makes a usage error of this program, for checks made after Parse.
func (p *Parser) Errorf(format string, a ...any) error {
	return &UsageError{Prog: p.Prog, Usage: p.usage(), Text: fmt.Sprintf(format, a...)}
}

func (p *Parser) usage() string {
	if p.Usage == "" {
		return p.Prog + " [options]"
	}
	return strings.ReplaceAll(p.Usage, "%prog", p.Prog)
}

// Answered is the error for a command line that asks for a text (help, version) and nothing else.
type Answered struct {
	Help *Parser // parser of the help; nil for other texts
	Text string  // for stdout, with its line end
}

func (a *Answered) Error() string { return "answered: " + a.Text }
