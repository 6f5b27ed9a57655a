// Package display shows results: by the outputter that the command line or the result asks for, to stdout or to
// --out-file. The outputters are modules/outputters. It answers to salt/output/__init__.py.
package display

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"brine/cmd/session"
	"brine/cmd/terminal"
	"brine/config/yaml"
	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python"
)

// How is how one result wants to be displayed.
type How struct {
	Out     string // outputter the result asks for
	Fun     string // function it comes from
	Retcode int
	Minions bool // data maps ids of minions to what they said
	indent  int  // nested_indent
}

// Show prints data by --out, or by what the result asks for, to stdout or to --out-file.
func Show(s *session.Session, data any, how How) error {
	name := outputters.Choose(s.Opt.Str("output"), how.Out, s.Opt.Bool("static"), how.Fun)
	o := outputters.FromOpts(s.Common.Raw)
	o.Color = color(s)
	if o.Color {
		o.Theme = colorTheme(s)
	}
	o.Terminal = terminal.IsTerminal(s.Stdout) && s.Opt.Str("output_file") == ""
	o.Retcode, o.Minions = how.Retcode, how.Minions
	if how.indent > 0 {
		o.NestedIndent = how.indent
	}
	text, err := outputters.Format(name, data, o)
	if errors.Is(err, outputters.ErrUnknown) {
		s.Log.Error(fmt.Sprintf("Invalid outputter %s specified, fall back to nested", payload.Show(name)))
	} else if err != nil {
		return fmt.Errorf("show result: %w", err)
	}
	if text == "" {
		return nil
	}
	return Paint(s, text+"\n")
}

// Emit writes a finished text to --out-file or stdout. A reader that went away is no error.
func Emit(s *session.Session, text string) error { return emitTo(s, s.Stdout, text) }

// Paint is emit of a text with control sequences of ours, in which data is printable where it must be.
func Paint(s *session.Session, text string) error { return emitTo(s, terminal.Beneath(s.Stdout), text) }

func emitTo(s *session.Session, stdout io.Writer, text string) error {
	path := s.Opt.Str("output_file")
	if path == "" {
		_, err := fmt.Fprint(stdout, text)
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("open output file: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write output file: %w", err)
	}
	return nil
}

// color says whether output is coloured: --force-color, then --no-color, then the option color, then whether
// stdout is a terminal.
func color(s *session.Session) bool {
	conf, set := s.Common.Raw.Get("color")
	switch {
	case s.Opt.Bool("force_color"):
		return true
	case s.Opt.Bool("no_color"):
		return false
	case set && conf != nil:
		return conf == true
	}
	return terminal.IsTerminal(s.Stdout)
}

// colorTheme reads the file that color_theme names: colour name → code. A file that cannot be used changes nothing.
func colorTheme(s *session.Session) map[string]string {
	path := s.Common.Raw.Str("color_theme")
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	doc, err := yaml.Load(raw)
	if err != nil {
		return nil
	}
	codes, _ := doc.(*payload.Map)
	theme := map[string]string{}
	for name, code := range codes.All() {
		theme[python.Str(name)] = python.Str(code)
	}
	return theme
}
