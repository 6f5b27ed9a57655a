package file

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// sources are the templates that a state takes its text from.
type sources struct {
	source, hash                any
	sources, hashes             any
	template, defaults, context any
}

// hashed is a source with its hash, which may be nil.
type hashed struct{ url, hash any }

// remote tells whether the hash counts: what the file server gives is not checked by one.
func (h hashed) remote() bool {
	url := strings.ToLower(python.Str(h.url))
	return strings.HasPrefix(url, "http:") || strings.HasPrefix(url, "https:") || strings.HasPrefix(url, "ftp:")
}

// list are the templates, or what is wrong with them.
func (s sources) list() (list []hashed, wrong string) {
	all, hashes := listOf(s.sources), listOf(s.hashes)
	switch {
	case python.Truth(s.source) && len(all) > 0:
		return nil, "source and sources are mutually exclusive"
	case python.Truth(s.hash) && len(hashes) > 0:
		return nil, "source_hash and source_hashes are mutually exclusive"
	case python.Truth(s.source):
		return []hashed{{s.source, s.hash}}, ""
	}
	for i, url := range all {
		h := hashed{url: url}
		if i < len(hashes) {
			h.hash = hashes[i]
		}
		list = append(list, h)
	}
	return list, ""
}

// listOf is a list, or one text as a list.
func listOf(v any) []any {
	if text, ok := v.(string); ok && text != "" {
		return []any{text}
	}
	list, _ := v.([]any)
	return list
}

// warned tells of hashes that do not count. Unlike Salt, which checks none at all.
func (s sources) warned(p states.Plan) states.Plan {
	list, _ := s.list()
	for _, h := range list {
		if python.Truth(h.hash) && !h.remote() {
			return withWarnings(p, []any{"The hash of " + python.Str(h.url) + " does not count: only sources of http, " +
				"https and ftp are checked"})
		}
	}
	return p
}

// names are those that a template gets.
func (s sources) names() (context, defaults *payload.Map) {
	context, _ = s.context.(*payload.Map)
	defaults, _ = s.defaults.(*payload.Map)
	return context, defaults
}

// texts are what becomes of the templates. A plan is that of a state whose template cannot be had.
func (s sources) texts(c *states.Call, list []hashed) (out []string, failed *states.Plan, err error) {
	for _, h := range list {
		render := s.rendered
		if python.Truth(h.hash) && h.remote() {
			render = s.checked
		}
		text, wrong, err := render(c, h)
		if err != nil {
			return nil, nil, err
		}
		if wrong != "" {
			p := states.Wrong(wrong).With("data", []any{})
			p.Name = loader.Text(h.url)
			return nil, &p, nil
		}
		out = append(out, text)
	}
	return out, nil, nil
}

// rendered is what becomes of a template of the file server.
func (s sources) rendered(c *states.Call, h hashed) (text, wrong string, err error) {
	context, defaults := s.names()
	all := defaults.Clone()
	all.Update(context)
	kw := payload.M("template", s.template, "saltenv", c.Saltenv, "context", all)
	v, err := c.Salt("cp.get_template", kw, h.url, "")
	if err != nil {
		return "", "", err
	}
	name, _ := v.(string)
	if name == "" {
		return "", "Failed to load template file " + python.Str(h.url), nil
	}
	text, err = edit.Read(name)
	_ = os.Remove(name) // it was made for this state
	if err == nil && text == "" {
		wrong = "Failed to read rendered template file " + name + " (" + python.Str(h.url) + ")"
	}
	return text, wrong, err
}

// checked is what becomes of a template from elsewhere that has a hash.
func (s sources) checked(c *states.Call, h hashed) (text, wrong string, err error) {
	dir, err := os.MkdirTemp("", "brine-template")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	m := &file.Managing{Name: filepath.Join(dir, "text"), Source: h.url, Hash: h.hash, Template: s.template,
		Saltenv: c.Saltenv}
	m.Context, m.Defaults = s.names()
	if wrong, err := fetch(c, m); wrong != "" || err != nil {
		return "", strings.ReplaceAll(wrong, m.Name, python.Str(h.url)), err
	}
	text, err = edit.Read(m.Name)
	return text, "", err
}

// fetch writes a source to where it should be.
func fetch(c *states.Call, m *file.Managing) (wrong string, err error) {
	m.Follow, m.Mode = true, "0600"
	if err := m.Locate(c.Call); err != nil {
		return loader.Message(err), nil
	}
	if wrong, err := m.Get(c.Call); wrong != "" || err != nil {
		return wrong, err
	}
	s, wrong, err := m.Look(c.Call)
	if wrong != "" || err != nil {
		return wrong, err
	}
	ret := file.NewRet()
	if err := m.Apply(c.Call, s, ret); err != nil || ret.Result != true {
		return ret.Comment, err
	}
	return "", nil
}
