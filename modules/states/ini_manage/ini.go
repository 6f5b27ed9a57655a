// Package ini_manage is the state module ini: options and sections that are in an ini file, or are not. A state reads
// the file once, works out what it is to be, and writes it whole. Answers to salt/states/ini_manage.py.
package ini_manage

import (
	"brine/modules/execution/ini_manage"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module ini.
func Module() loader.Module {
	return loader.Module{File: "ini_manage", Name: "ini", Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("options_present", optionsPresent, "Options of an ini file have values; with strict no others are there.",
				"/etc/app.ini:", "  ini.options_present:", "    - sections:", "        main:", "          key: value"),
			states.Fn("options_absent", optionsAbsent, "Options are not in an ini file.",
				"/etc/app.ini:", "  ini.options_absent:", "    - sections:", "        main: [key]"),
			states.Fn("sections_present", sectionsPresent, "Sections are in an ini file.",
				"/etc/app.ini:", "  ini.sections_present:", "    - sections: [main]"),
			states.Fn("sections_absent", sectionsAbsent, "Sections are not in an ini file.",
				"/etc/app.ini:", "  ini.sections_absent:", "    - sections: [main]"),
		}
	}, Virtual: func(place loader.Place) (bool, string) { return place.Has("ini.set_option"), "" }}
}

type file struct {
	Name      string `arg:"name"`
	Sections  any    `arg:"sections=None"`
	Separator string `arg:"separator=="`
	Encoding  string `arg:"encoding=None"`
}

func (a file) open() (*ini_manage.Document, error) {
	return ini_manage.Open(ini_manage.Form{Path: a.Name, Separator: a.Separator, Encoding: a.Encoding})
}

// Comments of all functions.
const (
	nothing = "No anomaly detected"
	changed = "Changes take effect"
	same    = "No changes detected."
)

// outcome is what a state comes to: texts of test mode, and changes.
type outcome struct {
	doc     *ini_manage.Document
	texts   string
	would   bool
	changes *payload.Map
}

// tell adds a line of test mode.
func (o *outcome) tell(would bool, line string) {
	o.texts += line + ".\n"
	o.would = o.would || would
}

// plan shows the texts in test mode and otherwise writes the file.
func (o *outcome) plan() states.Plan {
	p := states.Plan{Comment: o.texts, Apply: func() (states.Done, error) {
		if err := o.doc.Flush(); err != nil {
			return states.Done{}, err
		}
		comment := nothing
		if o.changes.Len() > 0 {
			comment = changed
		}
		return states.Changed(comment, o.changes)
	}}
	if !o.would {
		p.Result = true
	}
	return p
}

// namesOf are the names in a list or of a dictionary; none for nothing.
func namesOf(v any) ([]string, error) {
	var out []string
	switch x := v.(type) {
	case *payload.Map:
		for key := range x.All() {
			out = append(out, python.Str(key))
		}
	case []any:
		for _, item := range x {
			out = append(out, python.Str(item))
		}
	default:
		if python.Truth(v) {
			return nil, loader.InvocErr("sections must be a list or a dictionary, not a %s", python.Type(v))
		}
	}
	return out, nil
}

func sectionsPresent(_ *states.Call, a file) (states.Plan, error) {
	return a.eachSection(func(o *outcome, name string, there bool) error {
		if there {
			o.tell(false, "Section unchanged "+name)
			return nil
		}
		o.tell(true, "Created new section "+name)
		changes, err := o.doc.Update(payload.M(name, payload.NewMap(0)))
		o.changes.Update(changes)
		return err
	})
}

func sectionsAbsent(_ *states.Call, a file) (states.Plan, error) {
	return a.eachSection(func(o *outcome, name string, there bool) error {
		if !there {
			o.tell(false, "Section "+name+" does not exist")
			return nil
		}
		o.tell(true, "Deleted section "+name)
		removed, err := o.doc.RemoveSection(name)
		o.changes.Set(name, removed)
		return err
	})
}

// eachSection plans what to do about each section that is named.
func (a file) eachSection(do func(o *outcome, name string, there bool) error) (states.Plan, error) {
	names, err := namesOf(a.Sections)
	if err != nil {
		return states.Plan{}, err
	}
	doc, err := a.open()
	if err != nil {
		return states.Plan{}, err
	}
	o := &outcome{doc: doc, changes: payload.NewMap(0)}
	for _, name := range names {
		if err := doc.Reread(); err != nil {
			return states.Plan{}, err
		}
		if err := do(o, name, doc.All().Has(name)); err != nil {
			return states.Plan{}, err
		}
	}
	if o.texts == "" {
		o.texts = same
	}
	return o.plan(), nil
}

// optionsAbsent removes options. Unlike Salt: a value that is no list names an option at the top of the file for the
// real run, too, where Salt takes its letters for names.
func optionsAbsent(_ *states.Call, a file) (states.Plan, error) {
	if _, ok := a.Sections.(*payload.Map); !ok && python.Truth(a.Sections) {
		return states.Plan{}, loader.InvocErr("sections must be a dictionary, not a %s", python.Type(a.Sections))
	}
	sections, _ := a.Sections.(*payload.Map)
	doc, err := a.open()
	if err != nil {
		return states.Plan{}, err
	}
	o := &outcome{doc: doc, changes: payload.NewMap(0)}
	if sections.Len() == 0 {
		return states.Plan{Result: true, Comment: same, Apply: func() (states.Done, error) {
			return states.Changed(nothing, nil)
		}}, nil
	}
	for key, v := range sections.All() {
		name := python.Str(key)
		if err := doc.Reread(); err != nil {
			return states.Plan{}, err
		}
		switch options := v.(type) {
		case []any:
			err = o.removeEach(name, options)
		case *payload.Map:
			err = o.removeEach(name, options.Keys())
		default:
			value := doc.Remove(nil, name)
			o.told(name, "", value)
			if python.Truth(value) {
				o.changes.Set(name, value)
			}
		}
		if err != nil {
			return states.Plan{}, err
		}
	}
	if o.texts == "" {
		o.texts = same
	}
	return o.plan(), nil
}

// told adds the line about an option that is gone, or was not there. An empty one counts as not there.
func (o *outcome) told(option, where string, value any) {
	if python.Truth(value) {
		o.tell(true, "Deleted key "+option+where)
	} else {
		o.tell(false, "Key "+option+where+" does not exist")
	}
}

// removeEach removes options of a section.
func (o *outcome) removeEach(section string, options []any) error {
	gone := payload.NewMap(0)
	for _, option := range options {
		if err := o.doc.Reread(); err != nil {
			return err
		}
		value := o.doc.Remove(section, option)
		o.told(python.Str(option), in(section), value)
		if python.Truth(value) {
			gone.Set(option, value)
		}
	}
	if gone.Len() > 0 {
		o.changes.Set(section, gone)
	}
	return nil
}

// in says in which section something is.
func in(section string) string {
	if section == "" {
		return ""
	}
	return " in section " + section
}
