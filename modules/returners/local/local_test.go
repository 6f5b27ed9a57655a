package local

import (
	"bytes"
	"errors"
	"testing"

	"brine/modules/modtest"
	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

func TestLocal(t *testing.T) {
	var out bytes.Buffer
	reg := returnertest.Registry(Module(returners.Options{Stdout: &out}))
	c := returnertest.Call(t, modtest.Env(t, nil))
	if err := errors.Join(returners.Return(c, reg, "local", payload.M("id", "web1", "return", true)),
		returners.Events(c, reg, "local", []any{payload.M("tag", "a")})); err != nil {
		t.Fatal(err)
	}
	if want := "{'id': 'web1', 'return': True}\n[{'tag': 'a'}]\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
