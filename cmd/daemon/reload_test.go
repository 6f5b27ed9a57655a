package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/cmd/tooltest"
)

// follower is a daemon that reloads like a master.
type follower struct{ taken int }

func (f *follower) Reload(*session.Session) { f.taken++ }

// choosing is a daemon that shares its configuration with a master.
type choosing struct{ follower }

func (c *choosing) Check(fresh *session.Session) error {
	if text := fresh.Common.Raw.Str("refused"); text != "" {
		return errors.New(text)
	}
	return nil
}

func (c *choosing) Takes(key string) (now, later bool) { return key == "mine_now", key == "mine_later" }

// reloading is a reloader of such a daemon, with its log.
type reloading struct {
	*reloader
	t    *testing.T
	conf string
	told bytes.Buffer
}

func newReloading(t *testing.T, svc Reloader, text string) *reloading {
	t.Helper()
	parser := func(c *tool.Call) *optparse.Parser {
		p := options.NewParser(c, "", "")
		options.AddConfigDir(p)
		return p
	}
	c := tooltest.MustOpen(t, parser, text)
	r := &reloading{t: t, conf: c.Common.ConfFile, reloader: &reloader{s: c.Session, svc: svc, first: c.Common,
		last: c.Session}}
	c.Session.Log = slog.New(slog.NewTextHandler(&r.told, nil))
	return r
}

// now changes the file and reloads it. It returns the log lines.
func (r *reloading) now(asked bool, more string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.conf)
	must(r.t, err)
	base, _, _ := strings.Cut(string(b), "# more\n")
	must(r.t, os.WriteFile(r.conf, []byte(base+"# more\n"+more), 0o600))
	r.told.Reset()
	r.again(asked)
	return r.told.String()
}

func wantLines(t *testing.T, told string, want ...string) {
	t.Helper()
	lines := strings.FieldsFunc(told, func(r rune) bool { return r == '\n' })
	if len(lines) != len(want) {
		t.Errorf("%d lines, want %d:\n%s", len(lines), len(want), told)
		return
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) {
			t.Errorf("line %d is %s, want %s", i, lines[i], w)
		}
	}
}

// TestMasterLeavesOthers: a master asks for a restart if its own options or unknown options change, but not if
// options of salt-api or other programs change.
func TestMasterLeavesOthers(t *testing.T) {
	svc := &follower{}
	r := newReloading(t, svc, "")
	others := "rest_cherrypy: {port: 8000, disable_ssl: True}\nrest_tornado: {port: 1}\nrest_wsgi: {port: " +
		"2}\nrest_timeout: 7\nnetapi_enable_clients: [local]\n" +
		"netapi_allow_raw_shell: True\napi_logfile: /x\napi_pidfile: /y\nsyndic_master: elsewhere\nsyndic_wait: " +
		"8\nauth_tries: 3\n"
	wantLines(t, r.now(false, others), "in force are: 'syndic_wait'") // tools read these options
	if svc.taken != 1 {
		t.Errorf("%d configurations were taken", svc.taken)
	}
	wantLines(t, r.now(true, others), "nothing has changed")
	wantLines(t, r.now(false, others+"worker_threads: 9\nmy_own: 1\n"), "'worker_threads' has changed",
		"'my_own' has changed")
	wantLines(t, r.now(false, strings.Replace(others, "timeout: 7", "timeout: 9",
		1)+"worker_threads: 9\nmy_own: 1\ntimeout: 9\n"), "in force are: 'timeout'")
}

// TestChooser: a daemon that shares its configuration checks it, and gets only its own changes.
func TestChooser(t *testing.T) {
	svc := &choosing{}
	r := newReloading(t, svc, "")
	// none of these options is its own
	wantLines(t, r.now(false, "worker_threads: 9\nssl: {certfile: /x}\nrest_cherrypy: {port: 1}\n"))
	wantLines(t, r.now(true, "worker_threads: 10\n"), "nothing has changed")
	if svc.taken != 0 {
		t.Errorf("%d configurations were taken", svc.taken)
	}
	wantLines(t, r.now(false, "mine_now: 1\nmine_later: 1\n"), "in force are: 'mine_now'",
		fmt.Sprintf("'mine_later' has changed (%s, line", r.conf))
	wantLines(t, r.now(false, "mine_now: 2\nmine_later: 1\n"), "in force are: 'mine_now'")
	wantLines(t, r.now(false, "mine_now: 2\n")) // mine_later is as at the start again
	if svc.taken != 3 {
		t.Errorf("%d configurations were taken", svc.taken)
	}
	wantLines(t, r.now(false, "mine_now: 3\nrefused: not this one\n"), "nothing has changed: not this one")
	wantLines(t, r.now(false, "mine_now: 4\nrefused: not this one\n")) // the error was logged already
	wantLines(t, r.now(true, "mine_now: 4\nrefused: not this one\n"), "nothing has changed: not this one")
	wantLines(t, r.now(false, "mine_now: [4\n"), "cannot be read anew, nothing has changed")
	if svc.taken != 3 {
		t.Errorf("what was refused was taken: %d", svc.taken)
	}
	wantLines(t, r.now(false, "mine_now: 4\n"), "in force are: 'mine_now'")
}

// TestPersonalFileAgain: salt-api reads the personal file of its user, as tools do, at the start and at each
// reload. The options in it do not count as changed then.
func TestPersonalFileAgain(t *testing.T) {
	personal := filepath.Join(t.TempDir(), "saltrc")
	must(t, os.WriteFile(personal, []byte("mine_now: 1\nmine_later: 1\n"), 0o600))
	t.Setenv("SALT_CLIENT_CONFIG", personal)
	r := newReloading(t, &choosing{}, "")
	wantLines(t, r.now(true, "timeout: 8\n"), "nothing has changed")
	if got := r.last.Common.Raw.Value("mine_now"); got != int64(1) {
		t.Errorf("mine_now is %v", got)
	}
	must(t, os.WriteFile(personal, []byte("mine_now: 2\nmine_later: 1\n"), 0o600))
	wantLines(t, r.now(true, "timeout: 8\n"), "in force are: 'mine_now'")
}
