package edit

import (
	"errors"
	"os"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/text/codecs"
	"brine/wire/python"
)

// Block are the arguments of file.blockreplace.
type Block struct {
	Start, End              any
	Content                 any
	Append, Prepend         bool
	Backup                  any
	Newline                 any // behind the content; None: where it has none
	InsertBefore, InsertAft any
}

// ReplaceBlock replaces what stands between two markers.
func ReplaceBlock(name string, b Block) (*Change, error) {
	ways := 0
	for _, way := range []bool{b.Append, b.Prepend, python.Truth(b.InsertBefore), python.Truth(b.InsertAft)} {
		if way {
			ways++
		}
	}
	if ways > 1 {
		return nil, loader.InvocErr("Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and " +
			"insert_after_match is permitted")
	}
	f, err := open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, loader.InvocErr("File not found: %s", name)
	}
	if err != nil {
		return nil, err
	}
	text, encoding, err := f.decoded(name)
	if err != nil {
		return nil, err
	}
	w, err := newBlock(b)
	if err != nil {
		return nil, err
	}
	before := python.LinesOfBytes(text, true)
	after, err := w.replace(before)
	if err != nil {
		return nil, err
	}
	data := strings.Join(after, "")
	if data == text {
		return f.change(f.data, before, after), nil
	}
	if encoding != "" {
		if data, err = codecs.Encode(data, encoding, "strict"); err != nil {
			return nil, codecError(err)
		}
	}
	c := f.change(data, before, after)
	if b.Backup != false {
		c.backup = name + python.Str(b.Backup)
	}
	return c, nil
}

// marks are what texts of two and four bytes a character begin with.
var marks = []struct{ mark, encoding string }{{"\x00\x00\xfe\xff", "utf-32-be"}, {"\xff\xfe\x00\x00", "utf-32-le"},
	{"\xfe\xff", "utf-16-be"}, {"\xff\xfe", "utf-16-le"}}

// decoded is the content as text, and its encoding, "" for UTF-8.
func (f *file) decoded(name string) (text, encoding string, err error) {
	const block = 2048
	for _, m := range marks {
		if strings.HasPrefix(f.data, m.mark) {
			if text, err = codecs.Decode(f.data, m.encoding, "strict"); err != nil {
				return "", "", codecError(err)
			}
			return text, m.encoding, nil
		}
	}
	begin := f.data[:min(len(f.data), block)]
	if python.UTF8Error([]byte(begin)) != "" && plainfile.Binary([]byte(begin)) {
		return "", "", loader.InvocErr("Cannot perform string replacements on a binary file: %s", name)
	}
	text, err = f.text()
	return text, "", err
}

// block is an edit of a block at work.
type block struct {
	Block
	start, end string
	lines      []string // of the content
	newline    bool
	sep        string // what ends lines
}

func newBlock(b Block) (*block, error) {
	w := &block{Block: b, newline: python.Truth(b.Newline)}
	for _, match := range []struct {
		v    any
		name string
	}{{b.InsertBefore, "insert_before_match"}, {b.InsertAft, "insert_after_match"}} {
		if _, ok := match.v.(string); !ok && python.Truth(match.v) {
			return nil, loader.ExecErr("RegEx expected in %s parameter.", match.name)
		}
	}
	content, ok := b.Content.(string)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'endswith'", python.Type(b.Content))
	}
	if b.Newline == nil && !strings.HasSuffix(content, "\n") {
		w.newline = true
	}
	w.lines = strings.Split(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
	for _, marker := range []struct {
		to *string
		v  any
	}{{&w.start, b.Start}, {&w.end, b.End}} {
		text, ok := marker.v.(string)
		if !ok {
			return nil, &loader.ArgumentError{Message: "'in <string>' requires string as left operand, not " +
				python.Type(marker.v)}
		}
		*marker.to = text
	}
	return w, nil
}

// replace gives the lines with the new block.
func (w *block) replace(lines []string) ([]string, error) {
	w.sep = "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		w.sep = "\r\n"
	}
	var out []string
	inside, found := false, false
	for _, line := range lines {
		keep := true
		switch end := strings.Index(line, w.end); {
		case strings.Contains(line, w.start):
			inside = true
		case inside:
			keep = false
			if end >= 0 {
				inside, found = false, true
				out = append(out, w.body(line[end:])...)
			}
		}
		if keep {
			out = append(out, line)
		}
	}
	if inside {
		return nil, loader.ExecErr("Unterminated marked block. End of file reached before marker_end.")
	}
	if found {
		return out, nil
	}
	return w.add(out)
}

// body is the content, and the line that ends the block.
func (w *block) body(end string) []string {
	end = strings.TrimRight(end, "\r\n") + w.sep
	var out []string
	for i, line := range w.lines {
		switch {
		case i < len(w.lines)-1:
			out = append(out, line+w.sep)
		case w.newline:
			out = append(out, line+w.sep, end)
		default:
			out = append(out, line+end)
		}
	}
	return out
}

// add puts the block where there is none yet.
func (w *block) add(lines []string) ([]string, error) {
	all := append([]string{w.start + w.sep}, w.body(w.end)...)
	switch {
	case w.Prepend:
		return append(all, lines...), nil
	case w.Append:
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], w.sep) {
			lines[n-1] += w.sep
		}
		return append(lines, all...), nil
	}
	at, err := w.place(lines)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		return nil, loader.ExecErr("Cannot edit marked block. Markers were not found in file.")
	}
	return append(append(append([]string{}, lines[:at]...), all...), lines[at:]...), nil
}

// place is where the block goes by the pattern of a line; -1 for nowhere.
func (w *block) place(lines []string) (int, error) {
	pattern, by := w.InsertBefore, 0
	if !python.Truth(pattern) {
		pattern, by = w.InsertAft, 1
	}
	if !python.Truth(pattern) {
		return -1, nil
	}
	m, err := newMatcher(pattern.(string), "")
	if err != nil {
		return 0, patternError(err)
	}
	for i, line := range lines {
		fits, err := m.search(line)
		if err != nil {
			return 0, patternError(err)
		}
		if fits {
			return i + by, nil
		}
	}
	return -1, nil
}
