package file

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"brine/modules/fileclient"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/difflib"
)

// How a change is shown where it is not.
const (
	Hidden     = "<show_changes=False>"
	Obfuscated = "<Obfuscated Template>"
)

// Leniency says which differences between texts do not count (ignore_ordering and its like).
type Leniency struct {
	Ordering   bool
	Whitespace bool
	Comments   any // a text or a list of texts with which comments begin
}

// Any tells whether some differences do not count.
func (l Leniency) Any() bool { return l.Ordering || l.Whitespace || python.Truth(l.Comments) }

// binaryBegin is how much of a file is looked at to tell text from what is none, in bytes.
const binaryBegin = 512

func binary(data []byte) bool { return plainfile.Binary(data[:min(len(data), binaryBegin)]) }

// Diff is the difference between two contents as Salt shows it; empty where there is none.
func Diff(was, is []byte) string { return diffOf(was, is, "", "") }

func diffOf(was, is []byte, from, to string) string {
	switch old, now := binary(was), binary(is); {
	case string(was) == string(is):
		return ""
	case old && now:
		return "Replace binary file"
	case old:
		return "Replace binary file with text file"
	case now:
		return "Replace text file with binary file"
	}
	return difflib.OfTexts(decoded(was), decoded(is), from, to)
}

// decoded is UTF-8, or each line that is none of it as Latin-1.
func decoded(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for _, line := range difflib.Lines(string(data)) {
		if utf8.ValidString(line) {
			b.WriteString(line)
		} else {
			b.WriteString(latin1([]byte(line)))
		}
	}
	return b.String()
}

// Counts tells whether a diff of Salt's shows a difference that counts.
func (l Leniency) Counts(diff string) bool {
	var adds, subs []string
	for _, line := range difflib.Lines(diff) {
		if strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---") || line[0] != '+' && line[0] != '-' {
			continue
		}
		sign, text := line[0], line[1:]
		for _, mark := range l.marks() {
			text, _, _ = strings.Cut(text, mark)
		}
		if l.Whitespace {
			text = strings.TrimSpace(text)
		}
		switch {
		case text == "":
		case sign == '+':
			adds = append(adds, text)
		default:
			subs = append(subs, text)
		}
	}
	slices.Sort(adds)
	slices.Sort(subs)
	return !slices.Equal(adds, subs)
}

func (l Leniency) marks() []string {
	switch x := l.Comments.(type) {
	case string:
		return []string{x}
	case []any:
		return payload.Texts(x)
	}
	return nil
}

// differs are functions that compare files.
func differs() []loader.Func {
	return []loader.Func{
		loader.Fn("get_diff", getDiff, "Show the unified diff of two files, each of this minion or by a URL.",
			"file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc"),
	}
}

type twoFiles struct {
	File1       any  `arg:"file1"`
	File2       any  `arg:"file2"`
	Saltenv     any  `arg:"saltenv=base"`
	Names       bool `arg:"show_filenames=True"`
	ShowChanges bool `arg:"show_changes=True"`
	Template    bool `arg:"template=False"`
	SourceHash1 any  `arg:"source_hash_file1=None"`
	SourceHash2 any  `arg:"source_hash_file2=None"`
	Ordering    bool `arg:"ignore_ordering=False"`
	Whitespace  bool `arg:"ignore_whitespace=False"`
	Comments    any  `arg:"ignore_comment_characters=None"`
}

func getDiff(c *loader.Call, a twoFiles) (any, error) {
	client, err := fileclient.For(c)
	if err != nil {
		return nil, err
	}
	var names []string
	missing := false
	for _, x := range []struct{ file, hash any }{{a.File1, a.SourceHash1}, {a.File2, a.SourceHash2}} {
		at, err := client.CacheFile(c.Ctx, loader.Text(x.file), loader.Text(a.Saltenv),
			fileclient.Fetch{SourceHash: loader.Text(x.hash)})
		name, ok := at.(string)
		missing = missing || err != nil || !ok
		names = append(names, name)
	}
	if missing {
		return nil, loader.ExecErr("Failed to cache one or more files")
	}
	texts := make([][]byte, 2)
	for i, name := range names {
		if texts[i], err = readWhole(name); err != nil {
			return nil, err
		}
	}
	same := string(texts[0]) == string(texts[1])
	lenient := Leniency{a.Ordering, a.Whitespace, a.Comments}
	switch {
	case same && lenient.Any():
		return []any{false, ""}, nil
	case same:
		return "", nil
	case a.Template && obfuscated(c):
		return Obfuscated, nil
	case !a.ShowChanges:
		return Hidden, nil
	}
	if !a.Names {
		names = []string{"", ""}
	}
	diff := diffOf(texts[0], texts[1], names[0], names[1])
	if lenient.Any() {
		return []any{lenient.Counts(diff), diff}, nil
	}
	return diff, nil
}

// readWhole reads a file to compare it.
func readWhole(name string) ([]byte, error) {
	data, err := plainfile.Read(name, program.MaxOutput())
	var number syscall.Errno
	var system *fs.PathError
	if errors.As(err, &system) && errors.As(err, &number) {
		return nil, loader.ExecErr("Failed to read %s: %s", name, loader.Strerror(number))
	}
	return data, err
}

// obfuscated tells whether the minion shows no templates.
func obfuscated(c *loader.Call) bool { return python.Truth(c.Opts().Value("obfuscate_templates")) }

// exists follows links.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
