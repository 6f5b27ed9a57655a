package sdb

import (
	"errors"
	"io/fs"
	"log/slog"
	"syscall"

	"brine/modules/host/environ"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/renderers"
	"brine/modules/renderers/saltyaml"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// getEnv is an environment variable; nil without one.
func getEnv(p place) any {
	if value, ok := environ.Of(p.call.Ctx).Get(p.key); ok {
		return value
	}
	return nil
}

// setEnv sets a variable that is not there, and tells the value that there is then.
func setEnv(p place, value any) (any, error) {
	if old := getEnv(p); old != nil {
		return old, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "str expected, not " + python.Type(value)}
	}
	environ.Of(p.call.Ctx).Set(p.key, text)
	return text, nil
}

// getYAML is a value in the files of a profile, one over the other.
func getYAML(p place) (any, error) {
	data := any(payload.NewMap(0))
	for _, file := range loader.StringList(p.profile.Value("files")) {
		more, err := p.load(file)
		if err == nil {
			more, err = p.over(dicts.Clone(data), more)
		}
		var no syscall.Errno
		switch {
		case err == nil:
			data = more
		case errors.As(err, &no) || errors.Is(err, fs.ErrNotExist):
			p.call.LogAs(yamlLogger, slog.LevelError, "File '"+file+"' not found ")
		case loader.ClassOf(err) == "TypeError":
			p.call.LogAs(yamlLogger, slog.LevelError, "Error deserializing sdb file '"+file+"': "+loader.Message(err))
		default:
			return nil, err
		}
	}
	if p.profile.Bool("gpg") {
		opts := p.call.Opts()
		must, told := opts.Get("gpg_decrypt_must_succeed")
		gpg := renderers.GPG{KeyDir: func() string { return renderers.KeyDirOf(opts) },
			MustSucceed: !told || python.Truth(must), Log: p.call.Log}
		plain, err := gpg.Decrypt(p.call.Ctx, data)
		if err != nil {
			return nil, err
		}
		data = plain
	}
	v, _ := matchers.Traverse(data, p.key, "")
	return v, nil
}

const yamlLogger = "salt.loaded.int.sdb.yaml"

func (p place) load(file string) (any, error) {
	text, err := plainfile.Read(file, program.MaxOutput())
	if err != nil {
		return nil, err
	}
	return saltyaml.Deserialize(string(text))
}

// over merges the data of a file into those of the files before it.
func (p place) over(data, more any) (any, error) {
	warn := func(text string) { p.call.Log(slog.LevelWarn, text) }
	how := dicts.Merging{Strategy: "smart", Renderer: "yaml", Warn: warn}
	for k, v := range p.profile.Map("merge").All() {
		switch name := python.Str(k); name {
		case "strategy":
			how.Strategy = python.Str(v)
		case "renderer":
			how.Renderer = python.Str(v)
		case "merge_lists":
			how.Lists = python.Truth(v)
		default:
			return nil, &loader.ArgumentError{Message: "merge() got an unexpected keyword argument " +
				python.Repr(name)}
		}
	}
	return how.Merge(data, more)
}
