package config

import (
	"fmt"
	"strings"

	"github.com/spf13/viper"

	"brine/wire/payload"
)

// Layer names one of the places that options come from. A later one wins over those before it.
type Layer string

// The layers, in their order.
const (
	LayerDefault     Layer = "default"
	LayerFile        Layer = "file" // the main file and all that it includes
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

// layers lays files, environment and command line over each other: viper decides which of them sets an option, and what
// it holds for each is the value together with its origin, so that both always come from the same layer. An option that
// none of them sets has its default; there are five hundred, and to lay them beneath would take a tool longer than to
// read its files.
//
// viper must not look into a value: it turns the keys of nested maps to lower case, forgets their order, and takes null
// for "not set", where `ssl:` in a file means null. So values travel closed, as a setting, and maps arrive as they were
// written. For the same reason options of the operator's own whose names have capitals are kept beside it, in free.
type layers struct {
	known *viper.Viper
	free  map[string]setting
}

// setting is a value in one layer.
type setting struct {
	value  any
	origin Origin
}

func newLayers() *layers {
	return &layers{known: viper.NewWithOptions(viper.KeyDelimiter(noSplit)), free: map[string]setting{}}
}

// viperTakes tells whether viper keeps a key as it is.
func viperTakes(key string) bool {
	return key == strings.ToLower(key) && !strings.Contains(key, noSplit)
}

// lay puts what files or environment say over what they said before.
func (l *layers) lay(s *source) error {
	settings := make(map[string]any, s.opts.Len())
	for k, v := range s.opts.All() {
		key, ok := k.(string)
		if !ok {
			continue
		}
		one := setting{v, s.origin[key]}
		if viperTakes(key) {
			settings[key] = one
		} else {
			l.free[key] = one
		}
	}
	if err := l.known.MergeConfigMap(settings); err != nil {
		return &Error{Code: ExitGeneric, Err: fmt.Errorf("lay options over each other: %w", err)}
	}
	return nil
}

// override puts the options of the command line on top.
func (l *layers) override(opts *payload.Map) {
	for k, v := range opts.All() {
		key, ok := k.(string)
		one := setting{v, Origin{Layer: LayerCommandLine}}
		switch {
		case !ok:
		case viperTakes(key):
			l.known.Set(key, one)
		default:
			l.free[key] = one
		}
	}
}

// get is the setting of an option that wins; there is none for one that has its default.
func (l *layers) get(key string) (setting, bool) {
	if !viperTakes(key) {
		one, ok := l.free[key]
		return one, ok
	}
	one, ok := l.known.Get(key).(setting)
	return one, ok
}

// into writes what a source says into the options, each with the value that wins.
func (l *layers) into(opts *payload.Map, s *source) {
	for k, v := range s.opts.All() {
		if key, ok := k.(string); ok {
			if one, ok := l.get(key); ok {
				v = one.value
			}
		}
		opts.Set(k, v)
	}
}

// Origin tells which layer set an option, and where. An option that nobody set has its default, also one that was
// worked out from others (a directory below root_dir, a generated id).
func (c *Common) Origin(key string) Origin {
	if c.layers != nil {
		if one, ok := c.layers.get(key); ok {
			return one.origin
		}
	}
	return Origin{Layer: LayerDefault}
}
