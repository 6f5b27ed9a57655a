package slsutil

import (
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/renderers/saltyaml"
	"brine/modules/text/configparser"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

const (
	serializationError   = "salt.serializers.SerializationError"
	deserializationError = "salt.serializers.DeserializationError"
)

// missing are serializers of Salt that brine does not have; yamlex is read and not written.
var missing = map[string]bool{"msgpack": true, "yamlex": true, "toml": true}

func noSerializer(name string) error {
	if missing[name] {
		return loader.ExecErr("brine does not have the serializer '%s' yet", name)
	}
	return loader.ExecErr("Serializer '%s' not found.", name)
}

// written is a value and the format to write it in, with options of it.
type written struct {
	Serializer string       `arg:"serializer"`
	Value      any          `arg:"obj"`
	KW         *payload.Map `arg:"**kwargs"`
}

func serialize(_ *loader.Call, a written) (any, error) {
	obj, kw := a.Value, loader.CleanKWArgs(a.KW)
	switch name := a.Serializer; name {
	case "json":
		return toJSON(obj, kw)
	case "yaml":
		return saltyaml.Serialize(obj, kw)
	case "configparser":
		if err := noOptions(serializationError, kw); err != nil {
			return nil, err
		}
		return raised(serializationError)(writeINI(obj))
	default:
		return nil, noSerializer(name)
	}
}

func toJSON(v any, kw *payload.Map) (any, error) {
	o := outputters.JSONOptions{Indent: -1}
	for k, value := range kw.All() {
		switch name := python.Str(k); name {
		case "indent":
			if value == nil {
				continue
			}
			n, err := loader.ToInt(value)
			if err != nil {
				return nil, loader.Raise(serializationError, "brine knows no other indent than a number yet")
			}
			o.Indent = int(max(n, 0))
		case "sort_keys":
			o.Sort = python.Truth(value)
		case "ensure_ascii":
			o.ASCII = python.Truth(value)
		case "skipkeys", "check_circular", "allow_nan", "separators", "default", "cls", "fp":
			return nil, loader.Raise(serializationError, "brine does not know the option %s yet", name)
		default:
			return nil, loader.Raise(serializationError, "JSONEncoder.__init__() got an unexpected keyword argument %s",
				python.Repr(name))
		}
	}
	if bytesIn(v) {
		return nil, loader.Raise(serializationError, "Object of type bytes is not JSON serializable")
	}
	text, ok := outputters.DumpJSON(v, o)
	if !ok {
		return nil, loader.Raise(serializationError,
			"keys must be str, int, float, bool or None, and of one kind to be sorted")
	}
	return text, nil
}

// bytesIn says whether there are bytes in a value, for which JSON has no form.
func bytesIn(v any) bool {
	switch x := v.(type) {
	case []byte, payload.Bytes:
		return true
	case []any:
		for _, item := range x {
			if bytesIn(item) {
				return true
			}
		}
	case *payload.Map:
		for _, value := range x.All() {
			if bytesIn(value) {
				return true
			}
		}
	}
	return false
}

// serialized is a text and the format that it is in, with options of it.
type serialized struct {
	Serializer string       `arg:"serializer"`
	Text       any          `arg:"stream_or_string"`
	KW         *payload.Map `arg:"**kwargs"`
}

func deserialize(_ *loader.Call, a serialized) (any, error) {
	data, kw := a.Text, loader.CleanKWArgs(a.KW)
	text, isText := data.(string)
	switch name := a.Serializer; name {
	case "json":
		if !isText {
			return nil, loader.Raise(deserializationError, "'%s' object has no attribute 'read'", python.Type(data))
		}
		v, err := pyjson.Load(text)
		if err != nil {
			return nil, loader.Raise(deserializationError, "%s", err)
		}
		return v, nil
	case "yaml":
		for k := range kw.All() {
			return nil, loader.Raise(deserializationError, "load() got an unexpected keyword argument %s",
				python.Repr(k))
		}
		if !isText {
			return nil, loader.Raise(deserializationError, "a string or stream input is required")
		}
		return saltyaml.Deserialize(text)
	case "yamlex", "configparser":
		if !isText {
			return nil, loader.Raise(deserializationError, "a string or stream input is required")
		}
		if err := noOptions(deserializationError, kw); err != nil {
			return nil, err
		}
		if name == "yamlex" {
			return saltyaml.DeserializeYamlex(text)
		}
		return raised(deserializationError)(readINI(text))
	default:
		return nil, noSerializer(name)
	}
}

// noOptions refuses options that brine does not honour, by name.
func noOptions(class string, kw *payload.Map) error {
	for k := range kw.All() {
		return loader.Raise(class, "brine does not know the option %s yet", python.Str(k))
	}
	return nil
}

func writeINI(v any) (any, error) { return configparser.Dump(v) }

func readINI(text string) (any, error) { return configparser.Parse(text) }

// raised gives an error the class that Salt's serializers raise.
func raised(class string) func(v any, err error) (any, error) {
	return func(v any, err error) (any, error) {
		if err != nil {
			return nil, loader.Raise(class, "%s", err)
		}
		return v, nil
	}
}
