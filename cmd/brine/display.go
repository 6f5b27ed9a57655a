package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"brine/config/yaml"
	"brine/modules/outputters"
	"brine/modules/pytext"
	"brine/wire/payload"
)

// show is how one result wants to be displayed.
type show struct {
	out     string // outputter the result asks for
	fun     string // function it comes from
	retcode int
	indent  int // nested_indent
}

// display prints data by --out, or by what the result asks for, to stdout or to --out-file.
func (s *session) display(data any, how show) error {
	name := outputters.Choose(s.opt.Str("output"), how.out, s.opt.Bool("static"), how.fun)
	o := outputters.FromOpts(s.common.Raw)
	o.Color = s.color()
	if o.Color {
		o.Theme = s.colorTheme()
	}
	o.Terminal = isTerminal(s.stdout) && s.opt.Str("output_file") == ""
	o.Retcode = how.retcode
	if how.indent > 0 {
		o.NestedIndent = how.indent
	}
	text, err := outputters.Format(name, data, o)
	if errors.Is(err, outputters.ErrUnknown) {
		s.log.Error(fmt.Sprintf("Invalid outputter %s specified, fall back to nested", name))
	} else if err != nil {
		return fmt.Errorf("show result: %w", err)
	}
	if text == "" {
		return nil
	}
	return s.paint(text + "\n")
}

// emit writes a finished text to --out-file or stdout. A reader that went away is no error.
func (s *session) emit(text string) error { return s.emitTo(s.stdout, text) }

// paint is emit of a text with control sequences of ours, in which data is printable where it must be.
func (s *session) paint(text string) error { return s.emitTo(beneath(s.stdout), text) }

func (s *session) emitTo(stdout io.Writer, text string) error {
	path := s.opt.Str("output_file")
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
func (s *session) color() bool {
	conf, set := s.common.Raw.Get("color")
	switch {
	case s.opt.Bool("force_color"):
		return true
	case s.opt.Bool("no_color"):
		return false
	case set && conf != nil:
		return conf == true
	}
	return isTerminal(s.stdout)
}

// colorTheme reads the file that color_theme names: colour name → code. A file that cannot be used changes nothing.
func (s *session) colorTheme() map[string]string {
	path := s.common.Raw.Str("color_theme")
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
		theme[pytext.Str(name)] = pytext.Str(code)
	}
	return theme
}
