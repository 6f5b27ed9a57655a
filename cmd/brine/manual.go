package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/tool"
)

// manual writes the manual pages of all tools into a directory. They are made from the parsers of the command
// lines, so that no option is missing.
func manual(c *tool.Call) error {
	p := options.NewParser(c, "%prog DIR", "Writes the manual pages of all tools into DIR.")
	p.Usage = "brine manual DIR"
	v, err := p.Parse(c.Args)
	if err != nil {
		return err
	}
	if len(v.Args) != 1 {
		return p.Errorf("one directory is wanted")
	}
	dir := v.Args[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	pages := map[string]string{"brine": overview()}
	for _, t := range shown() {
		own, err := t.commandLine()
		if err != nil {
			return err
		}
		own.Prog = t.fullName()
		pages[strings.ReplaceAll(own.Prog, " ", "-")] = own.Manual(t.what)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the page of %s: %w", name, err)
		}
	}
	return nil
}

// overview is the page of brine itself.
func overview() string {
	var b strings.Builder
	b.WriteString(".TH BRINE 1\n.SH NAME\nbrine \\- fleet master, its minions and their command line\n")
	b.WriteString(".SH SYNOPSIS\nbrine TOOL [options]\n.SH TOOLS\n")
	for _, t := range shown() {
		fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", strings.NewReplacer(" ", `\-`, "-", `\-`).Replace(t.fullName()),
			t.what)
	}
	return b.String()
}

// shown lists the tools that are for operators.
func shown() []program {
	var list []program
	for _, t := range tools() {
		if !t.hidden {
			list = append(list, t)
		}
	}
	return list
}

// fullName is the name under which a user calls the tool: salt-key, brine tree.
func (t program) fullName() string {
	if t.link {
		return t.name
	}
	return "brine " + t.name
}

// commandLine returns the tool's own declaration, which it shows when it is asked for help.
func (t program) commandLine() (*optparse.Parser, error) {
	c := &tool.Call{Prog: t.name, Args: []string{"--help"}, Stdin: strings.NewReader(""), Stdout: io.Discard,
		Stderr: io.Discard}
	defer c.End()
	err := t.run(c)
	var answered *optparse.Answered
	if !errors.As(err, &answered) || answered.Help == nil {
		return nil, fmt.Errorf("%s does not tell its options: %w", t.name, err)
	}
	return answered.Help, nil
}
