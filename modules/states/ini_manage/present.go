package ini_manage

import (
	"brine/modules/execution/ini_manage"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type wanted struct {
	Name      string `arg:"name"`
	Sections  any    `arg:"sections=None"`
	Separator string `arg:"separator=="`
	Strict    bool   `arg:"strict=False"`
	Encoding  string `arg:"encoding=None"`
	NoSpaces  bool   `arg:"no_spaces=False"`
}

// presence is the work of options_present: options at the top of the file, and sections, that are wanted, and what
// was there.
type presence struct {
	outcome
	options, sections *payload.Map
	was               *payload.Map
}

func optionsPresent(_ *states.Call, a wanted) (states.Plan, error) {
	given, ok := a.Sections.(*payload.Map)
	if !ok && python.Truth(a.Sections) {
		return states.Plan{}, loader.InvocErr("sections must be a dictionary, not a %s", python.Type(a.Sections))
	}
	doc, err := ini_manage.Open(ini_manage.Form{Path: a.Name, Separator: a.Separator, Encoding: a.Encoding,
		NoSpaces: a.NoSpaces})
	if err != nil {
		return states.Plan{}, err
	}
	p := &presence{outcome{doc: doc, changes: payload.NewMap(0)}, payload.NewMap(0), payload.NewMap(0), doc.All()}
	for key, v := range given.All() {
		if _, isMap := v.(*payload.Map); isMap {
			p.sections.Set(python.Str(key), v)
		} else {
			p.options.Set(python.Str(key), v)
		}
	}
	if err := p.work(a.Strict && given.Len() > 0); err != nil {
		return states.Plan{}, err
	}
	return p.plan(), nil
}

func (p *presence) work(strict bool) error {
	for key, v := range p.options.All() {
		was, there := p.was.Get(key)
		p.compare(key.(string), "", v, was, there)
	}
	changes, err := p.doc.Update(p.options)
	if err != nil {
		return err
	}
	p.changes.Update(changes)
	if strict {
		if err := p.strip(); err != nil {
			return err
		}
	}
	for name, v := range p.sections.All() {
		if err := p.section(name.(string), v.(*payload.Map), strict); err != nil {
			return err
		}
	}
	return nil
}

// compare tells whether an option is as it should be.
func (p *presence) compare(option, where string, v, was any, there bool) {
	if _, isMap := was.(*payload.Map); there && !isMap && python.Str(v) == python.Str(was) {
		p.tell(false, "Unchanged key "+option+where)
	} else {
		p.tell(true, "Changed key "+option+where)
	}
}

// strip removes options and sections that are not wanted.
func (p *presence) strip() error {
	if err := p.doc.Reread(); err != nil {
		return err
	}
	for key, v := range p.was.All() {
		name, isMap := key.(string), false
		if _, isMap = v.(*payload.Map); isMap || p.options.Has(name) {
			continue
		}
		p.tell(true, "Removed key "+name)
		p.doc.Remove(nil, name)
		p.changes.Set(name, payload.M("before", v, "after", nil))
	}
	for key, v := range p.was.All() {
		name := key.(string)
		if _, isMap := v.(*payload.Map); !isMap || p.sections.Has(name) {
			continue
		}
		p.tell(true, "Removed section "+name)
		if err := p.doc.Reread(); err != nil {
			return err
		}
		if _, err := p.doc.RemoveSection(name); err != nil {
			return err
		}
		p.changes.Set(name, payload.M("before", v, "after", nil))
	}
	return nil
}

// section sets the options of one section.
func (p *presence) section(name string, body *payload.Map, strict bool) error {
	if err := p.doc.Reread(); err != nil {
		return err
	}
	was, changes := p.was.Map(name), payload.NewMap(0)
	if strict {
		named := map[string]bool{}
		for key := range body.All() {
			named[python.Str(key)] = true
		}
		for key, v := range was.All() {
			if option := key.(string); !named[option] {
				p.tell(true, "Deleted key "+option+in(name))
				p.doc.Remove(name, option)
				changes.Set(option, payload.M("before", v, "after", nil))
			}
		}
	}
	for key, v := range body.All() {
		before, there := was.Get(python.Str(key))
		p.compare(python.Str(key), in(name), v, before, there)
	}
	if err := p.doc.Reread(); err != nil {
		return err
	}
	set, err := p.doc.Update(payload.M(name, body))
	if err != nil {
		return err
	}
	changes.Update(set.Map(name))
	if changes.Len() > 0 {
		p.changes.Set(name, changes)
	}
	return nil
}
