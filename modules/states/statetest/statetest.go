// Package statetest compares states with recorded answers of Salt 3008.3: record.py runs trees of states with Salt, and
// Compare runs them here. It also makes the minion that tests of states call functions of. For tests only.
package statetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"brine/config"
	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/pillar"
	"brine/wire/payload"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

// Minion is a masterless minion with files and options; dir is the directory in which its files are, with file roots
// base and dev, pillar root pillar, and w for what states write. ROOT in files and options is dir.
func Minion(t testing.TB, files, opts *payload.Map) (env *loader.Env, dir string) {
	t.Helper()
	dir = t.TempDir()
	texts := map[string]string{}
	if err := os.Mkdir(filepath.Join(dir, "w"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range files.All() {
		texts[path.(string)] = strings.ReplaceAll(text.(string), "ROOT", dir)
	}
	for path, text := range texts {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	grains := payload.M("id", "web1", "os", "Debian", "os_family", "Debian", "kernel", "Linux", "shell", "/bin/sh",
		"pythonversion", []any{int64(3), int64(11), int64(2), "final", int64(0)})
	own := payload.M("root_dir", dir, "cachedir", dir+"/cache", "id", "web1", "file_client", "local", "pillar_roots",
		payload.M("base", []any{dir + "/pillar"}), "file_roots",
		payload.M("base", []any{dir + "/base"}, "dev", []any{dir + "/dev"}))
	for key, v := range opts.All() {
		if key == any("grains") {
			grains.Update(v.(*payload.Map))
		} else {
			own.Set(key, v)
		}
	}
	text := strings.ReplaceAll(outputters.JSON(own), "ROOT", dir)
	if err := os.WriteFile(filepath.Join(dir, "minion"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	minion, err := config.LoadMinion(filepath.Join(dir, "minion"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return environment(t, minion.Raw.Clone().Set("local", true).Set("__cli", "salt-call"), grains), dir
}

// environment is what functions of a minion with options and grains are called in.
func environment(t testing.TB, opts, grains *payload.Map) *loader.Env {
	reg, states := loader.NewRegistry(), loader.NewRegistry()
	reg.Lacks(absent.Of(absent.Execution))
	reg.Offer(all.Execution())
	states.Lacks(absent.Of(absent.State))
	states.Offer(all.States())
	reg.Of(loader.Program{Version: "3008.3", States: states})
	env := &loader.Env{Registry: reg, ID: "web1", Opts: func() *payload.Map { return opts },
		Grains: func() *payload.Map { return grains }, Host: loader.Host{Log: &modtest.Log{}}}
	reg.On(env)
	states.On(env)
	source := pillar.NewOwn(env)
	env.Host.Secrets = source
	env.Pillar = sync.OnceValue(func() *payload.Map {
		v, err := source.Compile(t.Context(), loader.PillarQuery{})
		if err != nil {
			t.Error(err)
		}
		return v
	})
	return env
}

// Compare runs the trees of a file that record.py wrote, and compares each answer, what is below w, and what the
// command of look tells. Under the race detector some of the trees do. differs are trees, or "TREE step N" (from 1),
// that are not compared, with the reason: they are differences on purpose, which docs/differences.md tells.
func Compare(t *testing.T, file string, differs map[string]string) {
	t.Helper()
	once := &prepared{here: filepath.Dir(file)}
	for i, tree := range recorded(t, file) {
		if _, skip := differs[tree.Str("name")]; skip || i%everyNth != 0 {
			continue
		}
		t.Run(tree.Str("name"), func(t *testing.T) {
			t.Parallel()
			once.directory(t, tree.List("once"))
			private := func(key string) []string { return payload.Texts(tree.List(key)) }
			if alone(t, private("overlay"), private("fresh"), once.dir) {
				compareTree(t, tree, once.dir, differs)
			}
		})
	}
	t.Cleanup(once.remove)
}

func recorded(t *testing.T, file string) (out []*payload.Map) {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(packed, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		v, err := pyjson.Load(string(row))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v.(*payload.Map))
	}
	return out
}

func compareTree(t *testing.T, tree *payload.Map, once string, differs map[string]string) {
	tree = in(tree, once)
	env, dir := Minion(t, tree.Map("files"), tree.Map("opts"))
	for _, command := range tree.List("setup") {
		shell(t, dir, command.(string))
	}
	answers, at := tree.List("answers"), 0
	ctx := environ.With(t.Context()) // environ.setval counts for the steps after it
	for _, v := range tree.List("steps") {
		step := v.(string)
		if command, isShell := strings.CutPrefix(step, "sh "); isShell {
			shell(t, dir, command)
			continue
		}
		want := steady(answers[at]).(*payload.Map)
		at++
		got := answerOf(ctx, t, env, dir, step)
		if look := tree.Str("look"); look != "" {
			got.Set("look", strings.ReplaceAll(shell(t, dir, look), dir, "ROOT"))
		}
		if once != "" {
			got, want = replaced(got, once, "ONCE").(*payload.Map), replaced(want, once, "ONCE").(*payload.Map)
		}
		if _, skip := differs[fmt.Sprint(tree.Str("name"), " step ", at)]; skip {
			continue
		}
		if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
			t.Errorf("step %d, %s (-Salt +brine)\n%s", at, step, diff)
		}
	}
}

// shell runs a command in the directory of a tree.
func shell(t testing.TB, dir, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command, "ROOT", dir))
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // a command may fail, as it may where Salt is recorded
	return string(out)
}

// answerOf makes the call of a step, and gives what record.py keeps of it.
func answerOf(ctx context.Context, t *testing.T, env *loader.Env, dir, step string) *payload.Map {
	t.Helper()
	fun, args, kw := parsed(strings.ReplaceAll(step, "ROOT", dir))
	v, code, err := modtest.CallContext(ctx, t, env, fun, args, kw)
	out := payload.M("step", step)
	if err != nil {
		class := loader.ClassOf(err)
		out.Set("raised", class[strings.LastIndexByte(class, '.')+1:]).Set("text", loader.Message(err))
	} else {
		out.Set("return", v)
	}
	out.Set("retcode", int64(code)).Set("tree", listing(t, filepath.Join(dir, "w")))
	text, _ := outputters.DumpJSON(out, outputters.JSONOptions{})
	v, err = pyjson.Load(strings.ReplaceAll(text, dir, "ROOT"))
	if err != nil {
		t.Fatal(err)
	}
	return steady(v).(*payload.Map)
}

// lines is a value as JSON with sorted keys inside the return of each state, and of other functions, whose order
// differs from function to function in Salt, or is that of a set; the order of the states counts.
func lines(answer *payload.Map) []string {
	out := answer.Clone()
	if ret, ok := answer.Value("return").(*payload.Map); ok && isOtherCall(answer.Str("step")) {
		out.Set("return", sortedKeys(ret))
	} else if ok {
		sorted := payload.NewMap(ret.Len())
		for key, v := range ret.All() {
			sorted.Set(key, sortedKeys(v))
		}
		out.Set("return", sorted)
	}
	out.Set("tree", sortedKeys(answer.Value("tree")))
	final := payload.NewMap(0)
	for _, key := range []string{"step", "raised", "text", "return", "retcode", "tree", "look"} {
		if v, ok := out.Get(key); ok {
			final.Set(key, v)
		}
	}
	text, _ := outputters.DumpJSON(final, outputters.JSONOptions{Indent: 1})
	return strings.Split(text, "\n")
}

// isOtherCall tells whether a step calls a function that runs no states.
func isOtherCall(step string) bool {
	return strings.HasPrefix(step, "call ") && !strings.HasPrefix(step, "call state.")
}

func sortedKeys(v any) any {
	if list, ok := v.([]any); ok {
		out := make([]any, len(list))
		for i, item := range list {
			out[i] = sortedKeys(item)
		}
		return out
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return v
	}
	keys := payload.Texts(m.Keys())
	slices.Sort(keys)
	out := payload.NewMap(len(keys))
	for _, key := range keys {
		out.Set(key, sortedKeys(m.Value(key)))
	}
	return out
}
