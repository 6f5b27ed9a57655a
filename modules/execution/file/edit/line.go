package edit

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

// Placing are the arguments of file.line.
type Placing struct {
	Content, Match, Mode    any
	Location, Before, After any
	Backup                  bool
	Quiet                   bool // no file is no error
	Indent                  bool
	Create                  bool // no file is one without lines
}

// stampForm is what the name of a backup of file.line ends in.
const stampForm = "2006-01-02-15-04-05"

// Line adds, replaces or deletes one line. nil is no file, where that is no error.
func Line(name string, p Placing, now time.Time) (*Change, error) {
	f, err := open(name)
	if p.Create && errors.Is(err, fs.ErrNotExist) {
		f, err = &file{name: name, path: name}, nil
	}
	if errors.Is(err, fs.ErrNotExist) || isDir(err) {
		if p.Quiet {
			return nil, nil
		}
		return nil, loader.ExecErr(`File "%s" does not exists or is not a file.`, real(name))
	}
	if err != nil {
		return nil, err
	}
	mode, err := p.mode()
	if err != nil {
		return nil, err
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	w := &placing{Placing: p, mode: mode, lines: python.LinesOfBytes(text, true)}
	if err := w.run(); err != nil {
		return nil, err
	}
	after := w.finish()
	c := f.change(strings.Join(after, ""), python.Lines(text, true), after)
	if p.Backup {
		c.backup = c.Path + "." + now.Format(stampForm)
	}
	return c, nil
}

func isDir(err error) bool { return errors.Is(err, syscall.EISDIR) }

// mode is the mode in small letters.
func (p Placing) mode() (string, error) {
	mode := p.Mode
	if text, ok := mode.(string); ok {
		mode = strings.ToLower(text)
	}
	switch {
	case mode == nil:
		return "", loader.ExecErr("Mode was not defined. How to process the file?")
	case mode != "insert" && mode != "ensure" && mode != "delete" && mode != "replace":
		return "", loader.ExecErr(`Unknown mode: "%s"`, python.Str(mode))
	case mode != "delete" && p.Content == nil:
		return "", loader.ExecErr(`Content can only be empty if mode is "delete"`)
	}
	return mode.(string), nil
}

// placing is an edit of one line at work.
type placing struct {
	Placing
	mode    string
	content string
	lines   []string
}

// run does what the mode says.
func (w *placing) run() error {
	empty := len(w.lines) == 0
	if !empty && lineEnd(w.lines[len(w.lines)-1]) != "" {
		w.lines = append(w.lines, "")
	}
	match := w.Match
	if w.Before == nil && w.After == nil && !python.Truth(match) {
		match = w.Content
	}
	after, err := w.matching(w.After)
	if err != nil {
		return err
	}
	before, err := w.matching(w.Before)
	if err != nil {
		return err
	}
	found, err := w.matching(match)
	if err != nil {
		return err
	}
	if w.content, err = w.text(empty); err != nil {
		return err
	}
	switch w.mode {
	case "delete":
		if len(found) > 0 {
			w.lines = slices.DeleteFunc(w.lines, func(line string) bool { return line == found[0] })
		}
	case "replace":
		if len(found) > 0 {
			at := slices.Index(w.lines, found[0])
			w.lines[at] = w.indented(found[0])
		}
	case "insert":
		return w.insert(before, after)
	case "ensure":
		return w.ensure(before, after)
	}
	return nil
}

// text is the content, which must be text wherever it is used.
func (w *placing) text(empty bool) (string, error) {
	text, ok := w.Content.(string)
	if !ok && w.mode != "delete" && !(empty && w.mode == "replace") {
		return "", loader.Raise("AttributeError", "'%s' object has no attribute 'rstrip'", python.Type(w.Content))
	}
	return text, nil
}

// matching are the lines that a pattern fits, or that it is a part of.
func (w *placing) matching(pattern any) ([]string, error) {
	if len(w.lines) == 0 || !python.Truth(pattern) {
		return nil, nil
	}
	text, ok := pattern.(string)
	if !ok {
		what := "first argument must be string or compiled pattern"
		if _, isList := pattern.([]any); isList {
			what = "unhashable type: 'list'"
		} else if _, isMap := pattern.(*payload.Map); isMap {
			what = "unhashable type: 'dict'"
		}
		return nil, loader.ExecErr("%s: '%s'", what, python.Str(pattern))
	}
	p, err := newMatcher(text, "s")
	if err != nil {
		return nil, loader.ExecErr("%s: '%s'", err, text)
	}
	var out []string
	for _, line := range w.lines {
		fits, err := p.search(line)
		if err != nil {
			return nil, loader.ExecErr("%s: '%s'", err, text)
		}
		if fits || strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out, nil
}

// indented is the content behind the white space that a line begins with.
func (w *placing) indented(like string) string {
	if !w.Indent {
		return w.content
	}
	n := len(like) - len(strings.TrimLeft(like, "\t "))
	return like[:n] + strings.TrimLeftFunc(w.content, python.IsSpace)
}

// at is the line of an index as Python has it: -1 is the last.
func (w *placing) at(i int) string {
	if i < 0 {
		i += len(w.lines)
	}
	return w.lines[i]
}

func (w *placing) put(i int, line string) { w.lines = slices.Insert(w.lines, i, line) }

// same tells whether a line is the content, whatever they end in.
func (w *placing) same(line string) bool {
	return strings.TrimRight(line, "\r\n") == strings.TrimRight(w.content, "\r\n")
}

func (w *placing) insert(before, after []string) error {
	if w.Before == nil && w.After == nil && w.Location == nil {
		return loader.ExecErr(`On insert either "location" or "before/after" conditions are required.`)
	}
	if python.Truth(w.Location) {
		w.insertAt(w.Location)
		return nil
	}
	switch {
	case len(before) > 0 && len(after) > 0:
		if err := once(before, "before"); err != nil {
			return err
		}
		if err := once(after, "after"); err != nil {
			return err
		}
		at := slices.Index(w.lines, before[0])
		w.put(at, w.indented(before[0]))
	case len(after) > 0:
		return w.behind(after)
	case len(before) > 0:
		if err := once(before, "before"); err != nil {
			return err
		}
		if at := slices.Index(w.lines, before[0]); !w.same(w.at(at - 1)) {
			w.put(at, w.indented(before[0]))
		}
	default:
		return loader.ExecErr("Neither before or after was found in file")
	}
	return nil
}

func (w *placing) insertAt(location any) {
	switch n := len(w.lines); {
	case location == "end" && n > 0:
		w.put(n, w.indented(w.lines[n-1]))
	case location == "end":
		w.lines = []string{w.content}
	case location == "start" && n > 0:
		w.put(0, ended(w.lines[0], w.content))
	case location == "start":
		w.lines = []string{w.content + "\n"}
	}
}

// behind puts the content behind the line of after, unless it stands there.
func (w *placing) behind(after []string) error {
	if err := once(after, "after"); err != nil {
		return err
	}
	at := slices.Index(w.lines, after[0])
	if at+1 >= len(w.lines) || !w.same(w.lines[at+1]) {
		w.put(at+1, w.indented(after[0]))
	}
	return nil
}

func (w *placing) ensure(before, after []string) error {
	switch {
	case len(before) > 0 && len(after) > 0:
		return w.between(before, after)
	case len(before) > 0:
		if err := once(before, "before"); err != nil {
			return err
		}
		if at := slices.Index(w.lines, before[0]); at == 0 || !w.same(w.lines[at-1]) {
			w.put(at, w.indented(w.at(at-1)))
		}
		return nil
	case len(after) > 0:
		return w.behind(after)
	}
	return loader.ExecErr("Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.")
}

// between puts the content between two lines, in the place of the only one that is there.
func (w *placing) between(before, after []string) error {
	if err := once(after, "after"); err != nil {
		return err
	}
	if err := once(before, "before"); err != nil {
		return err
	}
	from, to := slices.Index(w.lines, after[0]), slices.Index(w.lines, before[0])
	if slices.ContainsFunc(w.lines, func(line string) bool {
		return strings.TrimLeftFunc(line, python.IsSpace) == w.content
	}) {
		return nil
	}
	switch to - from {
	case 1:
		w.put(to, w.indented(after[0]))
	case 2:
		w.lines[from+1] = w.indented(after[0])
	default:
		return loader.ExecErr(`Found more than one line between boundaries "before" and "after".`)
	}
	return nil
}

// once is an error unless one line was found.
func once(lines []string, name string) error {
	if len(lines) > 1 {
		return loader.ExecErr(`Found more than expected occurrences in "%s" expression`, name)
	}
	return nil
}

// finish ends each line but the last as those around it, and takes the empty one at the end away.
func (w *placing) finish() []string {
	last := len(w.lines) - 1
	for i, line := range w.lines {
		if lineEnd(line) == "" && i < last {
			w.lines[i] = ended(w.lines[max(i-1, 1)], line)
		}
	}
	if last >= 0 && w.lines[last] == "" {
		return w.lines[:last]
	}
	return w.lines
}

// ended is a line without white space at its end, and with the line end of another.
func ended(like, line string) string {
	end := lineEnd(like)
	if end == "" {
		end = "\n"
	}
	return strings.TrimRightFunc(line, python.IsSpace) + end
}

// lineEnd is what ends a line: \n, \r, both or nothing. Before a last \n another may stand.
func lineEnd(line string) string {
	for i := range len(line) {
		end := ""
		switch {
		case line[i] == '\n' && (i == 0 || line[i-1] != '\r'):
			end = "\n"
		case strings.HasPrefix(line[i:], "\r\n"):
			end = "\r\n"
		case line[i] == '\r':
			end = "\r"
		}
		if rest := line[i+len(end):]; end != "" && (rest == "" || rest == "\n") {
			return end
		}
	}
	return ""
}

// matcher matches many lines in the time that one text has.
type matcher struct {
	edit *re.Edit
	end  time.Time
}

// maxLines is how long all lines of a file may take.
const maxLines = 10 * time.Second

func newMatcher(pattern, letters string) (*matcher, error) {
	e, err := re.CompileEdit(pattern, letters)
	if err != nil {
		return nil, err
	}
	return &matcher{e, time.Now().Add(maxLines)}, nil
}

func (m *matcher) search(line string) (bool, error) {
	if time.Now().After(m.end) {
		return false, errors.New("re: the lines of the file took more than " + maxLines.String())
	}
	return m.edit.Search(line)
}
