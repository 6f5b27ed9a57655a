// Package returnertest is what the tests of returners share: brine's returners with the options of a minion, a real
// Salt to compare with, recorded values, servers. For tests only.
package returnertest

import (
	"testing"

	"brine/modules/execution/config"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// Config is an environment whose functions are those of the module config, in which returners find their options.
func Config(t testing.TB, opts *payload.Map) *loader.Env {
	env := modtest.Env(t, opts)
	env.Registry.Offer(loader.Listed{config.Module()})
	return env
}

// Call is a call in which returners find their options.
func Call(t testing.TB, env *loader.Env) *loader.Call {
	return loader.NewCall(t.Context(), env, "test.ping", nil)
}

// Registry holds these returners.
func Registry(modules ...loader.Module) *loader.Registry {
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed(modules))
	return reg
}

// Ret is a return.
func Ret() *payload.Map {
	return payload.M("id", "web1", "jid", "1", "fun", "test.ping", "return", payload.M("a", "ü", "b",
		[]any{int64(1), 2.5, nil, true}), "line", "one\ntwo")
}

// RetJSON is how Salt 3008.3 writes it, to files and to the system's log.
const RetJSON = `{"id": "web1", "jid": "1", "fun": "test.ping", "return": {"a": "ü", "b": [1, 2.5, null, true]}, "line": "one\ntwo"}`

// Store calls brine's returners with options of a minion or master.
type Store struct {
	t   *testing.T
	Env *loader.Env
	reg *loader.Registry
}

// New is a store with these returners.
func New(t *testing.T, opts *payload.Map, modules ...loader.Module) *Store {
	return &Store{t, Config(t, opts), Registry(modules...)}
}

// Try calls a function.
func (s *Store) Try(fun string, args ...any) (any, error) {
	f, ok := s.reg.Lookup(fun)
	if !ok {
		s.t.Fatalf("there is no %s", fun)
	}
	bound, err := loader.Bind(f, args, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return f.Run(Call(s.t, s.Env), bound)
}

// Call calls a function that must not fail.
func (s *Store) Call(fun string, args ...any) any {
	s.t.Helper()
	v, err := s.Try(fun, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", fun, err)
	}
	return v
}
