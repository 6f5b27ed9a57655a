package yaml

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	yaml "go.yaml.in/yaml/v3"
)

// Error says what is wrong with a text and where. Line and Column count from 1; 0 is unknown.
type Error struct {
	Line, Column int
	Problem      string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.Problem
	case e.Column == 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// at makes an error about a node.
func at(n *yaml.Node, format string, args ...any) *Error {
	return &Error{Line: n.Line, Column: n.Column, Problem: fmt.Sprintf(format, args...)}
}

// maxLocateLines bounds the search for the line of a syntax error.
const maxLocateLines = 2000

// syntaxError turns an error of the parser into ours. The parser tells where the enclosing block began, not
// where the problem is, so the line is found by parsing ever longer heads of the text: the first head that
// gives the same complaint ends with the culprit.
func syntaxError(b []byte, err error) *Error {
	told, problem := splitMessage(err.Error())
	e := &Error{Line: max(told, 1), Problem: problem}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines) > maxLocateLines {
		return e
	}
	end := 0
	for i, line := range lines {
		end += len(line)
		if i+1 < told || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var doc yaml.Node
		if err := unmarshal(b[:end], &doc); err != nil {
			if _, p := splitMessage(err.Error()); p == problem {
				e.Line = i + 1
				return e
			}
		}
	}
	return e
}

// unmarshal is yaml.Unmarshal with panics as errors.
func unmarshal(b []byte, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return yaml.Unmarshal(b, doc)
}

var messageForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?((?s:.*))$`)
})

// splitMessage takes "yaml: line 3: problem" apart.
func splitMessage(text string) (line int, problem string) {
	m := messageForm().FindStringSubmatch(text)
	line, _ = strconv.Atoi(m[1])
	return line, strings.TrimPrefix(m[2], "yaml: ")
}
