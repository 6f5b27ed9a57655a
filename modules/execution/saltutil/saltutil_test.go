package saltutil_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/execution/saltutil"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
	"brine/wire/python"
)

const ownJID = "20261121000000000001" // modtest.Call runs under it

func job(jid, fun string) *payload.Map { return payload.M("pid", int64(7), "jid", jid, "fun", fun) }

// newEnv is a minion with the module saltutil and these functions.
func newEnv(t *testing.T, opts *payload.Map, funcs ...loader.Func) *loader.Env {
	t.Helper()
	env := modtest.Env(t, opts, funcs)
	env.Registry.Offer(loader.Listed{saltutil.Module()})
	return env
}

func TestJobs(t *testing.T) {
	a, b, multi := job("1", "test.sleep"), job("2", "state.apply"), payload.M("jid", "3", "fun",
		[]any{"x.y", "test.ping"})
	host := &modtest.Host{Jobs: []*payload.Map{a, job(ownJID, "saltutil.running"), b, multi}}
	env := newEnv(t, payload.M("cachedir", t.TempDir()))
	host.Attach(env)
	for _, tt := range []struct {
		fun  string
		args []any
		want any
	}{
		{"saltutil.running", nil, []any{a, b, multi}},
		{"saltutil.is_running", []any{"test.*"}, []any{a, multi}},
		{"saltutil.is_running", []any{"nope"}, []any{}},
		{"saltutil.find_job", []any{"2"}, b},
		{"saltutil.find_job", []any{"9"}, payload.NewMap(0)},
		{"saltutil.find_job", []any{ownJID}, payload.NewMap(0)},
		{"saltutil.term_job", []any{"1"}, "Signal 15 sent to job 1 at pid 7"},
		{"saltutil.kill_job", []any{"1"}, "Signal 9 sent to job 1 at pid 7"},
		{"saltutil.kill_job", []any{"9"}, ""},
		{"saltutil.kill_job", []any{ownJID}, ""},
		{"saltutil.signal_job", []any{"1", "10"}, "Signal 10 sent to job 1 at pid 7"},
		{"saltutil.term_all_jobs", nil, []any{"Signal 15 sent to job 1 at pid 7", "Signal 15 sent to job 2 at pid 7",
			"Signal 15 sent to job 3 at pid 7"}},
	} {
		got, _, err := modtest.Call(t, env, tt.fun, tt.args, nil)
		if err != nil || !payload.Equal(got, tt.want) {
			t.Errorf("%s %v: got %v %v, want %v", tt.fun, tt.args, got, err, tt.want)
		}
	}
}

func TestQueuedJob(t *testing.T) {
	dir := t.TempDir()
	queue := filepath.Join(dir, "queues", "salt", "job_queue")
	b, err := payload.MarshalBin(payload.M("fun", "test.sleep", "jid", "55"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(queue, 0o755), os.WriteFile(filepath.Join(queue, "queued_1_55.p"), b, 0o600),
		os.WriteFile(filepath.Join(queue, "queued_2_56.p"), []byte{0xc1}, 0o600)); err != nil {
		t.Fatal(err)
	}
	env := newEnv(t, payload.M("cachedir", dir))
	got, _, err := modtest.Call(t, env, "saltutil.find_job", []any{"55"}, nil)
	want := payload.M("fun", "test.sleep", "jid", "55", "pid", int64(0), "queued", true, "queue_type", "job_queue")
	if err != nil || !payload.Equal(got, want) {
		t.Errorf("got %v %v", got, err)
	}
	if got, _, _ := modtest.Call(t, env, "saltutil.find_job", []any{"56"}, nil); got.(*payload.Map).Len() != 0 {
		t.Errorf("a damaged file: %v", got)
	}
}

// TestProcDir reads proc files of a live process that looks like Salt, of a dead one and of one that does not.
func TestProcDir(t *testing.T) {
	dir := t.TempDir()
	proc := filepath.Join(dir, "proc")
	if err := os.Mkdir(proc, 0o755); err != nil {
		t.Fatal(err)
	}
	salt := start(t, "-c", "sleep 60; : salt-minion")
	other := start(t, "-c", "sleep 60; :")
	write := func(name string, data []byte) string {
		path := filepath.Join(proc, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pack := func(jid string, pid int) []byte {
		b, err := payload.Marshal(payload.M("pid", int64(pid), "jid", jid, "fun", "test.sleep"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	live := write("1", pack("1", salt))
	stale := []string{write("2", nil), write("3", pack("3", other)), write("4", pack("4", 1<<22+5))}
	own := write("5", pack("5", os.Getpid()))
	env := newEnv(t, payload.M("cachedir", dir))
	got, _, err := modtest.Call(t, env, "saltutil.running", nil, nil)
	if jobs, ok := got.([]any); err != nil || !ok || len(jobs) != 1 || jobs[0].(*payload.Map).Str("jid") != "1" {
		t.Fatalf("running: %v %v", got, err)
	}
	for _, path := range stale {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", filepath.Base(path))
		}
	}
	for _, path := range []string{live, own} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	pidFile := filepath.Join(dir, "minion.pid")
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(salt)), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := newEnv(t, payload.M("cachedir", dir, "pidfile", pidFile))
	got, _, err = modtest.Call(t, inside, "saltutil.kill_job", []any{"1"}, nil)
	if text, ok := got.(string); err != nil || !ok || !strings.Contains(text, "inside the minion") ||
		syscall.Kill(salt, 0) != nil {
		t.Errorf("kill_job of a job inside the minion: %v %v", got, err)
	}
	got, _, err = modtest.Call(t, env, "saltutil.kill_job", []any{"1"}, nil)
	if want := fmt.Sprintf("Signal 9 sent to job 1 at pid %d", salt); err != nil || got != want {
		t.Errorf("kill_job: %v %v", got, err)
	}
}

// start runs a shell that lives until it is killed or the test ends, and waits until it has a child.
func start(t *testing.T, args ...string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func TestRefresh(t *testing.T) {
	for _, tt := range []struct {
		fun  string
		args []any
		kw   *payload.Map
		tag  string
		data *payload.Map
		want any
	}{
		{"saltutil.refresh_modules", nil, nil, "module_refresh", payload.NewMap(0), true},
		{"saltutil.refresh_modules", nil, payload.M("async", false), "module_refresh", payload.M("notify", true), true},
		{"saltutil.refresh_grains", nil, nil, "pillar_refresh", payload.M("clean_cache", false), true},
		{"saltutil.refresh_grains", nil, payload.M("refresh_pillar", false), "module_refresh", payload.NewMap(0), true},
		{"saltutil.refresh_grains", nil, payload.M("clean_pillar_cache", true), "pillar_refresh",
			payload.M("clean_cache", true), true},
		{"saltutil.refresh_pillar", nil, nil, "pillar_refresh", payload.M("clean_cache", true), true},
		{"saltutil.pillar_refresh", nil, payload.M("clean_cache", false), "pillar_refresh", payload.M("clean_cache",
			false),
			true},
		{"saltutil.refresh_pillar", []any{true}, nil, "pillar_refresh", payload.M("clean_cache", true), true},
		{"saltutil.refresh_beacons", nil, nil, "beacons_refresh", payload.NewMap(0), true},
		{"saltutil.refresh_matchers", nil, nil, "matchers_refresh", payload.NewMap(0), true},
		{"saltutil.refresh_resources", nil, nil, "resource_refresh", payload.NewMap(0), true},
		{"saltutil.sync_modules", nil, nil, "module_refresh", payload.NewMap(0), []any{}},
		{"saltutil.sync_beacons", nil, nil, "beacons_refresh", payload.NewMap(0), []any{}},
		{"saltutil.sync_grains", nil, nil, "pillar_refresh", payload.M("clean_cache", false), []any{}},
		{"saltutil.sync_engines", nil, nil, "", nil, []any{}},
		{"saltutil.sync_sdb", nil, nil, "", nil, []any{}},
	} {
		t.Run(tt.fun, func(t *testing.T) {
			host := &modtest.Host{Reply: payload.M("complete", true)}
			dir := t.TempDir()
			env := newEnv(t, payload.M("cachedir", dir, "extension_modules", filepath.Join(dir, "extmods"),
				"file_client",
				"remote"))
			host.Attach(env)
			got, _, err := modtest.Call(t, env, tt.fun, tt.args, tt.kw)
			if err != nil || !payload.Equal(got, tt.want) {
				t.Errorf("got %v %v", got, err)
			}
			events := host.Events()
			if tt.tag == "" {
				if len(events) > 0 {
					t.Errorf("fired %v", events)
				}
				return
			}
			if len(events) != 1 || events[0].Str("bus") != "local" || events[0].Str("tag") != tt.tag ||
				!payload.Equal(events[0].Value("data"), tt.data) {
				t.Errorf("fired %v", events)
			}
		})
	}
}

func TestRefreshWaits(t *testing.T) {
	host, log := &modtest.Host{}, &modtest.Log{}
	env := newEnv(t, nil)
	host.Attach(env)
	env.Host.Log = log
	if _, _, err := modtest.Call(t, env, "saltutil.refresh_pillar", []any{true, 0.01}, nil); err != nil {
		t.Fatal(err)
	}
	if e := host.Events(); len(e) != 1 ||
		e[0].Map("preload").Str("answer") != "/salt/minion/minion_pillar_refresh_complete" {
		t.Errorf("events %v", e)
	}
	if l := log.Lines(); len(l) != 1 || l[0] != "WARN Pillar refresh did not complete within timeout 0.01" {
		t.Errorf("log %q", l)
	}
}

// TestSync: modules come into extension_modules as with Salt, changed ones again, those that are gone go, and the log
// says which of them brine cannot load.
func TestSync(t *testing.T) {
	srv, dir := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(srv, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("_modules/one.py", "1")
	put("_modules/deep/two.py", "2")
	put("_modules/readme.txt", "no module")
	put("_proxy/far.py", "3")
	put("_states/s.py", "4")
	put("_output/shown.so", "5")
	log := &modtest.Log{}
	env := newEnv(t, payload.M("cachedir", dir, "extension_modules", filepath.Join(dir, "extmods"), "file_client",
		"local", "hash_type", "sha256", "file_buffer_size", 1000,
		"file_roots", payload.M("base", []any{srv}), "clean_dynamic_modules", true, "extmod_blacklist",
		payload.M("states", []any{"s"})))
	(&modtest.Host{Reply: payload.NewMap(0)}).Attach(env)
	env.Host.Log = log
	run := func(fun string, kw *payload.Map, want any) {
		t.Helper()
		got, _, err := modtest.Call(t, env, "saltutil."+fun, nil, kw)
		if err != nil || !payload.Equal(got, want) {
			t.Errorf("%s: %v, %v", fun, got, err)
		}
	}
	run("sync_modules", payload.M("extmod_whitelist", "one"), []any{"modules.one"})
	run("sync_modules", nil, []any{"modules.deep.two"})
	run("sync_modules", nil, []any{})
	run("sync_proxymodules", nil, []any{"proxy.far"})
	run("sync_states", nil, []any{})
	run("sync_outputters", nil, []any{"output.shown"})
	put("_modules/one.py", "changed")
	if err := os.Remove(filepath.Join(srv, "_modules/deep/two.py")); err != nil {
		t.Fatal(err)
	}
	got, _, err := modtest.Call(t, env, "saltutil.sync_all", nil, nil)
	all := got.(*payload.Map)
	if err != nil || all.Len() != 21 || !payload.Equal(all.Value("modules"), []any{"modules.one"}) ||
		!payload.Equal(all.Value("output"), []any{}) {
		t.Errorf("sync_all: %v, %v", all, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "extmods/modules/one.py")); err != nil || string(b) != "changed" {
		t.Errorf("one.py holds %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "extmods/modules/deep")); !os.IsNotExist(err) {
		t.Errorf("deep is still there: %v", err)
	}
	if l := strings.Join(log.Lines(), "\n"); !strings.Contains(l, "WARN brine cannot load modules in Python") ||
		!strings.Contains(l, "modules.deep.two") {
		t.Errorf("log %q", l)
	}
}

func TestSyncWithMaster(t *testing.T) {
	env := newEnv(t, payload.M("file_client", "remote"))
	got, _, err := modtest.Call(t, env, "saltutil.sync_all", nil, nil)
	if m := got.(*payload.Map); err != nil || m.Len() != 18 || m.Has("pillar") || m.Has("tops") ||
		!payload.Equal(m.Value("modules"), []any{}) {
		t.Errorf("sync_all %v %v", m.Keys(), err)
	}
	for fun, text := range map[string]string{"sync_pillar": "Pillar modules", "sync_tops": "Master top modules",
		"sync_wrapper": "Wrapper modules"} {
		_, _, err := modtest.Call(t, env, "saltutil."+fun, nil, nil)
		var exec *loader.CommandExecutionError
		if !errors.As(err, &exec) || err.Error() != text+" can only be synced to masterless minions" {
			t.Errorf("%s: %v", fun, err)
		}
	}
}

func TestCaches(t *testing.T) {
	dir, pki := t.TempDir(), t.TempDir()
	old, fresh := filepath.Join(dir, "minion_jobs", "1"), filepath.Join(dir, "minion_jobs", "2")
	journal, queued := filepath.Join(dir, "jobs.journal"), filepath.Join(dir, "queues", "m", "job_queue",
		"queued_1_2.p")
	ret, err := payload.MarshalBin(payload.M("return", true))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(old, 0o755), os.MkdirAll(fresh, 0o755),
		os.WriteFile(filepath.Join(fresh, "return.p"), ret, 0o600),
		os.MkdirAll(filepath.Join(dir, "extmods", "modules"), 0o755),
		os.WriteFile(filepath.Join(dir, "extmods", "modules", "foo.py"), nil, 0o600),
		os.WriteFile(filepath.Join(pki, "minion.pem"), nil, 0o600), os.Mkdir(filepath.Join(pki, "sub"), 0o755),
		os.MkdirAll(filepath.Dir(queued), 0o755), os.WriteFile(queued, nil, 0o600), os.WriteFile(journal, nil, 0o600),
		os.Chtimes(old, time.Now(), time.Now().Add(-48*time.Hour))); err != nil {
		t.Fatal(err)
	}
	env := newEnv(t, payload.M("cachedir", dir, "pki_dir", pki))
	for _, tt := range []struct {
		fun  string
		args []any
		want any
	}{
		{"saltutil.find_cached_job", []any{"2"}, payload.M("return", true)},
		{"saltutil.find_cached_job", []any{"../.."},
			"Local jobs cache directory not found; you may need to enable cache_jobs on this minion"},
		{"saltutil.list_extmods", nil, payload.M("modules", []any{"foo"})},
		{"saltutil.clear_job_cache", nil, true},
		{"saltutil.regen_keys", nil, nil},
		{"saltutil.clear_cache", nil, true},
	} {
		got, _, err := modtest.Call(t, env, tt.fun, tt.args, nil)
		if err != nil || !payload.Equal(got, tt.want) {
			t.Errorf("%s: got %v %v, want %v", tt.fun, got, err, tt.want)
		}
	}
	for path, want := range map[string]bool{old: false, fresh: true, filepath.Join(fresh, "return.p"): false,
		filepath.Join(pki, "minion.pem"): false, filepath.Join(pki, "sub"): true,
		journal: true, queued: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there is %v", path, err == nil)
		}
	}
}

func TestMaster(t *testing.T) {
	for _, tt := range []struct {
		name, fun string
		args      []any
		kw        *payload.Map
		answer    any
		want      any
		asked     *payload.Map
	}{
		{"revoke", "saltutil.revoke_auth", []any{true}, nil, true, true,
			payload.M("cmd", "revoke_auth", "id", "web1", "preserve_minion_cache", true)},
		{"revoke timeout", "saltutil.revoke_auth", nil, nil, fmt.Errorf("ask: %w", loader.ErrRequestTimeout), false,
			payload.M("cmd", "revoke_auth", "id", "web1", "preserve_minion_cache", false)},
		{"runner", "saltutil.runner", []any{"jobs.active", []any{"x"}},
			payload.M("a", int64(1), "kwarg", payload.M("b", int64(2))), "r", "r",
			payload.M("runner", "jobs.active", "args", []any{"x"}, "kw", payload.M("b", int64(2), "a", int64(1)),
				"full", false, "saltenv", "base", "pub", payload.M("user", "root"))},
		{"runner of a job", "saltutil.runner", []any{"jobs.active"},
			payload.M("saltenv", "dev", "full_return", true, "__x", 1), "r", "r",
			payload.M("runner", "jobs.active", "args", []any(nil), "kw", payload.NewMap(0), "full", true, "saltenv",
				"dev", "pub", payload.M("user", "root"))},
		{"runner of a state", "saltutil.runner", []any{"jobs.active"}, payload.M("saltenv", "dev", "__env__", "qa"),
			"r", "r",
			payload.M("runner", "jobs.active", "args", []any(nil), "kw", payload.NewMap(0), "full", false, "saltenv",
				"qa", "pub", payload.M("user", "root"))},
		{"wheel", "saltutil.wheel", []any{"key.accept", "web*"}, payload.M("a", int64(1)), "r", "r",
			payload.M("wheel", "key.accept", "args", []any{"web*"}, "kw", payload.M("a", int64(1)), "saltenv", "base",
				"pub",
				payload.NewMap(0))},
		{"cmd", "saltutil.cmd", []any{"*", "test.ping"},
			payload.M("timeout", "3", "kwarg", payload.M("k", "v"), "subset", int64(1)),
			payload.M("web1", payload.M("ret", true)), payload.M("web1", payload.M("ret", true)),
			payload.M("tgt", "*", "fun", "test.ping", "args", []any{}, "kw",
				payload.M("subset", int64(1), "kwarg", payload.M("k", "v")),
				"tgt_type", "glob", "ret", "", "timeout", int64(3))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := &modtest.Host{Answers: []any{tt.answer}}
			env := newEnv(t, nil)
			host.Attach(env)
			got, _, err := modtest.Call(t, env, tt.fun, tt.args, tt.kw)
			if err != nil || !payload.Equal(got, tt.want) {
				t.Errorf("got %v %v", got, err)
			}
			if a := host.Asked(); len(a) != 1 || !payload.Equal(a[0], tt.asked) {
				t.Errorf("asked %s, want %s", python.Repr(a[0]), python.Repr(tt.asked))
			}
		})
	}
}

func TestWithoutMaster(t *testing.T) {
	env := newEnv(t, nil)
	for fun, class := range map[string]string{"revoke_auth": "KeyError",
		"runner": "salt.exceptions.CommandExecutionError", "wheel": "salt.exceptions.CommandExecutionError",
		"cmd": "salt.exceptions.SaltClientError"} {
		args := []any{"x", "y"}[:map[string]int{"revoke_auth": 0, "runner": 1, "wheel": 1, "cmd": 2}[fun]]
		if _, _, err := modtest.Call(t, env, "saltutil."+fun, args, nil); err == nil || loader.ClassOf(err) != class {
			t.Errorf("%s: %v", fun, err)
		}
	}
}

func TestMModule(t *testing.T) {
	echo := loader.Func{Name: "test.echo", Params: []loader.Param{loader.Req("text")},
		Run: func(_ *loader.Call, a loader.Args) (any, error) { return a.Get("text"), nil }}
	env := newEnv(t, nil, echo)
	if got, _, err := modtest.Call(t, env, "saltutil.mmodule", []any{"base", "test.echo", "hi"}, nil); err != nil ||
		got != "hi" {
		t.Errorf("got %v %v", got, err)
	}
}
