package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/wire/payload"
)

// templatesConf has pillars that never end, use up memory, inspect the machine and run a program, and rules for
// events. ROOT is the directory of the site.
const templatesConf = `log_level: trace
pillar_cache: True
pillar_roots: {base: [ROOT/pillar]}
ext_pillar:
  - cmd_yaml: 'ROOT/program %s'
  - stack: ROOT/stack.cfg
reactor: [{'my/*': [ROOT/react.sls]}]
file_roots: {base: [ROOT/srv]}
`

// templatesTree are its files. Each uses data of minions (grains, events) as a value.
var templatesTree = map[string]string{
	"pillar/top.sls": "base:\n  'loops*': [loops]\n  'eats*': [eats]\n  'looks*': [looks]\n  honest: [secret]\n",
	"pillar/loops.sls": "{% for i in range(90000) %}{% for j in range(90000) %}{% for k in range(90000) %}{% endfor " +
		"%}{% endfor %}{% endfor %}\na: 1\n",
	"pillar/eats.sls": "{% set x = namespace(a='aaaaaaaaaaaaaaaa') %}{% for i in range(100) %}{% set x.a = x.a ~ " +
		"x.a %}{% endfor %}\na: 1\n",
	"pillar/looks.sls": "own: {{ grains.own | json }}\nplain: {{ 'ROOT/srv/plain' | file_hashsum }}\nempty: {{ " +
		"'ROOT/srv/empty' | is_empty }}\ntext: {{ 'ROOT/srv/plain' | is_text_file }}\n" +
		"list: {{ 'ROOT/srv' | list_files | length }}\nroot: {{ 'root' | get_uid }}\nsh: {{ 'sh' | which }}\n",
	"pillar/pipe.sls":   "x: {{ 'ROOT/pipe' | is_text_file }}\n",
	"pillar/secret.sls": "password: " + pillarSecret + "\n",
	"program":           "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >>ROOT/argv\necho 'asked: True'\n",
	"stack.cfg":         "ROOT/stack.yml\n",
	"stack.yml":         "stacked: {{ 'ROOT/srv/plain' | file_hashsum }}\n",
	"srv/plain":         "plain",
	"srv/empty":         "",
	"react.sls": "say:\n  local.test.arg:\n    - tgt: " + honest +
		"\n    - args:\n      - tag: {{ tag | json }}\n      - data: {{ data | json }}\n",
}

const (
	pillarSecret = "Pillar-Secret-Word"
	command      = "{{ salt['cmd.run']('touch ROOT/owned') }}"
)

// newTemplates starts a master with these files, and the honest minion.
func newTemplates(t *testing.T) *site {
	t.Helper()
	s := newBareSite(t, "")
	s.master.stop()
	fill := strings.NewReplacer("ROOT", s.root)
	for name, text := range templatesTree {
		s.write(s.path(name), fill.Replace(text))
	}
	if err := os.Chmod(s.path("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.writeMaster(fill.Replace(templatesConf))
	s.startMaster()
	s.startMinion(honest, "minion_pillar_cache: True\nlog_level: trace\n")
	return s
}

// with is the pillar of a minion that claims these grains.
func (th *thief) with(grains *payload.Map) (*payload.Map, error) {
	ctx, cancel := context.WithTimeout(th.s.t.Context(), patience)
	defer cancel()
	return th.pillarBy(ctx, grains)
}

func (th *thief) pillarBy(ctx context.Context, grains *payload.Map) (*payload.Map, error) {
	return th.askPillar(ctx, payload.M("cmd", payload.CmdPillar, "id", th.id, "grains", grains.Set("id", th.id),
		"saltenv", "base", "pillarenv", nil, "ver", "2", "pillar_override", nil, "extra_minion_data", payload.M(),
		"clean_cache", true))
}

// TestPillarTemplates: pillars of thieves never end and use up memory while others are served. Each reports why
// it was given up, and the master's memory does not grow.
func TestPillarTemplates(t *testing.T) {
	s := newTemplates(t)
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	looks := s.thief("looks", nil)
	stop, end := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	var refused atomic.Int64
	for _, id := range []string{"loops1", "loops2", "eats1", "eats2"} {
		th := s.thief(id, nil)
		storm.Go(func() {
			for stop.Err() == nil {
				got, err := th.pillarBy(stop, payload.M("own", "x"))
				if text := wholly(got); stop.Err() == nil && (err != nil || !strings.Contains(text, "_errors")) {
					t.Errorf("the pillar of %s: %.300s, %v", id, text, err)
				}
				refused.Add(1)
			}
		})
	}
	for range 3 {
		s.good()
		begun := time.Now()
		if got, err := looks.with(payload.M("own", "x")); err != nil || !got.Has("plain") {
			t.Errorf("the pillar of another: %s, %v", wholly(got), err)
		}
		t.Logf("the pillar of another took %v", time.Since(begun))
	}
	s.eventually("pillars that are given up", func() error {
		if refused.Load() < 4 {
			return os.ErrNotExist
		}
		return nil
	})
	s.grown(before, 512<<20)
	end()
	storm.Wait()
	s.good()
}

// TestMachineFilters checks which data of the master's machine templates of pillars can see. Templates without
// functions see none. Pipes and devices delay no request, and data of a minion is no template.
func TestMachineFilters(t *testing.T) {
	s := newTemplates(t)
	fill := strings.NewReplacer("ROOT", s.root)
	th := s.thief("looks", nil)
	got, err := th.with(payload.M("own", fill.Replace(command)))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"own": fill.Replace(command),
		"plain": "a116c9ed46d6207734a43317d30fd88f52ac8634c37d904bbf4e41d865f90475", "empty": true, "text": true,
		"list": int64(3), "root": int64(0), "asked": true} {
		if fmt.Sprint(got.Value(key)) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", key, got.Value(key), want)
		}
	}
	if got.Has("stacked") || strings.Contains(wholly(got), "stacked") && !strings.Contains(wholly(got), "_errors") {
		t.Errorf("a template without functions looks at the machine: %s", wholly(got))
	}
	if err := syscall.Mkfifo(s.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.write(s.path("pillar/looks.sls"), fill.Replace(strings.Join([]string{"pipe: {{ 'ROOT/pipe' | is_text_file }}",
		"zero: {{ '/dev/zero' | is_text_file }}", "mem: {{ '/proc/self/mem' | is_bin_file }}"}, "\n")))
	got, err = th.with(payload.M("own", "x"))
	if err != nil || len(wholly(got)) == 0 {
		t.Errorf("pipes and devices: %v", err)
	}
	s.good()
	for _, path := range []string{s.path("owned"), s.path("m/owned")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("there is %s", path)
		}
	}
}

// TestMinionTexts: ids, grains, tags and data of events that look like shell commands and templates stay values
// everywhere.
func TestMinionTexts(t *testing.T) {
	s := newTemplates(t)
	fill := strings.NewReplacer("ROOT", s.root)
	const id = "looks;$(touch owned)`touch owned`|touch owned"
	th := s.thief(id, nil)
	if got, err := th.with(payload.M("own", fill.Replace(command))); err != nil ||
		got.Value("own") != fill.Replace(command) || got.Has("asked") {
		t.Errorf("the pillar: %s, %v", wholly(got), err)
	}
	if text := readText(t, s.path("argv")); !strings.Contains(text, "1|"+honest+"|") ||
		strings.Contains(text, "looks") {
		t.Errorf("the program is told %q", text)
	}
	e := s.listen()
	evil := fill.Replace(command)
	tag := "my/" + strings.ReplaceAll(evil, "/", "%2f") // a tag without slashes
	data := payload.M("x", evil, evil, []any{evil, "{% set x = 1 %}", "a: b\n- c", "\"}\n    - tgt: '*'\n", "${x}",
		"#!py\n"})
	th.must(payload.M("cmd", payload.CmdMinionEvent, "id", id, "events", []any{payload.M("tag", tag, "data", data)}))
	s.eventually("the reaction", func() error {
		for _, h := range e.all() {
			if !strings.Contains(h.tag, "/ret/"+honest) || h.data.Str("fun") != "test.arg" {
				continue
			}
			kw := h.data.Map("return").Map("kwargs")
			if kw.Str("tag") != tag || kw.Map("data").Str("x") != evil || len(kw.Map("data").List(evil)) != 6 ||
				kw.Map("data").List(evil)[3] != "\"}\n    - tgt: '*'\n" {
				t.Errorf("the job of the reaction has %s", wholly(h.data))
			}
			return nil
		}
		return os.ErrNotExist
	})
	trial := s.path("event.json")
	text, err := json.Marshal(map[string]any{"tag": "my/x", "data": map[string]any{"x": evil}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(trial, string(text))
	s.tool("brine", "reactor", "test", trial)
	s.good()
	for _, path := range []string{"owned", "/owned", s.path("owned"), s.path("m/owned"), s.path("etc/m/owned")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("there is %s", path)
		}
	}
}

// TestSecretsOfPillar: pillar data is in no log, on no bus, in no job, in no bundle, and nowhere on disk except
// in its cache, which only this user can read. Functions that show the whole pillar (pillar.raw, config.items)
// are not called, because they show it in Salt, too.
func TestSecretsOfPillar(t *testing.T) {
	t.Parallel() // it mostly waits
	s := newTemplates(t)
	e := s.listen()
	s.told("saltutil.refresh_pillar", payload.M("__kwarg__", true, "wait", true))
	for _, fun := range []string{"pillar.items", "pillar.ls", "pillar.obfuscate", "pillar.keys", "config.dot_vals",
		"grains.items"} {
		s.told(fun)
	}
	s.told("pillar.get", "password")
	s.told("pillar.item", "password")
	s.told("config.get", "nosuch")
	bundle := s.path("bundle.tgz")
	s.tool("brine", "bundle", bundle)
	s.tool("salt-run", "pillar.show_top", honest)
	s.good()
	secrets := []string{pillarSecret}
	for _, h := range e.all() {
		lookFor(t, "event "+h.tag, []byte(wholly(h.data)), secrets)
	}
	lookFor(t, "the bundle", unzipped(t, bundle), secrets)
	kept := 0
	for _, f := range s.files(".") {
		rel := strings.TrimPrefix(f, s.root+"/")
		if text := readText(t, f); strings.HasPrefix(rel, "pillar/") || !strings.Contains(text, pillarSecret) {
			continue
		}
		info, err := os.Stat(f)
		here := strings.Contains(rel, "pillar") || strings.HasSuffix(rel, "/minions/"+honest+"/data.p")
		if err != nil || info.Mode().Perm()&0o077 != 0 || !here {
			t.Errorf("%s holds it: %v", rel, err)
		}
		kept++
	}
	if kept == 0 {
		t.Error("it is kept nowhere, and was not there to be found")
	}
}
