package execution_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestDeclaredArguments: no function reads an argument it does not declare, as far as a call in an empty place gets.
// The functions that run programs are left to tests of their own.
func TestDeclaredArguments(t *testing.T) {
	t.Chdir(t.TempDir()) // some make a file that an argument names
	reg := execution.Machine{Version: "3008.3"}.Functions()
	for _, name := range reg.Names() {
		f, _ := reg.Lookup(name)
		if f.Module() == "cmd" {
			continue
		}
		dir := t.TempDir()
		opts := payload.M("id", "web1", "conf_file", filepath.Join(dir, "minion"), "cachedir", dir, "default_include",
			"minion.d/*.conf")
		env := modtest.Env(t, opts)
		env.Registry = reg
		(&modtest.Host{}).Attach(env)
		for _, word := range []any{"x", int64(0), payload.M("a", "b"), []any{"x"}} {
			if err := attempt(t, env, f, word); err != nil && strings.Contains(err.Error(), "does not declare") {
				t.Errorf("%s(%v): %v", name, word, err)
			}
		}
	}
}

// attempt calls a function with one value for all it requires, in a job that was killed.
func attempt(t *testing.T, env *loader.Env, f *loader.Func, word any) (err error) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	defer func() {
		if p := recover(); p != nil {
			t.Logf("%s(%v) panics: %v", f.Name, word, p)
		}
	}()
	kw := payload.NewMap(0)
	for _, p := range f.Params {
		if p.Required {
			kw.Set(p.Name, word)
		}
	}
	_, _, err = modtest.CallContext(ctx, t, env, f.Name, nil, kw)
	return err
}
