package edit

import (
	"errors"
	"os"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/codecs"
	"brine/wire/python"
	"brine/wire/python/re"
)

// Replacement are the arguments of file.replace.
type Replacement struct {
	Pattern, Repl   any
	Count           any
	Flags           any
	Append, Prepend bool // the text, if neither pattern nor text are there
	NotFound        any  // another text for that
	Backup          any
	Literal         bool // backslashes in the text mean nothing
	Encoding        any
	IgnoreMissing   bool
	NewFile         bool // other names of the file keep the old content
	SearchOnly      bool // nothing changes
}

// Replace replaces what a pattern fits. nil is no file, where that is no error.
func Replace(name string, r Replacement) (*Change, error) {
	f, err := openToSearch(name, r.IgnoreMissing, r.Encoding)
	if f == nil || err != nil {
		return nil, err
	}
	if r.Append && r.Prepend {
		return nil, loader.InvocErr("Only one of append and prepend_if_not_found is permitted")
	}
	w := &replacing{Replacement: r, file: f}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	if r.SearchOnly {
		found, err := w.edit.Search(w.text)
		if err != nil {
			return nil, patternError(err)
		}
		return &Change{Found: found}, nil
	}
	lines, err := w.run()
	if err != nil {
		return nil, err
	}
	data, err := w.encode(strings.Join(lines, ""))
	if err != nil {
		return nil, err
	}
	c := f.change(data, w.diffLines(w.text), shownLines(lines, w))
	c.keepNames = !r.NewFile
	c.keep(r.Backup)
	return c, nil
}

// Search tells whether a pattern fits anywhere in a file.
func Search(name string, pattern, flags any, multi, ignoreMissing bool) (bool, error) {
	bits, err := flagBits(flags)
	if err != nil {
		return false, err
	}
	if multi {
		bits |= multiLine
	}
	f, err := openToSearch(name, ignoreMissing, nil)
	if f == nil || err != nil {
		return false, err
	}
	return f.search(pattern, bits)
}

func (f *file) search(pattern any, bits int64) (bool, error) {
	e, err := compileBytes(pattern, bits)
	if err != nil {
		return false, err
	}
	found, err := e.Search(re.Latin1([]byte(f.data)))
	if err != nil {
		return false, patternError(err)
	}
	return found, nil
}

// openToSearch opens a file as file.replace does; nil for none that may be missing.
func openToSearch(name string, ignoreMissing bool, encoding any) (*file, error) {
	f, err := open(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if ignoreMissing {
			return nil, nil
		}
		return nil, loader.InvocErr("File not found: %s", real(name))
	case isDir(err) && encoding == nil:
		return nil, loader.InvocErr("Cannot perform string replacements on a binary file: %s", real(name))
	case err != nil:
		return nil, err
	case encoding == nil && !f.isText():
		return nil, loader.InvocErr("Cannot perform string replacements on a binary file: %s", f.path)
	}
	return f, nil
}

// replacing is a replacement at work. Its texts are characters, or bytes with a character for each.
type replacing struct {
	Replacement
	file     *file
	text     string // of the file
	edit     *re.Edit
	repl     string
	absent   string // what is added where nothing is found
	content  string // that is looked for then
	flagBits int64
}

func (w *replacing) bytes() bool { return w.Encoding == nil }

// prepare reads the arguments, in the order of Salt.
func (w *replacing) prepare() (err error) {
	if w.flagBits, err = flagBits(w.Flags); err != nil {
		return err
	}
	if !w.bytes() {
		return w.prepareText()
	}
	if w.edit, err = compileBytes(w.Pattern, w.flagBits); err != nil {
		return err
	}
	w.repl = latin1(python.Str(w.Repl))
	w.absent, w.content = w.repl, w.repl
	if python.Truth(w.NotFound) {
		text, ok := w.NotFound.(string)
		if !ok {
			return notBytes(w.NotFound)
		}
		w.absent = latin1(text)
		if w.Append || w.Prepend {
			w.content = w.absent
		}
	} else if w.NotFound != nil {
		w.absent = latin1(python.Str(w.NotFound))
	}
	w.text = re.Latin1([]byte(w.file.data))
	return nil
}

func (w *replacing) prepareText() error {
	pattern, ok := w.Pattern.(string)
	if !ok {
		return notText()
	}
	var err error
	if w.edit, err = re.CompileEdit(pattern, letters(w.flagBits)); err != nil {
		return patternError(err)
	}
	w.repl = python.Str(w.Repl)
	w.absent, w.content = w.repl, w.repl
	if w.NotFound != nil {
		w.absent = python.Str(w.NotFound)
	}
	if python.Truth(w.NotFound) && (w.Append || w.Prepend) {
		w.content = w.absent
	}
	text, err := codecs.Decode(w.file.data, python.Str(w.Encoding), "strict")
	if err != nil {
		return codecError(err)
	}
	w.text = text
	return nil
}

func codecError(err error) error {
	var e *codecs.Error
	if errors.As(err, &e) {
		return loader.Raise(e.Class, "%s", e.Text)
	}
	return err
}

// run gives the new lines.
func (w *replacing) run() ([]string, error) {
	template := re.Literal(w.repl)
	if !w.Literal {
		var err error
		if template, err = w.edit.Template(w.repl); err != nil {
			return nil, patternError(err)
		}
	}
	count, err := loader.ToInt(w.Count)
	if err != nil {
		return nil, err
	}
	text, n, err := w.edit.Sub(w.text, template, count)
	if err != nil {
		return nil, patternError(err)
	}
	found := n > 0
	if !found && (w.Append || w.Prepend) {
		if found, err = w.there(); err != nil {
			return nil, err
		}
	}
	lines := w.lines(text)
	if !found && (w.Append || w.Prepend) {
		lines = w.add(lines)
	}
	return lines, nil
}

// there tells whether the text was added before.
func (w *replacing) there() (bool, error) {
	compile := re.CompileEdit
	if w.bytes() {
		compile = re.CompileBytes
	}
	e, err := compile("^"+re.Escape(w.content)+"($|(?=\r\n))", letters(w.flagBits))
	if err != nil {
		return false, patternError(err)
	}
	found, err := e.Search(w.text)
	if err != nil {
		return false, patternError(err)
	}
	return found, nil
}

// add puts the text before or behind the lines.
func (w *replacing) add(lines []string) []string {
	if w.Prepend {
		return append([]string{w.absent + "\n"}, lines...)
	}
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	return append(lines, w.absent+"\n")
}

func (w *replacing) lines(text string) []string {
	if w.bytes() {
		return python.LinesOfBytes(text, true)
	}
	return python.Lines(text, true)
}

// diffLines are the lines of a text as a diff shows them.
func (w *replacing) diffLines(text string) []string { return shownLines(w.lines(text), w) }

func shownLines(lines []string, w *replacing) []string {
	if !w.bytes() {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = string(re.Bytes(line))
	}
	return shown(out)
}

// encode gives the bytes of the new text; those of a text that did not change are as they were.
func (w *replacing) encode(text string) (string, error) {
	if text == w.text {
		return w.file.data, nil
	}
	if w.bytes() {
		return string(re.Bytes(text)), nil
	}
	data, err := codecs.Encode(text, python.Str(w.Encoding), "strict")
	if err != nil {
		return "", codecError(err)
	}
	return data, nil
}

func compileBytes(pattern any, bits int64) (*re.Edit, error) {
	text, ok := pattern.(string)
	if !ok {
		return nil, notBytes(pattern)
	}
	if bits&unicode != 0 {
		return nil, loader.Raise("ValueError", "cannot use UNICODE flag with a bytes pattern")
	}
	e, err := re.CompileBytes(latin1(text), letters(bits))
	if err != nil {
		return nil, patternError(err)
	}
	return e, nil
}

func notBytes(v any) error {
	return &loader.ArgumentError{Message: "expected str, bytes, or bytearray not <class '" + python.Type(v) + "'>"}
}

func latin1(s string) string { return re.Latin1([]byte(s)) }
