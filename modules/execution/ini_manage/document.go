package ini_manage

import (
	"errors"
	"io/fs"

	"brine/modules/host/conffile"
	"brine/modules/loader"
	"brine/modules/text/codecs"
	"brine/wire/payload"
	"brine/wire/python"
)

// Form says which file is read, and in which way.
type Form struct {
	Path, Separator string
	Encoding        string // a codec of Python; "" is UTF-8
	NoSpaces        bool   // no spaces are written around separators
}

// Document is an ini file that was read. What is changed in it is in the file after Flush.
type Document struct {
	form Form
	was  string // what stands in the file
	root *block
}

// Open reads a file. One that is not there is empty.
func Open(form Form) (*Document, error) {
	text, err := form.load()
	var coding *codecs.Error
	if errors.As(err, &coding) {
		return nil, loader.Raise(coding.Class, "%s", coding.Text)
	}
	if err != nil {
		return nil, loader.ExecErr("Unable to open file '%s'. Exception: %s", form.Path, loader.Message(err))
	}
	d := &Document{form: form, was: text}
	return d, d.parse(text)
}

func (f Form) codec() string {
	if f.Encoding == "" {
		return "utf-8"
	}
	return f.Encoding
}

func (f Form) load() (string, error) {
	data, err := conffile.Read(f.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	return codecs.Decode(string(data), f.codec(), "strict")
}

// Text is what the file is to be.
func (d *Document) Text() string { return d.root.file() }

// Flush writes the file if it is not so already. Unlike Salt: a file that stays as it is is not written again, and an
// empty one is not made.
func (d *Document) Flush() error {
	text := d.Text()
	if text == d.was {
		return nil
	}
	data, err := codecs.Encode(text, d.form.codec(), "strict")
	if err == nil {
		err = conffile.Write(d.form.Path, []byte(data))
	}
	if err != nil {
		return loader.ExecErr("Unable to write file '%s'. Exception: %s", d.form.Path, loader.Message(err))
	}
	d.was = text
	return nil
}

// Reread takes the document as it would be read after Flush. A value of two lines, for one, becomes two entries.
func (d *Document) Reread() error { return d.parse(d.Text()) }

// All are the sections and options, without comments.
func (d *Document) All() *payload.Map { return d.root.told() }

// Section are the options of a section.
func (d *Document) Section(name any) (*payload.Map, error) {
	switch v, _ := d.root.get(keyOf(name)); x := v.(type) {
	case *block:
		return x.told(), nil
	case string:
		return nil, &loader.ArgumentError{Message: "'" + keyOf(name) + "' is an option, not a section"}
	}
	return payload.NewMap(0), nil
}

// Option is the value of an option, nil where there is none. A section that is nothing is the top of the file.
func (d *Document) Option(section, option any) any {
	from := d.root
	if python.Truth(section) {
		v, _ := d.root.get(keyOf(section))
		from, _ = v.(*block)
	}
	if from == nil {
		return nil
	}
	v, ok := from.get(keyOf(option))
	if !ok {
		return nil
	}
	return toldOf(v)
}

// Remove takes an option away, and gives its value. Where there is no such section the top of the file is meant, as in
// the reference.
func (d *Document) Remove(section, option any) any {
	from := d.root
	if v, ok := d.root.get(keyOf(section)); ok && section != nil {
		if b, ok := v.(*block); ok {
			from = b
		}
	}
	v, ok := from.get(keyOf(option))
	if !ok {
		return nil
	}
	from.delete(keyOf(option))
	return toldOf(v)
}

// RemoveSection takes a section away, and gives its options; nil: there is none.
func (d *Document) RemoveSection(name any) (*payload.Map, error) {
	if !d.root.has(keyOf(name)) {
		return nil, nil
	}
	options, err := d.Section(name)
	if err != nil {
		return nil, err
	}
	d.root.delete(keyOf(name))
	return options, nil
}

// Update sets options and sections, and gives what changed. Unlike Salt: a value with a line that would be read as an
// entry of its own is refused, since it could set any other option, and did so again in each run.
func (d *Document) Update(sections any) (*payload.Map, error) {
	if !python.Truth(sections) {
		return payload.NewMap(0), nil
	}
	wanted, ok := sections.(*payload.Map)
	if !ok {
		return nil, &loader.ArgumentError{Message: "sections is a " + python.Type(sections) + ", not a dictionary"}
	}
	return d.root.update(wanted)
}
