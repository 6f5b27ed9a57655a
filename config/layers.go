package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/viper"

	"brine/wire/payload"
)

// Layer names one of the places that options come from. A later one wins over those before it.
type Layer string

// The layers, in their order.
const (
	LayerDefault     Layer = "default"
	LayerFile        Layer = "file" // the main file, then default_include, then include, then a user's own file
	LayerEnvironment Layer = "environment"
	LayerCommandLine Layer = "command line"
)

// Origin tells where the value of an option was set.
type Origin struct {
	Layer    Layer
	File     string // of LayerFile
	Line     int    // of LayerFile, from 1
	Variable string // of LayerEnvironment
}

func (o Origin) String() string {
	switch {
	case o.File != "" && o.Line > 0:
		return fmt.Sprintf("%s, line %d", o.File, o.Line)
	case o.File != "":
		return o.File
	case o.Variable != "":
		return "variable " + o.Variable
	case o.Layer == "":
		return string(LayerDefault)
	}
	return string(o.Layer)
}

// layers are the places that options come from, laid over each other by viper:
//
//	SetDefault      the defaults of Salt and brine
//	MergeConfigMap  each file or set of included files, in the order of reading
//	Set             the environment, then the command line
//
// viper decides which of them sets an option. A value travels through viper closed, as a setting together with its
// origin: viper would change the keys of a map to lower case, forget their order, and take null for "not set", where
// `ssl:` in a file means null. The name of an option travels as viperKey, for the same reason.
type layers struct {
	viper   *viper.Viper
	keys    []any // every option, in the order in which it was laid first
	written []any // those that a file or the environment sets, in the order of reading
	ordered []any // those that the command line sets
}

// setting is a value in one layer; no origin: a default.
type setting struct {
	value  any
	origin *Origin
}

func newLayers(standard *payload.Map) *layers {
	l := &layers{viper: viper.NewWithOptions(viper.KeyDelimiter(noSplit))}
	for key, v := range standard.All() {
		l.viper.SetDefault(viperKey(key), setting{value: v})
		l.keys = append(l.keys, key)
	}
	return l
}

// Marks in the name of an option on its way through viper.
const (
	noSplit     = "\x00" // at which viper splits names into paths: none has it, keys.cache_driver is no path
	capitalMark = "\x01" // before a letter that was a capital
	typeMark    = "\x02" // before the type and value of a name that is no text
)

// viperKey writes the name of an option so that viper, which turns names to lower case, keeps all of them apart.
func viperKey(key any) string {
	name, ok := key.(string)
	if !ok {
		name = fmt.Sprintf("%s%T %v", typeMark, key, key)
	}
	if name == strings.ToLower(name) && !strings.ContainsAny(name, noSplit+capitalMark) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if lower := unicode.ToLower(r); lower != r || r < ' ' {
			b.WriteString(capitalMark)
		}
		if r == 0 {
			r = '0'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lay notes the names of a layer and closes its values.
func (l *layers) lay(s *source) map[string]any {
	closed := make(map[string]any, s.opts.Len())
	for key, v := range s.opts.All() {
		one := setting{v, &Origin{Layer: LayerFile}}
		if name, ok := key.(string); ok {
			if o, ok := s.origin[name]; ok {
				one.origin = &o
			}
		}
		switch below, ok := l.get(key); {
		case !ok:
			l.keys = append(l.keys, key)
			l.written = append(l.written, key)
		case below.origin == nil:
			l.written = append(l.written, key)
		}
		closed[viperKey(key)] = one
	}
	return closed
}

// layFiles puts what a set of files says over what the files before it say.
func (l *layers) layFiles(s *source) error {
	if err := l.viper.MergeConfigMap(l.lay(s)); err != nil {
		return &Error{Code: ExitGeneric, Err: fmt.Errorf("lay options over each other: %w", err)}
	}
	return nil
}

// layEnvironment puts the environment over every file. Of an option that is a map only the named parts change.
func (l *layers) layEnvironment(env *source) {
	over := &source{payload.NewMap(env.opts.Len()), env.origin}
	for key, v := range env.opts.All() {
		part, isMap := v.(*payload.Map)
		if whole, ok := l.value(key).(*payload.Map); ok && isMap {
			v = mergeMaps(whole, part)
		}
		over.opts.Set(key, v)
	}
	for key, one := range l.lay(over) {
		l.viper.Set(key, one)
	}
}

// correct puts a value in the place of the one that a file or the environment gives an option.
func (l *layers) correct(key string, v any, o Origin) error {
	s := &source{payload.M(key, v), map[string]Origin{key: o}}
	if o.Layer == LayerEnvironment {
		l.layEnvironment(s)
		return nil
	}
	return l.layFiles(s)
}

// layCommandLine puts the options of the command line on top.
func (l *layers) layCommandLine(opts *payload.Map) {
	for key, v := range opts.All() {
		if _, ok := l.get(key); !ok {
			l.keys = append(l.keys, key)
		}
		l.ordered = append(l.ordered, key)
		l.viper.Set(viperKey(key), setting{v, &Origin{Layer: LayerCommandLine}})
	}
}

// get is the setting of an option that wins.
func (l *layers) get(key any) (setting, bool) {
	one, ok := l.viper.Get(viperKey(key)).(setting)
	return one, ok
}

// value is the value of an option that wins, nil where none is set.
func (l *layers) value(key any) any {
	one, _ := l.get(key)
	return one.value
}

// origin tells where the value of an option comes from that wins.
func (l *layers) origin(key any) Origin {
	if one, _ := l.get(key); one.origin != nil {
		return *one.origin
	}
	return Origin{Layer: LayerDefault}
}

// options are all options, each with the value that wins.
func (l *layers) options() *payload.Map { return l.valuesOf(l.keys) }

// asWritten are the options that a file or the environment sets.
func (l *layers) asWritten() *payload.Map { return l.valuesOf(l.written) }

func (l *layers) valuesOf(keys []any) *payload.Map {
	out := payload.NewMap(len(keys))
	for _, key := range keys {
		out.Set(key, l.value(key))
	}
	return out
}

// origins are the origins of all options that have not their default.
func (l *layers) origins() map[string]Origin {
	out := map[string]Origin{}
	for _, key := range slices.Concat(l.written, l.ordered) {
		if name, ok := key.(string); ok {
			out[name] = l.origin(key)
		}
	}
	return out
}

// Origin tells which layer set an option, and where. An option that nobody set has its default, also one that was
// worked out from others (a directory below root_dir, a generated id).
func (c *Common) Origin(key string) Origin {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return Origin{Layer: LayerDefault}
}
