package file

import (
	"slices"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

type serializing struct {
	Name         any          `arg:"name"`
	Dataset      any          `arg:"dataset=None"`
	Pillar       any          `arg:"dataset_pillar=None"`
	User         any          `arg:"user=None"`
	Group        any          `arg:"group=None"`
	Mode         any          `arg:"mode=None"`
	Backup       any          `arg:"backup=''"`
	MakeDirs     bool         `arg:"makedirs=False"`
	ShowChanges  bool         `arg:"show_changes=True"`
	Create       bool         `arg:"create=True"`
	Merge        bool         `arg:"merge_if_exists=False"`
	Encoding     any          `arg:"encoding=None"`
	Errors       any          `arg:"encoding_errors=strict"`
	Serializer   any          `arg:"serializer=None"`
	Options      any          `arg:"serializer_opts=None"`
	Deserializer any          `arg:"deserializer_opts=None"`
	CheckCmd     any          `arg:"check_cmd=None"`
	TmpDir       any          `arg:"tmp_dir=None"`
	TmpExt       any          `arg:"tmp_ext=''"`
	KW           *payload.Map `arg:"**kwargs"`
}

// formats are those that slsutil reads and writes; notYet are more that Salt has.
var (
	formats = []string{"json", "yaml", "configparser"}
	notYet  = []string{"msgpack", "yamlex"}
)

func serialize(c *states.Call, a serializing) (states.Plan, error) {
	name, p, err := pathFor(c, a.Name, "serialize")
	if p != nil || err != nil {
		return orNone(p), err
	}
	if !a.Create && !isFile(name) {
		return called(name, states.Correct(notCreated(name))), nil
	}
	format, wrong := a.format()
	if wrong != "" {
		return called(name, states.Wrong(wrong)), nil
	}
	data, wrong, err := a.dataset(c)
	if wrong != "" || err != nil {
		return called(name, states.Wrong(wrong)), err
	}
	data, diff, p, err := a.merged(c, name, format, data)
	if p != nil || err != nil {
		return called(name, orNone(p)), err
	}
	kw := a.options(format)
	v, err := c.Salt("slsutil.serialize", kw, format, data)
	if err != nil {
		return states.Plan{}, err
	}
	plan, err := a.plan(c, name, python.Str(v)+"\n", diff)
	if a.Deserializer != nil && !a.Merge {
		plan = withWarnings(plan, []any{"The 'deserializer_opts' option is ignored unless merge_if_exists is set to True."})
	}
	return called(name, withWarnings(plan, useless(unknown(a.KW, "env", "formatter")))), err
}

// format is the format to write in, or what is wrong with it.
func (a serializing) format() (format, wrong string) {
	formatter := a.KW.Value("formatter")
	if python.Truth(a.Serializer) && python.Truth(formatter) {
		return "", "Only one of serializer and formatter are allowed"
	}
	format = "yaml"
	for _, v := range []any{formatter, a.Serializer} {
		if python.Truth(v) {
			format = strings.ToLower(python.Str(v))
		}
	}
	switch {
	case python.Truth(a.Dataset) && python.Truth(a.Pillar):
		return "", "Only one of 'dataset' and 'dataset_pillar' is permitted"
	case slices.Contains(notYet, format):
		return "", "brine does not have the serializer '" + format + "' yet"
	}
	return format, ""
}

// dataset is what is written.
func (a serializing) dataset(c *states.Call) (data any, wrong string, err error) {
	data = a.Dataset
	if python.Truth(a.Pillar) {
		if data, err = c.Salt("pillar.get", payload.M("unmask", true), a.Pillar); err != nil {
			return nil, "", err
		}
	}
	format, _ := a.format()
	switch {
	case data == nil:
		return nil, "Neither 'dataset' nor 'dataset_pillar' was defined", nil
	case !slices.Contains(formats, format):
		return nil, "The " + format + " serializer could not be found. It either does not exist or its prerequisites are " +
			"not installed.", nil
	}
	return data, "", nil
}

// options are those of the serializer.
func (a serializing) options(format string) *payload.Map {
	kw := payload.NewMap(4)
	switch format {
	case "yaml":
		kw.Set("default_flow_style", false)
	case "json":
		kw.Set("indent", int64(2)).Set("sort_keys", true)
	}
	if python.Truth(a.Encoding) {
		switch format {
		case "yaml":
			kw.Set("allow_unicode", true)
		case "json":
			kw.Set("ensure_ascii", false)
		}
	}
	kw.Update(repacked(a.Options))
	list, ok := kw.Value("separators").([]any)
	if ok && slices.Equal(list, []any{",", ": "}) && kw.Value("indent") != nil {
		kw.Delete("separators") // it is what is written in any case
	}
	return kw
}

// repacked is a list of maps as one map.
func repacked(v any) *payload.Map {
	if m, ok := v.(*payload.Map); ok {
		return m
	}
	out := payload.NewMap(0)
	list, _ := v.([]any)
	for _, item := range list {
		if m, ok := item.(*payload.Map); ok {
			out.Update(m)
		}
	}
	return out
}

// merged is the data with what is in the file, and how the two differ; a plan is one that ends here.
func (a serializing) merged(c *states.Call, name, format string, data any) (any, *payload.Map, *states.Plan, error) {
	if !a.Merge || !isFile(name) {
		return data, nil, nil, nil
	}
	text, err := edit.Read(name)
	if err != nil {
		return nil, nil, nil, err
	}
	old, err := c.Salt("slsutil.deserialize", repacked(a.Deserializer), format, text)
	if err != nil {
		p := states.Wrong("Failed to deserialize existing data: " + loader.Message(err))
		return nil, nil, &p, nil
	}
	if old == nil {
		return data, nil, nil, nil
	}
	was, wasMap := old.(*payload.Map)
	add, isMap := data.(*payload.Map)
	if !wasMap || !isMap {
		return nil, nil, nil,
			&loader.ArgumentError{Message: "Cannot update using non-dict types in dictupdate.update()"}
	}
	all := dicts.Clone(was).(*payload.Map)
	dicts.Update(all, add, false)
	if dicts.Contains([]any{was}, all) {
		p := states.Correct("The file " + name + " is in the correct state")
		return nil, nil, &p, nil
	}
	return all, differences(all, was), nil, nil
}

// differences are the keys that are new or have another value (salt/utils/dictdiffer.py, recursive_diff).
func differences(now, was *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for key, v := range now.All() {
		old, had := was.Get(key)
		inner, isMap := v.(*payload.Map)
		oldInner, wasMap := old.(*payload.Map)
		switch {
		case !had:
			out.Set(key, payload.M("new", v, "old", "<_null_>"))
		case dicts.Contains([]any{old}, v):
		case isMap && wasMap:
			if sub := differences(inner, oldInner); sub.Len() > 0 {
				out.Set(key, sub)
			}
		default:
			out.Set(key, payload.M("new", v, "old", old))
		}
	}
	return out
}

// plan writes the text. diff is shown in the place of the lines, where there is one.
func (a serializing) plan(c *states.Call, name, text string, diff *payload.Map) (states.Plan, error) {
	v, err := file.Encode(text, a.Encoding, a.Errors)
	if err != nil {
		return states.Plan{}, err
	}
	content, ok := v.([]byte)
	if !ok {
		content = []byte(text)
	}
	m := &file.Managing{Name: name, Contents: file.Data(content), Saltenv: c.Saltenv,
		Perms:  file.Perms{User: a.User, Group: a.Group, Mode: file.NormalMode(a.Mode), Follow: true},
		Backup: file.BackupMode(c.Call, a.Backup), MakeDirs: a.MakeDirs, Show: a.ShowChanges}
	if wrong, err := m.Get(c.Call); wrong != "" || err != nil {
		return states.Wrong(wrong), err
	}
	s, wrong, err := m.Look(c.Call)
	if wrong != "" || err != nil {
		return states.Wrong(wrong), err
	}
	changes, err := m.Changes(c.Call, s)
	if err != nil {
		return states.Plan{}, err
	}
	if changes.Len() == 0 && !(a.MakeDirs && !s.There) {
		return states.Correct(cond(c.Test, "The file ", "File ") + name + " is in the correct state"), nil
	}
	if !a.ShowChanges {
		changes.Set("diff", "<show_changes=False>")
	}
	if diff != nil {
		changes.Set("diff", diff)
	}
	return states.Would("Dataset will be serialized and stored into "+name, changes, func() (states.Done, error) {
		return a.apply(c, m, s, diff)
	}), nil
}

func (a serializing) apply(c *states.Call, m *file.Managing, s *file.Sight, diff *payload.Map) (states.Done, error) {
	checker := managedArgs{CheckCmd: a.CheckCmd, TmpDir: a.TmpDir, TmpExt: a.TmpExt}
	if python.Truth(a.CheckCmd) {
		bad, err := checker.checked(c, m)
		if err != nil {
			return states.Failed("Unable to check_cmd file: "+loader.Message(err), nil)
		}
		if bad != nil {
			return *bad, nil
		}
	}
	ret := file.NewRet()
	if err := m.Apply(c.Call, s, ret); err != nil {
		return states.Done{}, err
	}
	if diff != nil {
		ret.Changes.Set("diff", diff)
	}
	return done(ret), nil
}
