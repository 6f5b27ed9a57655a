package jinja

import (
	"errors"
	"fmt"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// Error is a template that could not be rendered. Its text is that of Salt's SaltRenderError, without the traceback of
// Python that Salt puts into some.
type Error struct {
	Message string // "Jinja variable 'x' is undefined"
	Line    int    // in the template, 0 where it lies in another that is named in the message
	Context string // the lines around it
	cause   error
}

func (e *Error) Error() string {
	if e.Context == "" {
		return e.Message
	}
	return fmt.Sprintf("%s; line %d\n\n%s", e.Message, e.Line, e.Context)
}

// Unwrap is the error of the function that failed, where one did.
func (e *Error) Unwrap() error { return e.cause }

// marker points at the line of an error.
const marker = "    <======================"

// around is how many lines are shown before and after an error.
const around = 5

// excerpt shows the lines around one, as salt.utils.stringutils.get_context does.
func excerpt(text string, line int) string {
	lines := py.Lines(text, false)
	if line > len(lines) {
		return text
	}
	from, to := max(0, line-around-1), min(len(lines), line+around)
	at := line - from - 1
	var out []string
	if from > 0 {
		out = append(out, "[...]")
		at++
	}
	out = append(out, lines[from:to]...)
	if to < len(lines) {
		out = append(out, "[...]")
	}
	if at < 0 { // line 0: Python counts from the end
		at = len(out) - 1
	}
	out[at] += marker
	return "---\n" + strings.Join(out, "\n") + "\n---"
}

// traced is an error with the place of the template it comes from.
type traced struct {
	err  error
	tmpl *Template
	line int
}

func (t *traced) Error() string { return t.err.Error() }

func (t *traced) Unwrap() error { return t.err }

// SaltError is an error that a Func returns for Salt's CommandExecutionError and SaltInvocationError.
type SaltError struct{ Text string }

func (e *SaltError) Error() string { return e.Text }

// prefix is how Salt's text begins for an error.
func prefix(err error) string {
	var pe *py.Error
	var se *SaltError
	var le *py.LimitError
	var xe *syntax.Error
	switch {
	case errors.As(err, &xe):
		return "Jinja syntax error: "
	case errors.As(err, &se):
		return "Problem running salt function in Jinja template: "
	case errors.As(err, &le):
		return "Jinja error: "
	case errors.As(err, &pe):
		switch pe.Kind {
		case "UndefinedError":
			return "Jinja variable "
		case "TemplateRuntimeError", "SecurityError", "FilterArgumentError":
			return "Jinja syntax error: "
		}
	}
	return "Jinja error: "
}

// saltError gives an error of a rendering Salt's form.
func (v *vm) saltError(main *Template, err error) error {
	place := &traced{tmpl: main, line: 1, err: err}
	errors.As(err, &place)
	out := &Error{Message: prefix(place.err) + place.err.Error(), cause: place.err}
	var se *syntax.Error
	if errors.As(place.err, &se) {
		place.line = se.Line
	}
	if place.tmpl != main && place.tmpl.path != "" {
		out.Message += fmt.Sprintf("\n%s(%d):\n%s", place.tmpl.path, place.line, excerpt(place.tmpl.text, place.line))
		return out
	}
	out.Line, out.Context = place.line, excerpt(main.text, place.line)
	return out
}

func (e *Engine) syntaxError(t *Template, err error) error {
	return (&vm{engine: e}).saltError(t, &traced{err: err, tmpl: t})
}
