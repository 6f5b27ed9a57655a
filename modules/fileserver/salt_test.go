package fileserver

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// recorded is a tree, configurations, and what Salt 3008.3 answers: testdata/salt3008.json (generate.py), and
// minions3008.json (generate_minions.py).
type recorded struct {
	Tree    [][]string
	Configs []struct {
		Opts    map[string]any
		Answers [][]any // command, load, answer
	}
}

func load(t *testing.T, name string) (recorded, string) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var rec recorded
	if err := json.Unmarshal(packed, &rec); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rec.Tree {
		build(t, root, row)
	}
	return rec, root
}

// build makes a file, a directory or a link of the tree.
func build(t *testing.T, root string, row []string) {
	t.Helper()
	path := filepath.Join(root, row[1])
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch {
	case err != nil:
	case row[0] == "dir":
		err = os.MkdirAll(path, 0o755)
	case row[0] == "file":
		if err = os.WriteFile(path, []byte(row[2]), 0o644); err == nil {
			err = os.Chmod(path, 0o644)
		}
	default:
		err = os.Symlink(strings.ReplaceAll(row[2], "$R", root), path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// configured is a server with options of a master's file.
func configured(t *testing.T, opts map[string]any, root string) *Server {
	t.Helper()
	ro := RootsOptions{Envs: map[string][]string{}, FollowSymlinks: true, ListTime: 20 * time.Second}
	for env, dirs := range opts["file_roots"].(map[string]any) {
		ro.Envs[env] = []string{}
		for _, dir := range dirs.([]any) {
			ro.Envs[env] = append(ro.Envs[env], strings.ReplaceAll(dir.(string), "$R", root))
		}
	}
	if v, ok := opts["fileserver_followsymlinks"]; ok {
		ro.FollowSymlinks = v.(bool)
	}
	ro.IgnoreSymlinks = opts["fileserver_ignoresymlinks"] == true
	ro.IgnoreRegex, ro.IgnoreGlob = words(opts["file_ignore_regex"]), words(opts["file_ignore_glob"])
	roots, err := NewRoots(ro)
	if err != nil {
		t.Fatal(err)
	}
	so := Options{Backends: []Backend{roots}, HashType: "sha256", Buffer: 1 << 20}
	if v, ok := opts["hash_type"].(string); ok {
		so.HashType = v
	}
	if v, ok := opts["file_buffer_size"].(float64); ok {
		so.Buffer = int(v)
	}
	s, err := New(so)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func words(v any) (out []string) {
	list, _ := v.([]any)
	for _, w := range list {
		out = append(out, w.(string))
	}
	return out
}

// TestAnswersAsSalt asks what Salt was asked.
func TestAnswersAsSalt(t *testing.T) {
	rec, root := load(t, "salt3008.json")
	n := 0
	for i, config := range rec.Configs {
		s := configured(t, config.Opts, root)
		for _, row := range config.Answers {
			cmd, asked := "_"+row[0].(string), row[1].(map[string]any)
			reply, ok, err := s.Answer(cmd, fromJSON(asked).(*payload.Map))
			if !ok {
				t.Fatalf("no command %s", cmd)
			}
			got := shown(t, reply, asked, root)
			if err != nil {
				got = map[string]any{"raised": err.Error()}
			}
			if unlikeSalt(asked, row[2]) {
				continue
			}
			if want, raised := row[2].(map[string]any); raised && want["raised"] != nil && err != nil {
				continue
			}
			if diff := cmp.Diff(row[2], got); diff != "" {
				t.Errorf("configuration %d, %s %v (-Salt +brine)\n%s", i, cmd, asked, diff)
			}
			n++
		}
	}
	if n < 1500 {
		t.Errorf("only %d answers were compared", n)
	}
}

// unlikeSalt names the two cases that are answered otherwise. A file of another environment, named behind a question
// mark, is found by Salt, and then served without its content. A path with a NUL in it makes it fail where it reads
// links.
func unlikeSalt(asked map[string]any, answer any) bool {
	path, _ := asked["path"].(string)
	reply, _ := answer.(map[string]any)
	return reply["data"] == "" && reply["dest"] != "" && strings.Contains(path, "saltenv=") ||
		reply["raised"] == "ValueError" && strings.Contains(path, "\x00")
}

func fromJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := payload.NewMap(len(v))
		for k, item := range v {
			out.Set(k, fromJSON(item))
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, fromJSON(item))
		}
		return out
	case float64:
		return int64(v)
	}
	return v
}

// shown is an answer in the words of the generator.
func shown(t *testing.T, v any, asked map[string]any, root string) any {
	t.Helper()
	switch v := v.(type) {
	case []byte:
		if asked["gzip"] != nil && len(v) > 0 {
			r, err := gzip.NewReader(bytes.NewReader(v))
			if err != nil {
				t.Fatal(err)
			}
			if v, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		return map[string]any{"base64": base64.StdEncoding.EncodeToString(v)}
	case string:
		return strings.ReplaceAll(v, root, "$R")
	case *payload.Map:
		out := map[string]any{}
		for k, item := range v.All() {
			out[k.(string)] = shown(t, item, asked, root)
		}
		return out
	case []any:
		if len(v) == 10 {
			if mode, ok := v[0].(int64); ok {
				return []any{float64(mode), float64(v[6].(int64))}
			}
		}
		out := []any{}
		for _, item := range v {
			out = append(out, shown(t, item, asked, root))
		}
		return out
	case int, int64:
		var f float64
		_, _ = fmt.Sscan(fmt.Sprint(v), &f)
		return f
	}
	return v
}
