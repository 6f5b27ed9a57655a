package state

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// cacheName is the file in which the high data of a run is kept.
func cacheName(kw *payload.Map) string {
	name := "highstate"
	if v := kw.Value("cache_name"); python.Truth(v) {
		name = filepath.Base(python.Str(v))
	}
	return name + ".cache.p"
}

// cached is the high data that an earlier run has kept; nil when there is none that can be read.
func cached(c *loader.Call, kw *payload.Map) *payload.Map {
	path := filepath.Join(c.Opts().Str("cachedir"), cacheName(kw))
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil {
		c.LogAs("salt.loaded.int.module.state", slog.LevelError, path+": "+err.Error())
		return nil
	}
	return m
}

// clearCache removes the high data that runs have kept, and names the files.
func clearCache(c *loader.Call, _ struct{}) ([]any, error) {
	dir := c.Opts().Str("cachedir")
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, entry := range found {
		if !strings.HasSuffix(entry.Name(), ".cache.p") || !entry.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return out, err
		}
		out = append(out, entry.Name())
	}
	return out, nil
}

// deepCopy is a map that shares nothing with another one.
func deepCopy(m *payload.Map) *payload.Map {
	out, _ := dicts.Clone(m).(*payload.Map)
	return out
}

// syncMods fetches the custom modules of the kinds that a keyword names.
func syncMods(s *session, v any) error {
	if v == nil {
		return nil
	}
	kinds := splitInput(v)
	if v == true {
		kinds = []any{"all"}
	}
	for _, kind := range kinds {
		name := "saltutil.sync_" + python.Str(kind)
		if _, ok := s.call.Registry().Lookup(name); !ok {
			s.call.LogAs("salt.loaded.int.module.state", slog.LevelWarn,
				"Invalid custom module type '"+python.Str(kind)+"', ignoring")
			continue
		}
		if _, err := s.call.Call(name, nil, payload.M("saltenv", s.opts.Value("saltenv"))); err != nil {
			return err
		}
	}
	return nil
}
