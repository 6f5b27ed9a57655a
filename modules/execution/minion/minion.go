// Package minion is the function list of the execution module minion: the keys of minions on a machine that is a master
// too. The functions that end or restart the minion are not there. It answers to salt/modules/minion.py.
package minion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module minion.
func Module() loader.Module {
	return loader.Module{File: "minion", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("list", list,
				"List the minions whose keys are accepted, pending, rejected and denied: what salt-key -L shows.",
				"salt 'master' minion.list").Named("list_"),
		}
	}}
}

// list goes by the minion's directory of keys, with master in the place of minion.
func list(c *loader.Call, _ struct{}) (*payload.Map, error) {
	dir := strings.ReplaceAll(python.Str(c.Opts().Value("pki_dir")), "minion", "master")
	out := payload.NewMap(4)
	for _, status := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected, keys.Denied} {
		names := []string{}
		entries, err := os.ReadDir(filepath.Join(dir, string(status)))
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(dir, string(status), e.Name()))
			if err == nil && info.Mode().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				names = append(names, e.Name())
			}
		}
		if err != nil {
			names = nil // the directory is not there
		}
		slices.SortStableFunc(names, func(a, b string) int {
			return strings.Compare(strings.ToLower(a), strings.ToLower(b))
		})
		out.Set(string(status), anyOf(names))
	}
	return out, nil
}

func anyOf(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
