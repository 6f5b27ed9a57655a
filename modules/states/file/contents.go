package file

import (
	"path/filepath"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/loader"
	"brine/modules/renderers/jinja/py"
	"brine/modules/states"
	"brine/wire/disk/packedfile"
	"brine/wire/payload"
	"brine/wire/python"
)

// contents are what the SLS, pillar or grains say that the file holds; nil where none of them does.
func (a managedArgs) contents(c *states.Call) (content *file.Content, wrong string, err error) {
	v, wrong, err := a.raw(c)
	if v == nil || wrong != "" || err != nil {
		return nil, wrong, err
	}
	if !a.AllowEmpty && !python.Truth(v) {
		return nil, a.origin() + " value would result in empty contents. Set allow_empty to True to allow the managed " +
			"file to be empty.", nil
	}
	data, isBytes := v.([]byte)
	switch {
	case isBytes && python.UTF8Error(data) == "":
		v = string(data)
	case isBytes && python.Truth(a.Template):
		return nil, "Contents specified by contents/contents_pillar/contents_grains appears to be binary data, and as " +
			"will not be able to be treated as a Jinja template.", nil
	case isBytes:
		return file.Data(data), "", nil
	}
	text, ok := linesOf(v)
	if !ok {
		return nil, "Contents specified by contents/contents_pillar/contents_grains is not a string or list of strings, " +
			"and is not binary data. SLS is likely malformed.", nil
	}
	if !a.Newline {
		text = strings.TrimRight(strings.TrimRight(text, "\n"), "\r")
	}
	if python.Truth(a.Template) {
		if text, wrong, err = a.rendered(c, text); wrong != "" || err != nil {
			return nil, wrong, err
		}
	}
	out, err := file.Encode(text, a.Encoding, a.EncodingErrors)
	if err != nil {
		return nil, "Unable to manage file: " + loader.Message(err), nil
	}
	if encoded, ok := out.([]byte); ok {
		return file.Data(encoded), "", nil
	}
	return file.Data([]byte(text)), "", nil
}

// raw are the contents as they are given.
func (a managedArgs) raw(c *states.Call) (v any, wrong string, err error) {
	switch {
	case a.ContentsPillar != nil:
		return a.fetched(c, a.ContentsPillar, "pillar.get", "Pillar ", payload.M("unmask", true))
	case a.ContentsGrains != nil:
		return a.fetched(c, a.ContentsGrains, "grains.get", "Grain ", nil)
	}
	return a.Contents, "", nil
}

// missing stands for a key of pillar or grains that is not there.
const missingKey = "\x00brine: no such key\x00"

// fetched are the values of keys of pillar or grains; those of several keys become one text.
func (a managedArgs) fetched(c *states.Call, keys any, fun, what string, kw *payload.Map) (any, string, error) {
	one := func(key any) (any, string, error) {
		v, err := c.Salt(fun, kw.Clone().Set("delimiter", a.Delimiter), key, missingKey)
		if err == nil && v == any(missingKey) {
			return nil, what + python.Str(key) + " does not exist", nil
		}
		return v, "", err
	}
	list, isList := keys.([]any)
	if !isList {
		return one(keys)
	}
	var texts []string
	for i, key := range list {
		v, wrong, err := one(key)
		if wrong != "" || err != nil {
			return nil, wrong, err
		}
		text, ok := v.(string)
		if !ok {
			return nil, "", &loader.ArgumentError{Message: "sequence item " + python.Str(int64(i)) +
				": expected str instance, " + python.Type(v) + " found"}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), "", nil
}

// origin names where contents come from.
func (a managedArgs) origin() string {
	switch {
	case python.Truth(a.ContentsPillar):
		return "contents_pillar " + python.Str(a.ContentsPillar)
	case python.Truth(a.ContentsGrains):
		return "contents_grains " + python.Str(a.ContentsGrains)
	}
	return "'contents'"
}

// linesOf makes lines of a text, of the texts of a list, or of what str() makes of anything else, each with a line end.
func linesOf(v any) (text string, ok bool) {
	parts := []any{v}
	if list, isList := v.([]any); isList {
		if parts = list; len(parts) == 0 {
			return "", false
		}
	}
	var b strings.Builder
	for _, part := range parts {
		for _, line := range py.Lines(python.Str(part), false) {
			b.WriteString(strings.TrimRight(strings.TrimRight(line, "\n"), "\r") + "\n")
		}
	}
	return b.String(), true
}

// rendered is a text as a template.
func (a managedArgs) rendered(c *states.Call, text string) (out, wrong string, err error) {
	v, err := c.Salt("file.apply_template_on_contents", payload.M("template", a.Template, "context", a.Context,
		"defaults", a.Defaults, "saltenv", c.Saltenv), text)
	if err != nil {
		return "", "", err
	}
	if m, bad := v.(*payload.Map); bad {
		return "", loader.Text(m.Value("comment")), nil
	}
	return loader.Text(v), "", nil
}

// accumulated gives the template what file.accumulated has kept for the file.
func (a managedArgs) accumulated(c *states.Call, m *file.Managing) error {
	v, err := packedfile.Read(filepath.Join(c.Opts().Str("cachedir"), "accumulator", c.Run.ID()))
	if err != nil {
		return nil // nothing was kept
	}
	all, _ := v.(*payload.Map)
	if kept, ok := all.Map("accumulators").Get(m.Name); ok {
		m.Context = m.Context.Clone().Set("accumulator", kept)
	}
	return nil
}
