package master

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"brine/modules/pillar"
	"brine/wire/payload"
)

// asSalt is one row of testdata/functions.json.
type asSalt struct{ Template, Pillar, Reaction, Own string }

func loadAsSalt(t *testing.T) []asSalt {
	t.Helper()
	raw, err := os.ReadFile("testdata/functions.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []asSalt
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 55 {
		t.Fatalf("%d rows are too few", len(rows))
	}
	return rows
}

// captured is a template whose one value is the text of another one.
func captured(template string) string {
	return "#!jinja|json\n{% set out %}" + template + "{% endset %}{\"v\": {\"local.test.arg\": [{\"tgt\": " +
		"\"nobody\"}, {\"arg\": [{{ out | tojson }}]}]}}\n"
}

// capturedText is that text.
func capturedText(m *payload.Map) string {
	for _, v := range m.List("local.test.arg") {
		if arg, _ := v.(*payload.Map); len(arg.List("arg")) == 1 {
			return arg.List("arg")[0].(string)
		}
	}
	return ""
}

// TestFunctionsAsSalt: what reaches the master does so from a pillar and from a reaction, and gives what Salt 3008.3
// gives there.
func TestFunctionsAsSalt(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, "id: m_master", "timeout: 1", "gather_job_timeout: 1",
		"file_roots: {base: ["+dir+"/srv], dev: [], qa: []}",
		"pillar_roots: {base: ["+dir+"/pillar]}", "reactor: [{'x': ['salt://nothing.sls']}]")
	r.writeFile(dir+"/srv/a.txt", "a\n", 0o644)
	r.writeFile(dir+"/pillar/top.sls", "base:\n  web1: [p]\n  db1: [fixed]\n", 0o644)
	r.writeFile(dir+"/pillar/fixed.sls", "fixed: 1\n", 0o644)
	for _, id := range []string{"web1", "db1"} {
		r.accept(id, string(r.rsa["web1"].Public))
		cache := r.m.stores.cache
		if err := errors.Join(cache.StoreGrains(id, payload.M("id", id)),
			cache.StoreMine(id, payload.M("test.ping", true))); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range loadAsSalt(t) {
		if strings.Contains(row.Template, "__cli") {
			continue // the program of the recording
		}
		r.writeFile(dir+"/pillar/p.sls", captured(row.Template), 0o644)
		before := len(r.log.Lines())
		got, err := r.m.core.functions.Compile(testContext(t), pillar.Question{ID: "web1",
			Grains: payload.M("id", "web1")})
		if err != nil {
			t.Fatal(err)
		}
		text := capturedText(got.Map("v"))
		for _, line := range r.log.Lines()[before:] {
			if strings.HasPrefix(line, "ERROR Rendering SLS ") {
				text += line
			}
		}
		alike(t, "pillar", row.Template, text, row.Pillar)

		r.writeFile(dir+"/react.sls", captured(row.Template), 0o644)
		text = ""
		engine := r.m.core.reactions.Engine(false, func(_ slog.Level, _ string, err error) { text += fmt.Sprint(err) })
		chunks, _ := engine.Chunks(testContext(t), "x", payload.NewMap(0), []any{dir + "/react.sls"})
		for _, c := range chunks {
			text += capturedText(payload.M("local.test.arg", []any{c}))
		}
		alike(t, "reaction", row.Template, text, row.Reaction)
	}
}

// alike compares a value, or what the log tells of an error, with that of Salt: of an error its first line, of a text
// with a traceback what stands before it.
func alike(t *testing.T, where, template, got, want string) {
	t.Helper()
	first := func(text string) string {
		line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return line
	}
	want = strings.NewReplacer("m.pem", "master.pem", "m.pub", "master.pub").Replace(want)
	wanted, failed := strings.CutPrefix(want, "error SaltRenderError: ")
	cut := strings.HasSuffix(want, "Traceback") || strings.HasPrefix(want, "\nPassed invalid arguments")
	switch {
	case failed && strings.Contains(got, first(wanted)):
	case !failed && cut && strings.HasPrefix(strings.TrimSpace(got), first(want)):
	case !failed && !cut && got == want:
	default:
		t.Errorf("%s %s\n got %s\nwant %s", where, template, got, want)
	}
}
