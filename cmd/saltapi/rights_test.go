package saltapi

import (
	"os"
	"path/filepath"
	"testing"

	"brine/cmd/session"
	"brine/config"
	"brine/wire/payload"
)

// TestRights: the expected results are the answers of salt-api 3008.3 to the client ssh, with an empty roster
// and the minions web1 and db1.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"web1", "db1"} {
		path := filepath.Join(dir, "minions", id)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &config.Master{Common: config.Common{Raw: payload.NewMap(0), CacheDir: dir, PKIDir: dir}, ACLRequireAll: true,
		MinionDataCache: true}
	m.ExternalAuth = payload.M("pam", payload.M("all", []any{".*"}, "few", []any{"test.ping"}, "web",
		[]any{payload.M("web*", []any{"test.ping"})}, "word",
		[]any{payload.M("web*", []any{payload.M("test.echo", payload.M("args", []any{"ok"}))})}, "runs",
		[]any{"@runner"}))
	r := rightsOf(&session.Session{Master: m, Common: &m.Common})
	for _, tt := range []struct {
		user string
		tgt  any
		fun  any
		arg  []any
		want bool
	}{
		{"all", "*", "cmd.run", []any{"id"}, true}, {"few", "*", "test.ping", nil, true},
		{"few", "*", "cmd.run", []any{"id"}, false}, {"nobody", "*", "test.ping", nil, false},
		{"runs", "*", "test.ping", nil, false}, {"web", "web1", "test.ping", nil, true}, {"web", "*", "test.ping", nil,
			false}, {"web", "db1", "test.ping", nil, false}, {"web", "web1", "cmd.run", nil, false},
		{"web", "elsewhere", "test.ping", nil, true},
		{"word", "web1", "test.echo", []any{"ok"}, true}, {"word", "web1", "test.echo", []any{"no"}, false},
		{"word", "web1", "test.echo", nil, false},
		{"few", "*", []any{"test.ping", "cmd.run"}, []any{[]any{}, []any{"id"}}, false},
		{"few", "*", []any{"test.ping", "test.ping"}, []any{[]any{}, []any{}}, true}, {"few", "*", []any{}, nil, false},
	} {
		tok, low := payload.M("name", tt.user, "eauth", "pam"), payload.M("tgt", tt.tgt, "fun", tt.fun, "arg", tt.arg)
		if got := r.mayRun(t.Context(), tok, low); got != tt.want {
			t.Errorf("%s runs %v %v on %v: %v, want %v", tt.user, tt.fun, tt.arg, tt.tgt, got, tt.want)
		}
	}
}
