package pillar

import (
	"os"
	"path/filepath"
	"testing"

	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// TestPassed: what Salt 3008.3 makes of pass_to_ext_pillars (RemotePillarMixin.get_ext_pillar_extra_minion_data).
func TestPassed(t *testing.T) {
	load := func(text string) any {
		v, err := pyjson.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	opts := load(
		`{"a": {"b": {"c": [1, 2]}, "d": "x", "e": null}, "l": [1], "t": "text", "n": {"m": {"k": 1, "j": 2}}, "z": 0}`).(*payload.Map)
	for _, tt := range [][2]string{
		{`[]`, `{}`}, {`["t"]`, `{"t": "text"}`}, {`["a:b"]`, `{"a": {"b": {"c": [1, 2]}}}`},
		{`["a:b:c", "a:d"]`, `{"a": {"b": {"c": [1, 2]}, "d": "x"}}`},
		{`["a:b:c", "a:b"]`, `{"a": {"b": {"c": [1, 2]}}}`},
		{`["a", "a:b:c"]`, `{"a": {"b": {"c": [1, 2]}, "d": "x", "e": null}}`}, {`["nosuch"]`, `{}`},
		{`["a:nosuch"]`, `{}`}, {`["nosuch:b"]`, `{}`}, {`["a:e"]`, `{"a": {"e": null}}`}, {`["a:e:f"]`, `{}`},
		{`["l", "l"]`, `{"l": [1]}`}, {`["n:m:k", "n:m:j"]`, `{"n": {"m": {"k": 1, "j": 2}}}`}, {`["z"]`, `{"z": 0}`},
		{`["z:y"]`, `{}`}, {`["a:b:c", "a:b:c"]`, `{"a": {"b": {"c": [1, 2]}}}`},
	} {
		if got, want := Passed(opts.Clone().Set("pass_to_ext_pillars", load(tt[0]))),
			load(tt[1]).(*payload.Map); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", tt[0], got, want)
		}
	}
	if got := opts.Map("a").Map("b").List("c"); len(got) != 2 {
		t.Errorf("the options themselves have become %v", opts)
	}
}

// TestKeepOnMinion: pillar_roots with that folder give the pillar back, and nobody else may read it.
func TestKeepOnMinion(t *testing.T) {
	dir := t.TempDir()
	data := payload.M("a", payload.M("b", []any{int64(1), "yes", nil}), "secret", "*x: [", "é", "{{ 1 }}")
	for range 2 {
		if err := KeepOnMinion(dir, "web*1", "", data); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "top.sls", "cache.sls"} {
		if info, err := os.Stat(filepath.Join(dir, "pillar", name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	opts := defaults(dir).Set("renderer", "yaml").Set("pillar_roots",
		payload.M("base", []any{filepath.Join(dir, "pillar")}))
	got, err := New(Options{Opts: opts}).Compile(t.Context(), Question{ID: "web*1"})
	if err != nil || !got.Equal(data) {
		t.Errorf("got %v, %v, want %v", got, err, data)
	}
	if err := KeepOnMinion(filepath.Join(dir, "pillar", "top.sls"), "web1", "", data); err == nil {
		t.Error("a file as the folder is no error")
	}
}
