package yaml

import (
	"fmt"
	"strings"
)

// Kind is the PyYAML exception that corresponds to an error.
type Kind uint8

// ValueError is Python's own error about a scalar that does not fit its tag; it has no position.
const (
	ReaderError Kind = iota
	ScannerError
	ParserError
	ComposerError
	ConstructorError
	ValueError
)

// Error says what is wrong with a text, and where. Lines and columns count from 1; 0 is unknown. Context and Problem
// have PyYAML's words.
type Error struct {
	Kind                       Kind
	Context                    string // the current activity, and the position where it began
	ContextLine, ContextColumn int
	Problem                    string
	Line, Column               int
	Offset                     int // for a ReaderError, in bytes
}

// Error is one line for people.
func (e *Error) Error() string {
	problem := e.Problem
	if e.Kind == ComposerError && e.Context != "" {
		problem = e.Context + ", " + problem // the two form one sentence
	}
	switch {
	case e.Line == 0:
		return problem
	case e.Column == 0:
		return fmt.Sprintf("line %d: %s", e.Line, problem)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, problem)
}

// Python is str() of Python's exception, for a text without a file name.
func (e *Error) Python() string {
	const name = `  in "<unicode string>", `
	var lines []string
	if e.Context != "" {
		lines = append(lines, e.Context)
		if e.ContextLine > 0 && (e.ContextLine != e.Line || e.ContextColumn != e.Column) {
			lines = append(lines, fmt.Sprintf("%sline %d, column %d", name, e.ContextLine, e.ContextColumn))
		}
	}
	lines = append(lines, e.Problem)
	switch {
	case e.Kind == ReaderError:
		lines = append(lines, fmt.Sprintf("%sposition %d", name, e.Offset))
	case e.Line > 0 && e.Kind != ValueError:
		lines = append(lines, fmt.Sprintf("%sline %d, column %d", name, e.Line, e.Column))
	}
	return strings.Join(lines, "\n")
}

// newError makes an error about a position.
func newError(kind Kind, context string, start mark, problem string, at mark) *Error {
	e := &Error{Kind: kind, Context: context, Problem: problem, Line: at.line + 1, Column: at.column + 1}
	if context != "" {
		e.ContextLine, e.ContextColumn = start.line+1, start.column+1
	}
	return e
}

// at makes an error of the constructor about a node.
func at(n *node, format string, args ...any) *Error {
	return newError(ConstructorError, "", mark{}, fmt.Sprintf(format, args...), n.start)
}

// within is at, with the activity that began at owner.
func within(context string, owner, n *node, format string, args ...any) *Error {
	return newError(ConstructorError, context, owner.start, fmt.Sprintf(format, args...), n.start)
}

// errDeep is Python's error about nodes that are nested without end.
func errDeep(n *node) *Error {
	return &Error{Kind: ValueError, Problem: "maximum recursion depth exceeded", Line: n.start.line + 1,
		Column: n.start.column + 1}
}
