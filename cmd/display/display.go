// Package display shows results with the outputter that the command line or the result names, on stdout or in
// --out-file. The outputters are in modules/outputters. It answers to salt/output/__init__.py.
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

// How tells how to display one result.
type How struct {
	Out     string // outputter that the result names
	Fun     string // function that made the result
	Retcode int
	Minions bool // data maps ids of minions to their results
	indent  int  // nested_indent
}

// Show prints data with the outputter of --out, or of the result, to stdout or to --out-file.
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

// Emit writes a finished text to --out-file or stdout. A closed pipe is no error.
func Emit(s *session.Session, text string) error { return emitTo(s, s.Stdout, text) }

// Paint is Emit for a text with brine's own control sequences. The caller makes the data in it printable.
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

// color tells whether the output is coloured. --force-color decides first, then --no-color, then the option
// color, then whether stdout is a terminal.
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

// colorTheme reads the file that color_theme names: colour name → code. An unusable file changes nothing.
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
