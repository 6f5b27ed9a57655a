package pillar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/renderers/saltyaml"
	"brine/modules/text/dicts"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// Passed is what a minion tells external pillars of its own options: those that pass_to_ext_pillars names, NAME or
// NAME:BELOW, each where it stands. A name that there is not gives nothing. Source: salt/pillar/__init__.py,
// RemotePillarMixin.
func Passed(opts *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for _, name := range opts.List("pass_to_ext_pillars") {
		text, _ := name.(string)
		path := strings.Split(text, ":")
		v, ok := below(opts, path)
		if !ok {
			continue
		}
		v = dicts.Clone(v)
		for i := len(path) - 1; i > 0; i-- {
			v = payload.M(path[i], v)
		}
		dicts.Update(out, payload.M(path[0], v), true)
	}
	return out
}

// KeepOnMinion writes the pillar of a minion to files of a folder of their own, as pillar_roots may name it (option
// minion_pillar_cache): cache.sls, and a top.sls that gives it to that minion in its environment, "" for base. Nobody
// but the owner may read them. Source: salt/minion.py, SMinion.
func KeepOnMinion(cacheDir, id, saltenv string, data *payload.Map) error {
	if saltenv == "" {
		saltenv = "base"
	}
	dir := filepath.Join(cacheDir, "pillar")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the pillar: %w", err)
	}
	if data == nil {
		data = payload.NewMap(0)
	}
	for name, v := range map[string]any{"cache.sls": data, "top.sls": payload.M(saltenv,
		payload.M(id, []any{"cache"}))} {
		if err := wholefile.Write(filepath.Join(dir, name), []byte(saltyaml.Dump(v)), wholefile.Options{}); err != nil {
			return fmt.Errorf("keep the pillar: %w", err)
		}
	}
	return nil
}
