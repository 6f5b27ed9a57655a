package aptsources

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"brine/wire/disk/wholefile"
)

// List are the entries of all files, in their order.
type List struct {
	Entries []*Entry
	Trouble []error           // files that could not be read
	was     map[string]string // what the files had
	less    []string          // files that an entry was taken out of
}

// most is how long a file may be, in bytes.
const most = 16 << 20

// Read reads all lists of apt. Unlike Salt: a line that is no repository is kept, and so is what stands below it.
func Read() *List {
	l := &List{was: map[string]string{}}
	l.load(Main)
	names, err := os.ReadDir(Parts)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.Trouble = append(l.Trouble, err)
	}
	for _, entry := range names {
		if ext := filepath.Ext(entry.Name()); ext == ".list" || ext == ".sources" {
			l.load(Parts + entry.Name())
		}
	}
	return l
}

func (l *List) load(path string) {
	text, err := readFile(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoFile) {
			l.Trouble = append(l.Trouble, err)
		}
		return
	}
	l.was[path] = text
	if filepath.Ext(path) == ".sources" {
		for _, section := range sections(text) {
			l.Entries = append(l.Entries, NewSection(section).entry(path))
		}
		return
	}
	for line := range strings.Lines(text) {
		e, err := Parse(line, path)
		if err != nil {
			e = &Entry{File: path, Line: line, Invalid: true}
		}
		l.Entries = append(l.Entries, e)
	}
}

var errNoFile = errors.New("no regular file")

// readFile reads a regular file; apt reads no other.
func readFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s: longer than %d bytes", path, most)
	}
	return string(text), err
}

// sections cuts a file at lines that are blank.
func sections(text string) (out []string) {
	section := ""
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			section += line
			continue
		}
		if section != "" {
			out = append(out, section)
		}
		section = ""
	}
	if section != "" {
		out = append(out, section)
	}
	return out
}

// Remove takes an entry out.
func (l *List) Remove(e *Entry) {
	if i := slices.Index(l.Entries, e); i >= 0 {
		l.Entries = slices.Delete(l.Entries, i, i+1)
		l.less = append(l.less, e.File)
	}
}

// nothing is written when there is no repository at all.
const nothing = `## See sources.list(5) for more information, especialy
# Remember that you can only use http, ftp or file URIs
# CDROMs are managed through the apt-cdrom tool.
`

// Save writes the files that entries are in, where they are not so already. A file whose entries went to another one
// stays as it is, as in Salt. Unlike Salt: one whose entries were all removed is empty then.
func (l *List) Save() error {
	if len(l.Entries) == 0 {
		if _, err := os.Stat(filepath.Dir(Main)); err != nil {
			return nil
		}
		return l.write(Main, nothing)
	}
	texts, order := map[string]string{}, []string(nil)
	for _, e := range l.Entries {
		text, again := texts[e.File]
		if !again {
			order = append(order, e.File)
		} else if e.Section != nil {
			text += "\n"
		}
		if err := e.sound(); err != nil && !e.Invalid {
			return err
		}
		texts[e.File] = text + e.String() + "\n"
	}
	for _, file := range append(order, l.less...) {
		if err := l.write(file, texts[file]); err != nil {
			return err
		}
	}
	return nil
}

// sound tells whether an entry is one in the file, too: a newline in a part of it would be an entry more.
func (e *Entry) sound() error {
	bad := func(text string) error {
		return fmt.Errorf("%q is no part of a repository: it has control characters", text)
	}
	if e.Section == nil {
		if text := e.String(); strings.ContainsFunc(strings.ReplaceAll(text, "\t", ""), unicode.IsControl) {
			return bad(text)
		}
		return nil
	}
	for _, name := range e.Section.names {
		value, _ := e.Section.Get(name)
		for i, line := range strings.Split(value, "\n") {
			blank := strings.TrimLeft(line, " \t") == ""
			if i > 0 && (blank || line[0] != ' ' && line[0] != '\t') || strings.ContainsAny(name+line, "\r\x00") {
				return bad(value)
			}
		}
	}
	return nil
}

func (l *List) write(file, text string) error {
	if before, known := l.was[file]; known && before == text {
		return nil
	}
	err := wholefile.Write(file, []byte(text), wholefile.Options{Mode: 0o644, KeepMode: true, Follow: true})
	if err == nil {
		l.was[file] = text
	}
	return err
}

// Empty makes a file empty.
func Empty(file string) error {
	return wholefile.Write(file, nil, wholefile.Options{Mode: 0o644, KeepMode: true, Follow: true})
}
