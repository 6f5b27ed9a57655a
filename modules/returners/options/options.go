// Package options finds the options of a returner for one call: where Salt has them, with what the job brings. It also
// holds the rules that several returners have for them. Answers to salt/returners/__init__.py, get_returner_options.
package options

import (
	"maps"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Values are the options of one call of a returner, by the names that the returner has for them.
type Values map[string]any

// Lookup says where a returner's options stand.
type Lookup struct {
	Name     string   // "rawfile_json", "returner.postgres"
	Options  []string // that it knows
	Defaults Values
}

// Read finds the options for a return. Each is looked for as NAME.OPTION, or as OPTION in the map NAME; with
// ret_config C before that as OPTION in the map C.NAME, or as C.NAME.OPTION. ret_kwargs come last and win, also those
// that the returner does not know. ret is nil for events. Source: salt/returners/__init__.py, get_returner_options.
func (l Lookup) Read(c *loader.Call, ret *payload.Map) (Values, error) {
	out := Values{}
	maps.Copy(out, l.Defaults)
	other := ""
	if v, ok := ret.Get(payload.FieldRetConfig); ok {
		other = python.Str(v)
	}
	for _, name := range l.Options {
		v, err := l.option(c, other, name)
		if err != nil {
			return nil, err
		}
		if v != nil && v != "" {
			out[name] = v
		}
	}
	for k, v := range ret.Map(payload.FieldRetKwargs).All() {
		if name, ok := k.(string); ok {
			out[name] = v
		}
	}
	return out, nil
}

// option is one of them, nil or "" where it stands nowhere.
func (l Lookup) option(c *loader.Call, other, name string) (any, error) {
	if other != "" {
		v, err := at(c, other+"."+l.Name, name)
		if err != nil || python.Truth(v) {
			return v, err
		}
	}
	return at(c, l.Name, name)
}

// at is an option by its place: in the map of that name, else by its full name.
func at(c *loader.Call, place, name string) (any, error) {
	whole, err := Config(c, place)
	if err != nil {
		return nil, err
	}
	if m, ok := whole.(*payload.Map); ok {
		if v, ok := m.Get(name); ok {
			return v, nil
		}
	}
	return Config(c, place+"."+name)
}

// Config asks the options, grains and pillar of a minion, or what a master has of them; "" where none has it.
func Config(c *loader.Call, name string) (any, error) {
	return c.Call("config.option", []any{name}, nil)
}

// Configured is Read without the ret_kwargs of a return.
func (l Lookup) Configured(c *loader.Call, ret *payload.Map) (Values, error) {
	if ret == nil {
		return l.Read(c, nil)
	}
	plain := payload.NewMap(1)
	if v, ok := ret.Get(payload.FieldRetConfig); ok {
		plain.Set(payload.FieldRetConfig, v)
	}
	return l.Read(c, plain)
}

// Guard refuses to bring the password of the configuration to a server that ret_kwargs name, or there in another way:
// who may run a function is not for that one who may know the password. Unlike Salt.
func (l Lookup) Guard(c *loader.Call, ret *payload.Map, places ...string) error {
	given := ret.Map(payload.FieldRetKwargs)
	if python.Truth(given.Value("password")) {
		return nil
	}
	for _, name := range places {
		if !given.Has(name) {
			continue
		}
		own, err := l.Configured(c, ret)
		if err != nil {
			return err
		}
		if own.Text("password") != "" {
			return returners.Refuse("%s: ret_kwargs name %s, but no password: that of the configuration goes nowhere else "+
				"(use ret_config)", l.Name, name)
		}
	}
	return nil
}

// Text is an option as text.
func (s Values) Text(name string) string {
	if v, ok := s[name]; ok && v != nil {
		return python.Str(v)
	}
	return ""
}
