package returners

import (
	"maps"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// settings are the options of one call of a returner, by the names that the returner has for them.
type settings map[string]any

// lookup says where a returner's options stand.
type lookup struct {
	name     string   // "rawfile_json", "returner.postgres"
	options  []string // that it knows
	defaults settings
}

// read finds the options for a return. Each is looked for as NAME.OPTION, or as OPTION in the map NAME; with
// ret_config C before that as OPTION in the map C.NAME, or as C.NAME.OPTION. ret_kwargs come last and win, also those
// that the returner does not know. ret is nil for events. Source: salt/returners/__init__.py, get_returner_options.
func (l lookup) read(c *loader.Call, ret *payload.Map) (settings, error) {
	out := settings{}
	maps.Copy(out, l.defaults)
	other := ""
	if v, ok := ret.Get(payload.FieldRetConfig); ok {
		other = python.Str(v)
	}
	for _, name := range l.options {
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
func (l lookup) option(c *loader.Call, other, name string) (any, error) {
	if other != "" {
		v, err := at(c, other+"."+l.name, name)
		if err != nil || python.Truth(v) {
			return v, err
		}
	}
	return at(c, l.name, name)
}

// at is an option by its place: in the map of that name, else by its full name.
func at(c *loader.Call, place, name string) (any, error) {
	whole, err := configOption(c, place)
	if err != nil {
		return nil, err
	}
	if m, ok := whole.(*payload.Map); ok {
		if v, ok := m.Get(name); ok {
			return v, nil
		}
	}
	return configOption(c, place+"."+name)
}

// configOption asks the options, grains and pillar of a minion, or what a master has of them; "" where none has it.
func configOption(c *loader.Call, name string) (any, error) {
	return c.Call("config.option", []any{name}, nil)
}

// configured is read without the ret_kwargs of a return.
func (l lookup) configured(c *loader.Call, ret *payload.Map) (settings, error) {
	if ret == nil {
		return l.read(c, nil)
	}
	plain := payload.NewMap(1)
	if v, ok := ret.Get(payload.FieldRetConfig); ok {
		plain.Set(payload.FieldRetConfig, v)
	}
	return l.read(c, plain)
}

// guard refuses to bring the password of the configuration to a server that ret_kwargs name, or there in another way:
// who may run a function is not for that one who may know the password. Unlike Salt.
func (l lookup) guard(c *loader.Call, ret *payload.Map, places ...string) error {
	given := ret.Map(payload.FieldRetKwargs)
	if python.Truth(given.Value("password")) {
		return nil
	}
	for _, name := range places {
		if !given.Has(name) {
			continue
		}
		own, err := l.configured(c, ret)
		if err != nil {
			return err
		}
		if own.text("password") != "" {
			return unusable("%s: ret_kwargs name %s, but no password: that of the configuration goes nowhere else "+
				"(use ret_config)", l.name, name)
		}
	}
	return nil
}

// text is an option as text.
func (s settings) text(name string) string {
	if v, ok := s[name]; ok && v != nil {
		return python.Str(v)
	}
	return ""
}
