package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/wire/payload"
)

// noEnv is an environment without variables.
func noEnv(string) string { return "" }

// write makes a configuration directory from pairs of name and text, and returns its path.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loadMaster(t *testing.T, files ...string) *Master {
	t.Helper()
	m, err := Loader{Path: filepath.Join(write(t, files...), "master"), Getenv: noEnv}.Master()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func loadMinion(t *testing.T, files ...string) *Minion {
	t.Helper()
	m, err := Loader{Path: filepath.Join(write(t, files...), "minion"), Getenv: noEnv}.Minion()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// generic turns payload values into those of encoding/json.
func generic(t *testing.T, v any) map[string]any {
	t.Helper()
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case *payload.Map:
			out := map[string]any{}
			for k, e := range v.All() {
				out[fmt.Sprint(k)] = plain(e)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = plain(e)
			}
			return out
		}
		return v
	}
	b, err := json.Marshal(plain(v))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTreesAsSalt loads each configuration in testdata/trees. It compares the options that differ from the defaults,
// and the log lines, with those of Salt 3008.3 for the same files.
func TestTreesAsSalt(t *testing.T) {
	here, err := filepath.Abs("testdata/trees")
	if err != nil {
		t.Fatal(err)
	}
	golden, _ := filepath.Glob(here + "/*/*.json")
	if len(golden) == 0 {
		t.Fatal("no trees")
	}
	for _, file := range golden {
		path := strings.TrimSuffix(file, ".json")
		role := filepath.Base(path)
		t.Run(strings.TrimPrefix(path, here+"/"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Options map[string]any
				Log     []string
			}
			if err := json.Unmarshal([]byte(strings.ReplaceAll(string(b), "{HERE}", here)), &want); err != nil {
				t.Fatal(err)
			}
			var common Common
			l := Loader{Path: path, Getenv: noEnv}
			if role == roleMaster {
				m, err := l.Master()
				if err != nil {
					t.Fatal(err)
				}
				common = m.Common
			} else {
				m, err := l.Minion()
				if err != nil {
					t.Fatal(err)
				}
				common = m.Common
			}
			compareOptions(t, generic(t, common.Raw), want.Options, role)
			log := []string{}
			for _, n := range common.Notices {
				if n.Level >= slog.LevelWarn {
					log = append(log, n.Text)
				}
			}
			slices.Sort(log)
			slices.Sort(want.Log)
			if diff := cmp.Diff(want.Log, log); diff != "" {
				t.Errorf("log (-Salt +brine)\n%s", diff)
			}
		})
	}
}

func compareOptions(t *testing.T, got, want map[string]any, role string) {
	t.Helper()
	var std map[string]any
	if role == roleMaster {
		std = generic(t, loadMaster(t, role, "id: bare").Raw)
	} else {
		std = generic(t, loadMinion(t, role, "id: bare").Raw)
	}
	for _, opts := range []map[string]any{got, want} {
		for k := range opts {
			if strings.HasPrefix(k, "__") || k == "worker_pools" { // Salt derives worker_pools, brine does not
				delete(opts, k)
			}
		}
	}
	for k, v := range got {
		if w, ok := want[k]; ok {
			if !cmp.Equal(v, w) {
				t.Errorf("%s: got %v, want %v", k, v, w)
			}
		} else if s, ok := std[k]; !ok || !cmp.Equal(v, s) {
			t.Errorf("%s: got %v, want the default %v", k, v, s)
		}
	}
	for k, w := range want {
		if _, ok := got[k]; !ok {
			t.Errorf("%s: missing, want %v", k, w)
		}
	}
}

func TestDefaults(t *testing.T) {
	m := loadMaster(t)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"publish_port", m.PublishPort, 4505},
		{"worker_threads", m.WorkerThreads, 5},
		{"loop_interval", m.LoopInterval, 60 * time.Second},
		{"keep_jobs_seconds", m.KeepJobsSeconds, 24 * time.Hour},
		{"autosign_timeout", m.AutosignTimeout, 2 * time.Hour},
		{"zmq_heartbeat_ivl", m.ZMQHeartbeatIvl, 10 * time.Second},
		{"restart_delay_max", m.RestartDelayMax, 10 * time.Second},
		{"control_mode", m.ControlMode, fs.FileMode(0o600)},
		{"sign_pub_messages", m.SignPubMessages, true},
		{"cachedir", m.CacheDir, "/var/cache/salt/master"},
		{"token_dir", m.TokenDir, "/var/cache/salt/master/tokens"},
		{"ipv6", m.IPv6, false},
		{"max_open_files", m.MaxOpenFiles, uint64(100000)},
		{"user", m.User, currentUser()},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if m.File.Len() != 0 || len(m.Notices) != 0 {
		t.Errorf("a missing file: got options %v, notices %v", m.File.Keys(), m.Notices)
	}
	n := loadMinion(t, "minion", "id: x")
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"mine_interval", n.MineInterval, time.Hour},
		{"recon_default", n.ReconDefault, time.Second},
		{"multiprocessing", n.Multiprocessing, false},
		{"retry_dns", n.RetryDNS, 30 * time.Second},
		{"process_count_max", n.ProcessCountMax, -1},
		{"publish_port", n.PublishPort, 4505},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if diff := cmp.Diff([]MasterAddr{{"salt", 4506}}, n.Masters); diff != "" {
		t.Errorf("masters (-want +got)\n%s", diff)
	}
}

func TestValues(t *testing.T) {
	m := loadMaster(t, "master", `
publisher_acl: {Bob: [test.*]}
auth_events_autosign_grains: accept
timeout: '7'
keep_jobs_seconds: 1:00:00
worker_threads: 8.9
token_expire: abc
ipc_framing: [1]
ipv6: yes
Unknown.Key: 1
`)
	if got := m.PublisherACL.Keys(); !cmp.Equal(got, []any{"Bob"}) {
		t.Errorf("publisher_acl: got keys %v, want Bob", got)
	}
	if !cmp.Equal(m.AuthEventsAutosignGrains, []string{"accept"}) || m.Timeout != 7*time.Second ||
		m.WorkerThreads != 8 || !m.IPv6 {
		t.Errorf("got %v %v %v %v", m.AuthEventsAutosignGrains, m.Timeout, m.WorkerThreads, m.IPv6)
	}
	if m.KeepJobsSeconds != time.Hour {
		t.Errorf("keep_jobs_seconds: got %v, want 1h", m.KeepJobsSeconds)
	}
	if m.TokenExpire != 12*time.Hour || m.IPCFraming != "plain" {
		t.Errorf("wrong values: got %v, %q; want the defaults", m.TokenExpire, m.IPCFraming)
	}
	if v, _ := m.Raw.Get("Unknown.Key"); v != int64(1) || !m.File.Has("Unknown.Key") || m.File.Has("cachedir") {
		t.Errorf("unknown key: got %v in Raw; File has %v", v, m.File.Keys())
	}
	want := "Config option 'ipc_framing' with value [1] is not usable: a text is required"
	if !slices.ContainsFunc(m.Notices, func(n Notice) bool { return n.Text == want }) {
		t.Errorf("got %v, want a notice %q", m.Notices, want)
	}
}

// TestModes: a mode is read as octal in any notation, because Salt's YAML drops leading zeros. An invalid mode gives a
// warning and the default.
func TestModes(t *testing.T) {
	for text, want := range map[string]fs.FileMode{
		"0660": 0o660, "660": 0o660, "'0666'": 0o666, "'0o640'": 0o640, "\"600\"": 0o600, "0": 0,
		"384": 0o600, "1666": 0o600, "-660": 0o600, "rw-rw----": 0o600, "''": 0o600, "[1]": 0o600, "True": 0o600,
		"6.6": 0o600,
	} {
		m := loadMaster(t, "master", "control_mode: "+text+"\n")
		if m.ControlMode != want {
			t.Errorf("%s: got %o, want %o", text, m.ControlMode, want)
		}
		said := slices.ContainsFunc(m.Notices, func(n Notice) bool {
			return strings.Contains(n.Text, "'control_mode'")
		})
		if bad := want == 0o600 && !strings.Contains(text, "600"); said != bad {
			t.Errorf("%s: notices %v", text, m.Notices)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  Error // File is relative
		text  string
	}{
		{"broken", []string{"master", "id: a\nb: c: d\n"}, Error{File: "master", Line: 2, Code: 1},
			"Error parsing configuration file: {D}/master - mapping values are not allowed in this context\n  in " +
				"\"{D}/master\", line 2, column 5"},
		{"no mapping", []string{"master", "just text\n"}, Error{File: "master", Line: 1, Code: 1},
			"Error parsing configuration file: {D}/master - conf should be a document, not <class 'str'>."},
		{"duplicate key", []string{"master", "id: a\nid: b\n"}, Error{File: "master", Line: 2, Code: 1},
			"Error parsing configuration file: {D}/master - found conflicting ID 'id'\n  in \"{D}/master\", line 2, " +
				"column 1"},
		{"port", []string{"master", "id: a\n\npublish_port: abc\n"}, Error{File: "master", Line: 3, Key: "publish_port",
			Value: "abc", Code: 64},
			"Config option 'publish_port' with value abc has an invalid type of str: a number is required " +
				"({D}/master, line 3)"},
		{"port in an include", []string{"master", "id: a", "master.d/x.conf", "a: 1\nret_port: {a: 1}"},
			Error{File: "master.d/x.conf", Line: 2, Key: "ret_port", Code: 64},
			"Config option 'ret_port' with value {'a': 1} has an invalid type of dict: a number is required " +
				"({D}/master.d/x.conf, line 2)"},
		{"path", []string{"master", "pki_dir: [a]"}, Error{File: "master", Line: 1, Key: "pki_dir", Code: 64},
			"Config option 'pki_dir' with value ['a'] has an invalid type of list, a path is required for this " +
				"option ({D}/master, line 1)"},
		{"algorithm", []string{"master", "publish_signing_algorithm: foo"}, Error{File: "master", Line: 1,
			Key: "publish_signing_algorithm", Value: "foo", Code: 64},
			"The publish signing algorithm 'foo' is not valid. Please specify one of PKCS1v15-SHA1,PKCS1v15-SHA224. " +
				"({D}/master, line 1)"},
		{"include", []string{"master", "default_include: 5"}, Error{File: "master", Line: 1, Key: "default_include",
			Value: int64(5), Code: 64},
			"option 'default_include' is 5: it must be a path or a list of paths ({D}/master, line 1)"},
		{"include loop", []string{"master", "include: a", "a", "include: a"}, Error{Key: "include", File: "master",
			Line: 1, Value: "a", Code: 64},
			"option 'include': files include each other ({D}/master, line 1)"},
		{"pools", []string{"master", "worker_pools: {a: 3, b/c: {}, d: {worker_count: 0, commands: [x, x]}}"},
			Error{File: "master", Line: 1, Key: "worker_pools", Code: 64},
			"Worker pools configuration validation failed:\n  - Pool 'a': configuration must be a dictionary\n" +
				"  - Pool name 'b/c' is invalid. Pool names cannot contain path separators (/ or \\) to prevent " +
				"path traversal attacks.\n" +
				"  - Pool 'd': worker_count must be integer >= 1, got 0\n  - Command 'x' mapped to multiple pools: " +
				"'d' and 'd'\n" +
				"  - No catchall pool ('*') found. One pool must include '*' in its commands so every command has a " +
				"routing destination. ({D}/master, line 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, tt.files...)
			_, err := Loader{Path: filepath.Join(dir, "master"), Getenv: noEnv}.Master()
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *Error", err)
			}
			if got := strings.ReplaceAll(e.Error(), dir, "{D}"); got != tt.text {
				t.Errorf("text: got %q, want %q", got, tt.text)
			}
			file, _ := filepath.Rel(dir, e.File)
			if file != tt.want.File || e.Line != tt.want.Line || e.Key != tt.want.Key || e.Code != tt.want.Code {
				t.Errorf("got %s:%d key %q code %d, want %+v", file, e.Line, e.Key, e.Code, tt.want)
			}
			if tt.want.Value != nil && e.Value != tt.want.Value {
				t.Errorf("value: got %v, want %v", e.Value, tt.want.Value)
			}
		})
	}
}

func TestBrokenIncludeOfMinionDaemon(t *testing.T) {
	dir := write(t, "minion", "id: x", "minion.d/a.conf", "a: b: c")
	l := Loader{Path: filepath.Join(dir, "minion"), Getenv: noEnv}
	if m, err := l.Minion(); err != nil || len(m.Notices) != 1 || m.Notices[0].Level != slog.LevelError {
		t.Errorf("a tool: got %v, want one error notice", err)
	}
	l.StrictIncludes = true
	var e *Error
	if _, err := l.Minion(); !errors.As(err, &e) || e.Code != ExitGeneric {
		t.Errorf("the daemon: got %v, want an error with code 1", err)
	}
}

func TestBrokenScheduleIsSetAside(t *testing.T) {
	dir := write(t, "minion", "id: x", "minion.d/_schedule.conf", "a: b: c")
	if _, err := (Loader{Path: filepath.Join(dir, "minion"), Getenv: noEnv,
		StrictIncludes: true}).Minion(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "minion.d/_schedule.confYAMLError")); err != nil {
		t.Error(err)
	}
}

func TestOverrides(t *testing.T) {
	dir := write(t, "master", "root_dir: /srv/b\npidfile: /run/x.pid\ntimeout: 9")
	m, err := Loader{Path: filepath.Join(dir, "master"), Getenv: noEnv, Overrides: payload.M("log_file", "/x/y",
		"timeout", 3)}.Master()
	if err != nil {
		t.Fatal(err)
	}
	if m.LogFile != "/x/y" || m.Timeout != 3*time.Second || m.PidFile != "/srv/b/run/x.pid" {
		t.Errorf("got %s, %v, %s", m.LogFile, m.Timeout, m.PidFile)
	}
	if v, _ := m.Raw.Int("timeout"); v != 3 {
		t.Errorf("Raw: got %v, want 3", v)
	}
}

func TestEnvironmentNamesMainFile(t *testing.T) {
	dir := write(t, "master", "id: env")
	ld := func(path string, env map[string]string) string {
		l := loading{Loader: Loader{Path: path, Getenv: func(k string) string { return env[k] }}, role: roleMaster}
		return l.mainFile()
	}
	for _, tt := range []struct {
		path string
		env  map[string]string
		want string
	}{
		{"/etc/salt/master", nil, "/etc/salt/master"},
		{"/etc/salt/master", map[string]string{"SALT_CONFIG_DIR": dir}, dir + "/master"},
		{"/etc/salt/master", map[string]string{"SALT_MASTER_CONFIG": dir + "/master"}, dir + "/master"},
		{"/etc/salt/master", map[string]string{"SALT_MASTER_CONFIG": dir + "/none"}, "/etc/salt/master"},
		{"/other/master", map[string]string{"SALT_CONFIG_DIR": dir}, "/other/master"},
	} {
		if got := ld(tt.path, tt.env); got != tt.want {
			t.Errorf("%s with %v: got %s, want %s", tt.path, tt.env, got, tt.want)
		}
	}
}

func FuzzLoadMaster(f *testing.F) {
	for _, name := range []string{"odd/master", "includes/master", "odd/minion"} {
		b, err := os.ReadFile("testdata/trees/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ld := &loading{Loader: Loader{Getenv: noEnv}}
		s, err := ld.parse("fuzz", b)
		if err != nil || s.opts.Has("include") || s.opts.Has("default_include") || strings.Contains(string(b), "*") {
			t.Skip()
		}
		if s.opts.Has("id") { // for a missing id this host would be searched
			for _, role := range []string{roleMaster, roleMinion} {
				path := filepath.Join(t.TempDir(), role)
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				l := Loader{Path: path, Getenv: noEnv, HostNames: func() []string { return nil }}
				if role == roleMaster {
					_, err = l.Master()
				} else {
					_, err = l.Minion()
				}
				var e *Error
				if err != nil && (!errors.As(err, &e) || e.Code == 0) {
					t.Errorf("got %#v, want a *Error with a code", err)
				}
			}
		}
	})
}

func BenchmarkLoadMaster(b *testing.B) {
	for b.Loop() {
		if _, err := (Loader{Path: "testdata/trees/includes/master", Getenv: noEnv}).Master(); err != nil {
			b.Fatal(err)
		}
	}
}
