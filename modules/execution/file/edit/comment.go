package edit

import (
	"errors"
	"io/fs"
	"strings"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/python"
)

// Commenting are the arguments of file.comment_line.
type Commenting struct {
	Regex  string
	Char   string
	Remove bool // the character is taken away
	Backup any
}

// Comment puts a character before the lines that a pattern fits, or takes it away. nil is a pattern that fits none.
func Comment(name string, a Commenting) (*Change, error) {
	f, err := open(name)
	if errors.Is(err, fs.ErrNotExist) || isDir(err) {
		return nil, loader.InvocErr("File not found: %s", real(name))
	}
	if err != nil {
		return nil, err
	}
	if !f.isText() {
		return nil, loader.InvocErr("Cannot perform string replacements on a binary file: %s", f.path)
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	m, err := newMatcher(`\A(?:`+a.pattern()+")", "")
	if err != nil {
		return nil, patternError(err)
	}
	var out strings.Builder
	var before, after []string
	for line := range strings.Lines(text) {
		fits, err := m.search(line)
		if err != nil {
			return nil, patternError(err)
		}
		changed := line
		if fits {
			changed = a.changed(line)
			before, after = append(before, line), append(after, changed)
		}
		out.WriteString(changed)
	}
	if before == nil {
		return nil, nil
	}
	c := f.change(out.String(), before, after)
	if python.Truth(a.Backup) {
		c.backup = c.Path + python.Str(a.Backup)
	}
	return c, nil
}

// pattern is what a line is matched with from its beginning.
func (a Commenting) pattern() string {
	begin, end := "", ""
	if strings.HasPrefix(a.Regex, "^") {
		begin = "^"
	}
	if strings.HasSuffix(a.Regex, "$") {
		end = "$"
	}
	inner := "(" + strings.TrimRight(strings.TrimLeft(a.Regex, "^"), "$") + ")" + end
	if a.Remove {
		return "^" + a.Char + `\s*` + inner
	}
	return begin + inner
}

func (a Commenting) changed(line string) string {
	if a.Remove {
		return strings.TrimLeft(line, a.Char)
	}
	return a.Char + line
}

// AppendLines puts lines at the end, behind a line end.
func AppendLines(name string, lines []string) (*Change, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	data := f.data
	if data != "" && !strings.HasSuffix(data, "\n") {
		data += "\n"
	}
	return f.whole(data + Joined(lines)), nil
}

// PrependLines puts lines at the beginning. A file that is not there is made.
func PrependLines(name string, lines []string) (*Change, error) {
	f, err := open(name)
	text := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f = &file{name: name, path: name}
	case err != nil:
		return nil, err
	default:
		if text, err = f.text(); err != nil {
			return nil, err
		}
	}
	return f.whole(Joined(lines) + text), nil
}

// WriteLines puts lines in the place of what is in a file, if there is one.
func WriteLines(name string, lines []string) (*Change, error) {
	f, err := open(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f == nil {
		f = &file{name: name, path: name}
	}
	return f.whole(Joined(lines)), nil
}

// Joined ends each line.
func Joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// whole is a change by lines of texts.
func (f *file) whole(data string) *Change {
	c := f.change(data, shown(python.LinesOfBytes(f.data, true)), shown(python.LinesOfBytes(data, true)))
	c.keepNames = true
	return c
}

// Rewrite changes the whole text of a file.
func Rewrite(name string, with func(text string) (string, error)) (*Change, error) {
	f, err := open(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = &file{name: name, path: name}, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	data, err := with(text)
	if err != nil {
		return nil, err
	}
	return f.whole(data), nil
}

// Create makes an empty file where there is none.
func Create(name string) error { return safefile.Write(name, nil, safefile.Attrs{}, true) }

// Read is a file as text.
func Read(name string) (string, error) {
	f, err := open(name)
	if err != nil {
		return "", err
	}
	return f.text()
}

// Fits tells whether a pattern of lines fits somewhere in a file once it is changed.
func Fits(name string, c *Change, pattern string) (bool, error) {
	if c == nil {
		return Search(name, pattern, int64(multiLine), false, false)
	}
	return (&file{data: c.New}).search(pattern, multiLine)
}

// DiffOfAll compares the whole texts, where Diff shows only what an edit looked at.
func (c *Change) DiffOfAll() string {
	if c == nil || !c.Differ {
		return ""
	}
	whole := *c
	whole.before, whole.after = shown(python.LinesOfBytes(c.Old, true)), shown(python.LinesOfBytes(c.New, true))
	return whole.Diff()
}
