// Package edit changes what is in text files: each function looks at a file and tells what would be in it afterwards (a
// Change), and Apply of that writes the file. So a dry run, test mode of a state and the real run cannot disagree. It
// answers to replace, line, blockreplace, comment_line, append, prepend and their kin of salt/modules/file.py.
//
// A file is read up to Most bytes. It is written whole or not at all (see host/safefile), where no link of another user
// leads away, and keeps owner and mode; a backup is as private as the file. Patterns have a deadline (see python/re).
package edit

import (
	"errors"
	"os"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/python"
	"brine/wire/python/difflib"
	"brine/wire/python/re"
)

// Most is how large a file may be, in bytes: several copies of it are in memory.
const Most = 64 << 20

// maxDiff bounds the lines that are compared with each other, of the old and of the new text together: the time grows
// with their square.
const maxDiff = 20_000

// Change is what an edit would make of a file.
type Change struct {
	Name   string // as it was asked for; a link is followed
	Path   string // without links
	Old    string // the bytes of the file
	New    string
	Differ bool // something changes
	Found  bool // the pattern fits somewhere, where only that is asked for

	before, after []string // lines to compare
	backup        string   // where the old content goes; "" for nowhere
	link          string   // a link beside Name that leads to the backup; "" for none
	linkTo        string
	keepNames     bool // the file keeps its other names
}

// Diff is the unified diff; "" where nothing differs.
func (c *Change) Diff() string {
	if c == nil {
		return ""
	}
	if len(c.before)+len(c.after) <= maxDiff {
		return strings.Join(difflib.Unified(c.before, c.after, "", ""), "")
	}
	return longDiff(c.before, c.after)
}

// longDiff compares what is left without the lines at the begin and at the end that are the same; of a difference that
// is long, too, only its size is told.
func longDiff(a, b []string) string {
	start, end := 0, 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if start == len(a) && start == len(b) {
		return ""
	}
	if len(a)+len(b)-2*(start+end) <= maxDiff {
		from, to := max(start-context, 0), max(end-context, 0)
		return moved(difflib.Unified(a[from:len(a)-to], b[from:len(b)-to], "", ""), from)
	}
	return "--- \n+++ \n" + python.Str(int64(len(a)-start-end)) + " lines are replaced by " +
		python.Str(int64(len(b)-start-end)) + " others: too many to compare\n"
}

// Shown is what functions return of a change: the diff, or whether there is one.
func (c *Change) Shown(diff bool) any {
	if diff {
		return c.Diff()
	}
	return c != nil && c.Differ
}

// Apply writes the file, and its backup before.
func (c *Change) Apply() error {
	if c == nil || !c.Differ {
		return nil
	}
	if c.backup != "" {
		if err := c.back(); err != nil {
			return err
		}
	}
	return safefile.Rewrite(c.Name, []byte(c.New), c.keepNames)
}

// back keeps the old content, with owner and mode of the file.
func (c *Change) back() error {
	attrs, err := safefile.AttrsOf(c.Path)
	if err != nil {
		return err
	}
	if err := safefile.Write(c.backup, []byte(c.Old), attrs, false); err != nil {
		return loader.ExecErr("Unable to move the temp file to the backup file '%s'. Exception: %s", c.backup,
			loader.Message(err))
	}
	if c.link == "" {
		return nil
	}
	return safefile.Symlink(c.linkTo, c.link, safefile.Attrs{}, true, false)
}

// file is a file that was read.
type file struct {
	name, path string
	data       string
}

// open reads a plain file. A link in the way that another user has made leads only to what is that user's.
func open(name string) (*file, error) {
	f := &file{name: name, path: pypath.Real(name)}
	if !strings.HasPrefix(name, "/") {
		f.name = f.path
	}
	p, err := safefile.At(f.name, true)
	if err != nil {
		return nil, err
	}
	p.Close()
	data, err := plainfile.Read(f.path, Most)
	if err != nil {
		var system *os.PathError
		if !errors.As(err, &system) {
			err = loader.ExecErr("Unable to edit the file: %v", err)
		}
		return nil, err
	}
	f.data = string(data)
	return f, nil
}

// change tells what takes the place of the content. before and after are the lines that a diff shows.
func (f *file) change(data string, before, after []string) *Change {
	return &Change{Name: f.name, Path: f.path, Old: f.data, New: data, Differ: data != f.data, before: before,
		after: after}
}

// keep says where the old content goes: Salt's argument backup. A link that was given gets one beside it, too.
func (c *Change) keep(backup any) {
	if !python.Truth(backup) {
		return
	}
	c.backup = c.Path + python.Str(backup)
	if to, err := os.Readlink(c.Name); err == nil {
		c.link, c.linkTo = c.Name+python.Str(backup), to+python.Str(backup)
	}
}

// isText is Salt's guess by the beginning of a file.
func (f *file) isText() bool {
	const block = 512
	return !plainfile.Binary([]byte(f.data[:min(len(f.data), block)]))
}

// text is the content as text in UTF-8.
func (f *file) text() (string, error) {
	if wrong := python.UTF8Error([]byte(f.data)); wrong != "" {
		return "", loader.Raise("UnicodeDecodeError", "%s", wrong)
	}
	return f.data, nil
}

// shown are lines as a diff shows them: what is no UTF-8 is read as Latin-1.
func shown(lines []string) []string {
	for i, line := range lines {
		if python.UTF8Error([]byte(line)) != "" {
			lines[i] = re.Latin1([]byte(line))
		}
	}
	return lines
}

// patternError gives an error of a pattern its class.
func patternError(err error) error {
	var template *re.TemplateError
	if errors.As(err, &template) && strings.HasPrefix(template.Text, "unknown group name") {
		return loader.Raise("IndexError", "%s", template.Text)
	}
	return loader.Raise("re.error", "%s", err)
}

// notText is Python's error of a pattern that is none.
func notText() error {
	return &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
}

func real(name string) string { return pypath.Real(name) }
