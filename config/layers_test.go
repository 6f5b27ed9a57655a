package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

func environOf(pairs ...string) func() []string { return func() []string { return pairs } }

// Every layer wins over those before it, and tells where its value stands.
func TestLayers(t *testing.T) {
	dir := write(t, "master", "timeout: 7\nlog_level: info\nssh_timeout: 1\nMyRole: {Inner: A}\nkeep_jobs_seconds: "+
		"5\n# end\nssl:\n", "master.d/a.conf", "# comment\nlog_level: error\n")
	m, err := Loader{Path: filepath.Join(dir, "master"), Getenv: noEnv, Overrides: payload.M("keep_jobs_seconds", 9,
		"Mixed", true),
		Environ: environOf("BRINE_MASTER__TIMEOUT=11", "BRINE_MASTER__KEEP_JOBS_SECONDS=8", "BRINE_MINION__TIMEOUT=12",
			"HOME=/x", "BRINE_MASTER__LOOP_INTERVAL=", "BRINE_MASTER__NODEGROUPS__Web=L@a,b",
			"BRINE_MASTER__KEYS__CACHE_DRIVER=localfs_key",
			"BRINE_MASTER__PEER={.*: [test.ping]}")}.Master()
	if err != nil {
		t.Fatal(err)
	}
	main, more := filepath.Join(dir, "master"), filepath.Join(dir, "master.d/a.conf")
	for _, tt := range []struct {
		key  string
		want any
		from Origin
	}{
		{"worker_threads", int64(5), Origin{Layer: LayerDefault}},
		{"loop_interval", int64(60), Origin{Layer: LayerDefault}},
		{"ssh_timeout", int64(1), Origin{Layer: LayerFile, File: main, Line: 3}},
		{"MyRole", payload.M("Inner", "A"), Origin{Layer: LayerFile, File: main, Line: 4}},
		{"ssl", nil, Origin{Layer: LayerFile, File: main, Line: 7}},
		{"log_level", "error", Origin{Layer: LayerFile, File: more, Line: 2}},
		{"timeout", int64(11), Origin{Layer: LayerEnvironment, Variable: "BRINE_MASTER__TIMEOUT"}},
		{"nodegroups", payload.M("Web", "L@a,b"), Origin{Layer: LayerEnvironment,
			Variable: "BRINE_MASTER__NODEGROUPS__Web"}},
		{"keys.cache_driver", "localfs_key", Origin{Layer: LayerEnvironment,
			Variable: "BRINE_MASTER__KEYS__CACHE_DRIVER"}},
		{"peer", payload.M(".*", []any{"test.ping"}), Origin{Layer: LayerEnvironment, Variable: "BRINE_MASTER__PEER"}},
		{"keep_jobs_seconds", 9, Origin{Layer: LayerCommandLine}},
		{"Mixed", true, Origin{Layer: LayerCommandLine}},
	} {
		if got := m.Raw.Value(tt.key); !payload.Equal(got, tt.want) && got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.key, got, tt.want)
		}
		if got := m.Origin(tt.key); got != tt.from {
			t.Errorf("%s comes from %q, want %q", tt.key, got, tt.from)
		}
	}
	if m.Timeout.Seconds() != 11 || m.Nodegroups.Str("Web") != "L@a,b" {
		t.Errorf("the struct has timeout %v, node groups %v", m.Timeout, m.Nodegroups)
	}
}

// Only the named part of a map changes, whether files or defaults hold the rest.
func TestVariablesOfParts(t *testing.T) {
	m, err := Loader{Path: filepath.Join(write(t, "minion", "grains: {role: db, Site: b}\n"), "minion"), Getenv: noEnv,
		Environ: environOf("BRINE_MINION__GRAINS__ROLE=web", "BRINE_MINION__METRICS__PROMETHEUS__PORT=1234",
			"BRINE_MINION__ID=042")}.Minion()
	if err != nil {
		t.Fatal(err)
	}
	if want := payload.M("role", "web", "Site", "b"); !payload.Equal(m.Grains, want) {
		t.Errorf("grains: got %v, want %v", m.Grains, want)
	}
	if m.MetricsOptions().Port != 1234 || !m.Metrics.Has("exporter") {
		t.Errorf("metrics: got %v", m.Metrics)
	}
	if m.ID != "042" || m.Raw.Value("id") != "042" {
		t.Errorf("id: got %q and %v, want the text 042", m.ID, m.Raw.Value("id"))
	}
}

// The environment is corrected and checked as files are, and may name the files.
func TestVariablesAreChecked(t *testing.T) {
	dir := write(t, "master", "", "other/b.conf", "timeout: 3\n")
	load := func(pairs ...string) (*Master, error) {
		return Loader{Path: filepath.Join(dir, "master"), Getenv: noEnv, Environ: environOf(pairs...)}.Master()
	}
	m, err := load("BRINE_MASTER__ROOT_DIR=/r", "BRINE_MASTER__DEFAULT_INCLUDE=other/*.conf", "BRINE_MASTER__ID=42")
	if err != nil || m.CacheDir != "/r/var/cache/salt/master" || m.Timeout.Seconds() != 3 || m.ID != "42" {
		t.Errorf("got %v, %v, %v, %v", m.CacheDir, m.Timeout, m.ID, err)
	}
	for _, tt := range []struct{ pair, key string }{
		{"BRINE_MASTER__PUBLISH_PORT=many", "publish_port"},
		{"BRINE_MASTER__PEER={a", "peer"},
	} {
		_, err := load(tt.pair)
		name, _, _ := strings.Cut(tt.pair, "=")
		var bad *Error
		if !errors.As(err, &bad) || bad.Key != tt.key || !strings.Contains(bad.Error(), name) {
			t.Errorf("%s: got %v", tt.pair, err)
		}
	}
	m, err = load("BRINE_MASTER__TRANSPORT=tcp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.CheckStanding(); err == nil || !strings.Contains(err.Error(), "BRINE_MASTER__TRANSPORT") {
		t.Errorf("transport: got %v", err)
	}
}

// The personal file of a user stands over the master's files, the environment over both.
func TestLayersOfClient(t *testing.T) {
	dir := write(t, "master", "show_jid: false\ntimeout: 1\n", "rc", "timeout: 2\nverbose: true\n")
	getenv := func(name string) string {
		return map[string]string{"SALT_CLIENT_CONFIG": filepath.Join(dir, "rc"), "HOME": dir}[name]
	}
	for _, tt := range []struct {
		environ []string
		want    int64
		from    Layer
	}{{nil, 2, LayerFile}, {[]string{"BRINE_MASTER__TIMEOUT=3"}, 3, LayerEnvironment}} {
		c, err := Loader{Path: filepath.Join(dir, "master"), Getenv: getenv, Environ: environOf(tt.environ...)}.Client()
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := c.Raw.Int("timeout"); got != tt.want || c.Origin("timeout").Layer != tt.from {
			t.Errorf("%v: got %d from %v", tt.environ, got, c.Origin("timeout"))
		}
	}
}

func TestIsVariable(t *testing.T) {
	for name, want := range map[string]bool{"BRINE_MASTER__ID": true, "BRINE_MINION__X__y": true, "BRINE_MINION": false,
		"BRINE_DAEMON_CHILD": false, "PATH": false} {
		if got := IsVariable(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// viper, which turns names to lower case and splits them into paths, keeps the names of options apart.
func TestNamesInViper(t *testing.T) {
	names := []any{"role", "Role", "ROLE", "rOLE", "\x01role", "keys.cache_driver", "Keys.cache_driver", "a\x00b",
		"a\x010b", "É", "é", "İ", "i", "1", int64(1), 1.0, true, nil, ""}
	std := payload.M("role", "default")
	l := newLayers(std)
	s := newSource()
	for i, name := range names {
		s.opts.Set(name, int64(i))
	}
	if err := l.layFiles(s); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if got := l.value(name); got != int64(i) {
			t.Errorf("%#v: got %v, want %d", name, got, i)
		}
	}
	if got := l.asWritten(); !payload.Equal(got, s.opts) {
		t.Errorf("written: got %v, want %v", got, s.opts)
	}
	l.layCommandLine(payload.M("Role", "last"))
	if got := l.options(); got.Str("Role") != "last" || got.Value("role") != int64(0) {
		t.Errorf("options: got %v", got)
	}
}
