package master

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"brine/actors/master/targets"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/wire/auth"
	"brine/wire/payload"
)

// cmd makes the load of a command.
func cmd(name string, kv ...any) *payload.Map {
	m := payload.M("cmd", name)
	m.Update(payload.M(kv...))
	return m
}

// TestFileCommands: there are no files yet, and every command says so in its own form.
func TestFileCommands(t *testing.T) {
	m := newRig(t).minion("m1")
	for _, tt := range []struct {
		load *payload.Map
		want any
	}{
		{cmd("_file_envs"), []any{"base"}},
		{cmd("_file_list", "saltenv", "base", "prefix", ""), []any{}},
		{cmd("_file_list_emptydirs", "saltenv", "base"), []any{}},
		{cmd("_dir_list", "saltenv", "base"), []any{}},
		{cmd("_symlink_list", "saltenv", "base"), payload.NewMap(0)},
		{cmd("_file_find", "path", "x", "saltenv", "base"), payload.M("path", "", "rel", "")},
		{cmd("_file_hash", "path", "x", "saltenv", "base"), ""},
		{cmd("_file_hash_and_stat", "path", "x", "saltenv", "base"), []any{"", nil}},
		{cmd("_serve_file", "path", "x", "saltenv", "base", "loc", 0), payload.M("data", "", "dest", "")},
		{cmd("_serve_file"), payload.M("data", "", "dest", "")},
		{cmd("_master_tops", "opts", payload.M("id", "m1")), payload.NewMap(0)},
		{cmd("_ext_nodes", "opts", payload.M("id", "m1")), payload.NewMap(0)},
	} {
		t.Run(tt.load.Str("cmd"), func(t *testing.T) { equal(t, "answer", m.ask(tt.load), tt.want) })
	}
}

func TestMasterOpts(t *testing.T) {
	m := newRig(t, "file_roots: {base: [/a], dev: [/b]}", "nodegroups: {g: 'm1'}").minion("m1")
	env := m.ask(cmd("_master_opts", "env_only", true)).(*payload.Map)
	equal(t, "env_only", env, payload.M("file_roots", payload.M("base", []any{}, "dev", []any{}),
		"top_file_merging_strategy", "merge", "env_order", []any{}, "default_top", "base"))
	all := m.ask(cmd("_master_opts")).(*payload.Map)
	for _, k := range []string{"renderer", "failhard", "state_top", "nodegroups", "state_auto_order", "jinja_env",
		"jinja_trim_blocks"} {
		if !all.Has(k) {
			t.Errorf("no %s in %v", k, all.Keys())
		}
	}
	equal(t, "nodegroups", all.Value("nodegroups"), payload.M("g", "m1"))
}

func TestPillarKeepsGrains(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	load := cmd("_pillar", "grains", payload.M("os", "Debian"), "saltenv", nil, "pillarenv", nil, "pillar_override",
		payload.NewMap(0), "extra_minion_data", payload.NewMap(0), "ver", "2")
	frame, nonce, err := m.Seal(load)
	if err != nil {
		t.Fatal(err)
	}
	pillar, err := m.OpenPillar(m.do(frame), nonce)
	if err != nil || pillar.Len() != 0 {
		t.Errorf("got %v, %v", pillar, err)
	}
	data := ear.await("minion/refresh/m1")
	data.Delete("_stamp")
	equal(t, "refresh event", data, payload.M("Minion data cache refresh", "m1"))
	grains, err := r.m.stores.cache.Data(datacache.BankGrains, "m1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "cached grains", grains, payload.M("os", "Debian", "id", "m1"))
	if found, _ := r.m.core.targets.Meant(t.Context(), "os:Debian", "grain", targets.DefaultDelimiter,
		false); len(found.Minions) != 1 {
		t.Errorf("grain target finds %v", found)
	}
}

// TestPillarWithoutCache: minion_data_cache off keeps nothing and fires nothing.
func TestPillarWithoutCache(t *testing.T) {
	r := newRig(t, "minion_data_cache: false")
	m := r.minion("m1")
	ear := r.hear()
	frame, nonce, err := m.Seal(cmd("_pillar", "grains", payload.M("os", "Debian"), "ver", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.OpenPillar(m.do(frame), nonce); err != nil {
		t.Error(err)
	}
	m.ask(cmd("_register_resources", "resources", payload.NewMap(0)))
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); len(seen) > 0 {
		t.Errorf("events %q", seen)
	}
	if r.m.stores.cache.Contains(datacache.BankGrains, "m1") {
		t.Error("grains were kept")
	}
}

func TestRegisterResources(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "answer", m.ask(cmd("_register_resources", "resources", payload.M("ssh", []any{"a"}))), true)
	ear.await("resource/refresh/m1")
	equal(t, "without resources", m.ask(cmd("_register_resources")), payload.NewMap(0))
}

func TestMine(t *testing.T) {
	r := newRig(t)
	m1, m2 := r.minion("m1"), r.minion("m2")
	for _, id := range []string{"m1", "m2"} { // the expansion is strict: only minions with grains count
		if err := r.m.stores.cache.StoreGrains(id, payload.M("os", "Debian", "id", id)); err != nil {
			t.Fatal(err)
		}
	}
	rule := payload.M("__data__", "for m2", "__saltmine_acl__", 1, "allow_tgt", "m2", "allow_tgt_type", "glob")
	get := func(m *testMinion, tgt string, fun any) any {
		return m.ask(cmd("_mine_get", "tgt", tgt, "fun", fun, "tgt_type", "glob"))
	}
	equal(t, "mine", m1.ask(cmd("_mine", "data", payload.M("a", 1, "b", "x", "guarded", rule), "clear", false)), true)
	equal(t, "mine of m2", m2.ask(cmd("_mine", "data", payload.M("a", 2), "clear", false)), true)
	equal(t, "one function", get(m2, "*", "a"), payload.M("m1", 1, "m2", 2))
	equal(t, "list of one", get(m2, "*", []any{"a"}), payload.M("a", payload.M("m1", 1, "m2", 2)))
	equal(t, "comma list", get(m2, "m1", "a,b"), payload.M("a", payload.M("m1", 1), "b", payload.M("m1", "x")))
	equal(t, "nobody", get(m2, "zz", "a"), payload.NewMap(0))
	equal(t, "no such function", get(m2, "*", "zz"), payload.NewMap(0))
	equal(t, "guarded, for m2", get(m2, "*", "guarded"), payload.M("m1", "for m2"))
	equal(t, "guarded, for m1", get(m1, "*", "guarded"), payload.NewMap(0))
	equal(t, "guarded, for the runner", must(r.m.core.functions.MineGet(t.Context(), "*", "guarded", "glob")),
		payload.NewMap(0))
	equal(t, "for the runner", must(r.m.core.functions.MineGet(t.Context(), "*", "a", "glob")), payload.M("m1", 1, "m2",
		2))
	equal(t, "no fields", m1.ask(cmd("_mine")), payload.NewMap(0))
	equal(t, "merge", m1.ask(cmd("_mine", "data", payload.M("c", 3))), true)
	equal(t, "merged", get(m2, "m1", "a,c"), payload.M("a", payload.M("m1", 1), "c", payload.M("m1", 3)))
	equal(t, "delete", m1.ask(cmd("_mine_delete", "fun", "c")), true)
	equal(t, "deleted", get(m2, "m1", "c"), payload.NewMap(0))
	equal(t, "clear", m1.ask(cmd("_mine", "data", payload.M("d", 4), "clear", true)), true)
	equal(t, "cleared", get(m2, "m1", "a,d"), payload.M("d", payload.M("m1", 4)))
	equal(t, "flush", m1.ask(cmd("_mine_flush")), true)
	equal(t, "flushed", get(m2, "m1", "d"), payload.NewMap(0))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestMineGetOption: the master's mine_get limits who may ask for what.
func TestMineGetOption(t *testing.T) {
	r := newRig(t, "mine_get: {m2: ['a.*']}")
	m1, m2 := r.minion("m1"), r.minion("m2")
	if err := r.m.stores.cache.StoreGrains("m1", payload.M("id", "m1")); err != nil {
		t.Fatal(err)
	}
	m1.ask(cmd("_mine", "data", payload.M("abc", 1, "xyz", 2)))
	get := func(m *testMinion, fun string) any {
		return m.ask(cmd("_mine_get", "tgt", "*", "fun", fun, "tgt_type", "glob"))
	}
	equal(t, "allowed", get(m2, "abc"), payload.M("m1", 1))
	equal(t, "another function", get(m2, "xyz"), payload.NewMap(0))
	equal(t, "another minion", get(m1, "abc"), payload.NewMap(0))
	equal(t, "the runner", must(r.m.core.functions.MineGet(t.Context(), "*", "abc", "glob")), payload.NewMap(0))
}

func TestFileRecv(t *testing.T) {
	r := newRig(t, "file_recv: true", "file_recv_max_size: 1")
	m := r.minion("m1")
	push := func(loc int64, data any, path ...any) any {
		return m.ask(cmd("_file_recv", "path", path, "loc", loc, "data", data, "size", 3))
	}
	base := filepath.Join(r.cfg.CacheDir, "minions", "m1", "files")
	equal(t, "first piece", push(0, []byte("abc"), "d", "f"), true)
	equal(t, "second piece", push(3, []byte{0xff, 0}, "d", "f"), true)
	if got := r.read(filepath.Join(base, "d/f")); got != "abc\xff\x00" {
		t.Errorf("file holds %q", got)
	}
	equal(t, "again from the start", push(0, "new", "d", "f"), true)
	if got := r.read(filepath.Join(base, "d/f")); got != "new" {
		t.Errorf("file holds %q", got)
	}
	outside := filepath.Join(r.dir, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]any{{"..", "x"}, {"a", "..", "x"}, {"a", "../../../x"}, {"/etc", "x"}, {"/tmp/x"}, {},
		{""}, {"."}, {5}, {"a\x00b"}} {
		if got := push(0, "x", path...); got != false && got != "" {
			t.Errorf("path %q: got %v", path, got)
		}
	}
	if got := push(0, "x", "link", "x"); got != "" && got != false {
		t.Errorf("link: got %v", got)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
	equal(t, "negative loc", push(-1, "x", "f"), false)
	equal(t, "too big", push(0, bytes.Repeat([]byte("x"), 1<<20+1), "f"), false)
	equal(t, "too far", push(1<<20, "x", "f"), false)
	equal(t, "past the largest number", push(math.MaxInt64, "x", "far"), false)
	if _, err := os.Stat(filepath.Join(base, "far")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file at a place past the largest number: %v", err)
	}
	equal(t, "no data", m.ask(cmd("_file_recv", "path", []any{"f"}, "loc", 0)), false)
	equal(t, "path a text", m.ask(cmd("_file_recv", "path", "f", "loc", 0, "data", "x")), false)
}

// TestFileRecvOff: without file_recv nothing is stored.
func TestFileRecvOff(t *testing.T) {
	r := newRig(t)
	equal(t, "answer", r.minion("m1").ask(cmd("_file_recv", "path", []any{"f"}, "loc", 0, "data", "x")), false)
	if _, err := os.Stat(filepath.Join(r.cfg.CacheDir, "minions", "m1", "files")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
}

func TestMinionRunner(t *testing.T) {
	r := newRig(t, "peer_run: {m1: ['test.*'], 'm2': ['jobs.*']}")
	m1, m2 := r.minion("m1"), r.minion("m2")
	run := func(m *testMinion, fun string, args ...any) any {
		return m.ask(cmd("minion_runner", "fun", fun, "arg", args, "tmo", 5))
	}
	equal(t, "allowed", run(m1, "test.arg", "a", "1", "k=v"), payload.M("args", []any{"a", 1}, "kwargs",
		payload.M("k", "v")))
	equal(t, "function not allowed", run(m1, "jobs.list_jobs"), payload.NewMap(0))
	equal(t, "minion not allowed", run(m2, "test.arg"), payload.NewMap(0))
	equal(t, "no arg", m1.ask(cmd("minion_runner", "fun", "test.arg")), payload.NewMap(0))
	if got, ok := run(m1, "test.nosuch").(string); !ok || !bytes.Contains([]byte(got),
		[]byte("'test.nosuch' is not available.")) {
		t.Errorf("unknown function: got %v", got)
	}
}

// jobOf waits for the publication of the next job that is fired.
func (e *busEar) jobOf(fun string) string {
	e.t.Helper()
	for {
		tag, data := e.next()
		if data.Str("fun") == fun && len(tag) > len("salt/job/") && filepath.Base(tag) == "publish" {
			return data.Str("jid")
		}
	}
}

func (m *testMinion) giveBack(jid, fun string, value any) {
	m.r.t.Helper()
	equal(m.r.t, "answer to the return", m.ask(cmd("_return", "id", m.id, "jid", jid, "fun", fun, "fun_args", []any{},
		"return", value, "retcode", 0, "success", true)), nil)
}

func TestPeerPublish(t *testing.T) {
	r := newRig(t, "peer: {m1: ['test.*', 'publish.*', 'a.b']}", "nodegroups: {both: 'L@m1,m2'}")
	m1, m2 := r.minion("m1"), r.minion("m2")
	pub := func(m *testMinion, command, fun string, kv ...any) any {
		load := cmd(command, "fun", fun, "arg", []any{"x=1", 2}, "tgt", "m2", "tgt_type", "glob", "ret", "", "tmo", 5,
			"form", "clean")
		load.Update(payload.M(kv...))
		return m.ask(load)
	}
	ear := r.hear()
	got := pub(m1, "minion_pub", "test.echo").(*payload.Map)
	jid := got.Str("jid")
	equal(t, "minion_pub", got, payload.M("jid", jid, "minions", []any{"m2"}))
	load := ear.await("salt/job/" + jid + "/publish")
	equal(t, "typed arguments", load.Value("arg"), []any{2, payload.M("__kwarg__", true, "x", 1)})
	equal(t, "origin", load.Value("id"), "m1")

	equal(t, "not returned yet", m1.ask(cmd("pub_ret", "jid", jid)), payload.NewMap(0))
	m2.giveBack(jid, "test.echo", "hi")
	equal(t, "returned", m1.ask(cmd("pub_ret", "jid", jid)), payload.M("m2", payload.M("ret", "hi")))
	equal(t, "of another minion", m2.ask(cmd("pub_ret", "jid", jid)), payload.NewMap(0))
	equal(t, "unknown jid", m1.ask(cmd("pub_ret", "jid", "20200101000000000000")), "")
	equal(t, "jid that leads out", m1.ask(cmd("pub_ret", "jid", "../jobs.db")), payload.NewMap(0))
	equal(t, "no jid", m1.ask(cmd("pub_ret")), payload.NewMap(0))

	for _, tt := range []struct {
		name string
		m    *testMinion
		fun  string
		kv   []any
	}{
		{"function not allowed", m1, "cmd.run", nil}, {"minion not allowed", m2, "test.ping", nil},
		{"publish in publish", m1, "publish.publish", nil}, {"one of two not allowed", m1, "test.ping,cmd.run", nil},
		{"unknown nodegroup", m1, "test.ping", []any{"tgt", "zz", "tgt_type", "nodegroup"}},
		{"wildcard pillar", m1, "test.ping", []any{"tgt", "secret:*", "tgt_type", "pillar"}},
	} {
		if tt.name == "wildcard pillar" {
			if err := r.m.stores.cache.StoreGrains("m2", payload.M("id", "m2")); err != nil {
				t.Fatal(err)
			}
			if err := r.m.stores.cache.StorePillar("m2", "", payload.M("secret", "abc")); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, tt.name, pub(tt.m, "minion_pub", tt.fun, tt.kv...), payload.NewMap(0))
	}
	got = pub(m1, "minion_pub", "test.ping,test.echo", "tgt", "both", "tgt_type", "nodegroup", "arg",
		[]any{"", "a b"}).(*payload.Map)
	equal(t, "nodegroup", got.Value("minions"), []any{"m1", "m2"})
	load = ear.await("salt/job/" + got.Str("jid") + "/publish")
	equal(t, "functions", load.Value("fun"), []any{"test.ping", "test.echo"})
	equal(t, "their arguments", load.Value("arg"), []any{[]any{}, []any{"a", "b"}})
}

func TestPeerPublishWaits(t *testing.T) {
	r := newRig(t, "peer: {m1: ['test.*']}")
	m1, m2 := r.minion("m1"), r.minion("m2")
	for _, form := range []string{"clean", "full"} {
		ear := r.hear()
		answer := make(chan any, 1)
		go func() {
			frame, nonce, err := m1.Seal(cmd("minion_publish", "fun", "test.ping", "arg", []any{}, "tgt", "m2",
				"tgt_type", "glob", "ret", "", "timeout", 5, "form", form))
			if err != nil {
				answer <- err
				return
			}
			reply, err := m1.q.Do(testContext(t), frame)
			if err != nil {
				answer <- err
				return
			}
			v, err := m1.Open(reply, nonce)
			if err != nil {
				answer <- err
				return
			}
			answer <- v
		}()
		jid := ear.jobOf("test.ping")
		m2.giveBack(jid, "test.ping", true)
		got, _ := (<-answer).(*payload.Map)
		if form == "clean" {
			equal(t, "clean", got, payload.M("m2", true))
			continue
		}
		equal(t, "ret", got.Map("m2").Value("ret"), true)
		equal(t, "jid", got.Value("__jid__"), jid)
		equal(t, "retcode", got.Map("m2").Value("retcode"), 0)
	}
}

func TestRevokeAuth(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "answer", m.ask(cmd("revoke_auth")), true)
	equal(t, "act", ear.await("salt/key").Value("act"), "delete")
	if r.keyStore().Has(keys.Accepted, "m1") {
		t.Error("the key is still there")
	}
	if _, err := m.try(cmd("_file_envs")); !errors.Is(err, auth.ErrReauth) {
		t.Errorf("a request afterwards: %v", err)
	}
	if step := m.signIn(); step.Verdict != auth.Pending {
		t.Errorf("sign-in afterwards: %+v", step)
	}
}

func TestRevokeAuthForbidden(t *testing.T) {
	r := newRig(t, "allow_minion_key_revoke: false")
	m := r.minion("m1")
	got := m.ask(cmd("revoke_auth", "preserve_minion_cache", true)).(*payload.Map)
	equal(t, "cmd", got.Value("cmd"), "revoke_auth")
	if got.Has("tok") || !r.keyStore().Has(keys.Accepted, "m1") {
		t.Errorf("got %v", got)
	}
}
