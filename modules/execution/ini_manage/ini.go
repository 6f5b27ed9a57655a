// Package ini_manage is the execution module ini: it reads and changes options and sections of files that are written
// in the way of ini files. A file stays as it is but for what is changed, save that separators are written in one way,
// as in the reference. Document is the file for the states of that name. It answers to salt/modules/ini_manage.py.
package ini_manage

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module ini.
func Module() loader.Module {
	return loader.Module{File: "ini_manage", Name: "ini", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("set_option", setOption, "Set options of an ini file, and tell what changed.",
				"ini.set_option /path/to/ini '{section_foo: {key: value}}'"),
			loader.Fn("get_option", getOption, "Show the value of an option.",
				"ini.get_option /path/to/ini section_name option_name"),
			loader.Fn("remove_option", removeOption, "Remove an option, and show the value that it had.",
				"ini.remove_option /path/to/ini section_name option_name"),
			loader.Fn("get_section", getSection, "Show the options of a section.",
				"ini.get_section /path/to/ini section_name"),
			loader.Fn("remove_section", removeSection, "Remove a section, and show what was in it.",
				"ini.remove_section /path/to/ini section_name"),
			loader.Fn("get_ini", getIni, "Show all sections and options.", "ini.get_ini /path/to/ini"),
		}
	}}
}

// Arguments of several functions.
type (
	located struct {
		File string `arg:"file_name"`
	}
	inSection struct {
		located
		Section any `arg:"section"`
	}
	read struct {
		Separator string `arg:"separator=="`
		Encoding  string `arg:"encoding=None"`
	}
	option struct {
		inSection
		Option any `arg:"option"`
		read
	}
	section struct {
		inSection
		read
	}
	whole struct {
		located
		read
	}
	options struct {
		located
		Sections any `arg:"sections=None"`
		read
		NoSpaces bool `arg:"no_spaces=False"`
	}
)

// of is how a file of these arguments is read.
func (r read) of(file string) Form {
	return Form{Path: file, Separator: r.Separator, Encoding: r.Encoding}
}

func setOption(_ *loader.Call, a options) (*payload.Map, error) {
	form := a.of(a.File)
	form.NoSpaces = a.NoSpaces
	d, err := Open(form)
	if err != nil {
		return nil, err
	}
	changes, err := d.Update(a.Sections)
	if err != nil {
		return nil, err
	}
	return changes, d.Flush()
}

func getOption(_ *loader.Call, a option) (any, error) {
	d, err := Open(a.of(a.File))
	if err != nil {
		return nil, err
	}
	return d.Option(a.Section, a.Option), nil
}

func removeOption(_ *loader.Call, a option) (any, error) {
	d, err := Open(a.of(a.File))
	if err != nil {
		return nil, err
	}
	value := d.Remove(a.Section, a.Option)
	return value, d.Flush()
}

func getSection(_ *loader.Call, a section) (*payload.Map, error) {
	d, err := Open(a.of(a.File))
	if err != nil {
		return nil, err
	}
	return d.Section(a.Section)
}

func removeSection(_ *loader.Call, a section) (any, error) {
	d, err := Open(a.of(a.File))
	if err != nil {
		return nil, err
	}
	removed, err := d.RemoveSection(a.Section)
	if removed == nil || err != nil {
		return nil, err
	}
	return removed, d.Flush()
}

func getIni(_ *loader.Call, a whole) (*payload.Map, error) {
	d, err := Open(a.of(a.File))
	if err != nil {
		return nil, err
	}
	return d.All(), nil
}

// keyOf is a name as it stands in a file. Unlike Salt: one that is no text is taken as one, where Salt empties the file
// and fails.
func keyOf(v any) string { return python.Str(v) }

// plain tells whether an entry is an option or a section, not a line that is kept as it is.
func plain(key string) bool { return !strings.HasPrefix(key, "#") }
