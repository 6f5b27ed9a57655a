package attack

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/wire/auth"
	"brine/wire/auth/trust"
	"brine/wire/client"
	"brine/wire/payload"
)

// These are the exit codes of a daemon that refuses its configuration: for an invalid value, and for an option
// that a user relies on and brine does not honour.
const (
	exitUsage  = 64
	exitNotYet = 78
)

// TestFailOpenRefused starts daemons with protections that brine cannot give. They do not start. Tools work
// with the same files.
func TestFailOpenRefused(t *testing.T) {
	s := newBareSite(t, "")
	for _, tt := range []struct{ role, key, line string }{
		{"master", "ssl", "ssl: {certfile: /x, keyfile: /y}"},
		{"master", "auth_mode", "auth_mode: 2"},
		{"master", "fips_mode", "fips_mode: True"},
		{"master", "eauth_acl_module", "eauth_acl_module: django"},
		{"master", "eauth_tokens", "eauth_tokens: nobody"},
		{"master", "keys.cache_driver", "keys.cache_driver: etcd"},
		{"master", "request_server_aes_session", "request_server_aes_session: 10"},
		{"master", "transport", "transport: tcp"},
		{"master", "external_auth", "external_auth: {keystone: {ann: ['.*']}}"},
		{"master", "event_return", "event_return: nobody"},
		{"master", "engines", "engines: [{logstash: {}}]"},
		{"master", "master_job_cache", "master_job_cache: nobody"},
		{"master", "ext_job_cache", "ext_job_cache: rawfile_json"},
		{"minion", "ssl", "ssl: True"},
		{"minion", "return", "return: mongo"},
		{"minion", "master_type", "master_type: failover"},
		{"minion", "fips_mode", "fips_mode: True"},
		{"minion", "modules_max_memory", "modules_max_memory: 1000000"},
		{"minion", "disable_grains", "disable_grains: [core]"},
		{"minion", "master_type", "master_type: func"},
		{"minion", "id", `id: "a\nb"`},
		{"minion", "id", `id: ..`},
	} {
		if tt.role == "master" {
			s.writeMaster(tt.line + "\n")
		} else {
			conf := fmt.Sprintf(minionConf, s.path("x"), s.pub, s.ret, "x", s.user)
			if tt.key == "id" {
				conf = strings.Replace(conf, "id: x\n", "", 1)
			}
			s.write(s.path("etc/m/minion"), conf+tt.line+"\n")
		}
		got := s.tool("salt-"+tt.role, "-l", "warning")
		want := exitNotYet
		if tt.key == "id" {
			want = exitUsage
		}
		if got.code != want || !strings.Contains(got.stderr, "'"+tt.key+"'") {
			t.Errorf("%s with %s: exit %d, stderr %q", tt.role, tt.line, got.code, got.stderr)
		}
		for _, tool := range [][]string{{"salt-key", "-L"}, {"salt-run", "test.arg", "x"}} {
			if got := s.tool(tool[0], tool[1:]...); got.code != 0 {
				t.Errorf("%q with %s: exit %d: %s%s", tool, tt.line, got.code, got.stdout, got.stderr)
			}
		}
	}
	if _, err := os.Stat(s.path("x")); err == nil {
		t.Error("a minion that refuses to start has made its directories")
	}
	s.good()
}

// TestFailOpenNamed starts a master with options that brine does not honour. The log names each once.
func TestFailOpenNamed(t *testing.T) {
	s := newBareSite(t, "event_return_niceness: 9\nlog_granular_levels: {salt: debug}\nautosing_file: /x\n")
	for _, name := range []string{"'event_return_niceness'", "'log_granular_levels'", "did you mean 'autosign_file'"} {
		if n := strings.Count(s.logOf(s.master), name); n != 1 {
			t.Errorf("%s stands in the log %d times", name, n)
		}
	}
	v, err := s.stranger().ask(as("ann", payload.M("cmd", "runner", "fun", "test.arg", "kwarg", payload.NewMap(0))).Set(
		"eauth", "keystone"))
	if m, _ := v.(*payload.Map); err != nil || !m.Has("error") {
		t.Errorf("a user of a backend that is not there: %v, %v", v, err)
	}
	s.good()
}

// TestFailOpenModules calls functions that the options of a minion forbid, in the minion and in a separate
// process.
func TestFailOpenModules(t *testing.T) {
	s := newSite(t, "disable_runners: [salt]\ndisable_wheels: [config]\ndisable_modules: [cmdmod]\nunique_jid: True\n")
	ears := s.listen()
	s.startMinion("disabled", "disable_modules: [cmd, test.ping]\nenable_legacy_startup_events: True\n")
	s.startMinion("bythefile", "disable_modules: [cmdmod]\nmultiprocessing: True\n")
	s.startMinion("listed", "whitelist_modules: [test]\nmultiprocessing: True\n")
	s.startMinion("dark", "grains: {minion_blackout: True, minion_blackout_whitelist: [test.ping]}\n")
	s.eventually("all minions", func() error {
		got, err := s.run(second(), pingJob())
		if err == nil && len(got) < 5 {
			err = fmt.Errorf("%d returns", len(got))
		}
		return err
	})
	job := func(fun string, arg ...any) client.Job { return client.Job{Tgt: "*", Fun: fun, Arg: arg} }
	for _, tt := range []struct {
		job  client.Job
		runs string
	}{
		{job("test.echo", "hi"), "honest disabled bythefile listed"},
		{job("cmd.run", "echo hi"), "honest"},
		{job("cmd.shell", "echo hi"), "honest"},
		{job("grains.get", "id"), "honest disabled bythefile"},
	} {
		got, err := s.run(patience/6, tt.job)
		if err != nil || len(got) != 5 {
			t.Fatalf("%s: %d returns, %v", tt.job.Fun, len(got), err)
		}
		for id, ret := range got {
			ran := ret.Str("return") == "hi" || ret.Str("return") == id
			if want := strings.Contains(" "+tt.runs+" ", " "+id+" "); ran != want {
				t.Errorf("%s on %s: ran %v, want %v: %v", tt.job.Fun, id, ran, want, ret.Value("return"))
			}
		}
	}
	if !ears.has(func(tag string, _ *payload.Map) bool { return tag == "minion_start" }) {
		t.Error("no legacy event of a start")
	}
	pub, err := s.client().Publish(t.Context(), pingJob())
	if !regexp.MustCompile(fmt.Sprintf(`^\d{20}_%d$`, s.master.cmd.Process.Pid)).MatchString(pub.JID) {
		t.Errorf("unique_jid: the job id is %s, %v", pub.JID, err)
	}
	s.eventually("a job with a unique id in the store", func() error {
		if got := s.tool("salt-run", "jobs.lookup_jid", pub.JID); !strings.Contains(got.stdout, honest) {
			return errors.New(got.stdout + got.stderr)
		}
		return nil
	})
	for _, args := range [][]string{{"salt.cmd", "test.ping"}, {"salt.execute", "*", "test.ping"}} {
		if got := s.tool("salt-run", args...); !strings.Contains(got.stdout+got.stderr, "is not available") {
			t.Errorf("disable_runners: %q: %s%s", args, got.stdout, got.stderr)
		}
	}
	for _, fun := range []string{"config.values", "config.update_config"} {
		v, err := s.client().Wheel(t.Context(), client.Call{Fun: fun})
		if err != nil || v.Map().Bool("success") {
			t.Errorf("disable_wheels: %s: %v, %v", fun, v, err)
		}
	}
	s.good()
}

// TestFailOpenRevoke: a thief asks the master to revoke the stolen key.
func TestFailOpenRevoke(t *testing.T) {
	s := newSite(t, "allow_minion_key_revoke: False\n")
	s.thief("keeper", nil).must(payload.M("cmd", "revoke_auth", "id", "keeper"))
	if _, err := os.Stat(s.pki("minions/keeper")); err != nil {
		t.Errorf("allow_minion_key_revoke: False, and the key has gone: %v", err)
	}
	s.good()
}

// TestFailOpenRules offers keys to masters whose files of rules could have been written by other users.
func TestFailOpenRules(t *testing.T) {
	s := newBareSite(t, "")
	for i, tt := range []struct {
		conf string
		mode os.FileMode
		want bool
	}{
		{"autosign_file: /rules", 0o644, true},
		{"autosign_file: /rules", 0o666, false},
		{"autosign_file: /rules", 0o664, false},
		{"autosign_file: /rules\npermissive_pki_access: True", 0o664, true},
		{"autosign_file: /rules\npermissive_pki_access: True", 0o666, false},
		{"autosign_file: /rules\nautoreject_file: /rules", 0o644, false},
		{"auto_accept: 'yes'", 0o644, false},
		{"open_mode: 1", 0o644, false},
	} {
		s.write(s.path("m/rules"), "thief.*\n")
		if err := os.Chmod(s.path("m/rules"), tt.mode); err != nil {
			t.Fatal(err)
		}
		s.master.stop()
		conf := strings.Replace(fmt.Sprintf(masterConf, s.path("m"), s.pub, s.ret, s.user), "auto_accept: True\n", "",
			1)
		s.write(s.path("etc/m/master"), conf+tt.conf+"\n")
		s.startMaster()
		id := fmt.Sprint("thief", i)
		verdict, err := s.offer(id)
		if err != nil || (verdict == auth.Accepted) != tt.want {
			t.Errorf("%s, mode %o: %v, %v", tt.conf, tt.mode, verdict, err)
		}
		if _, err := os.Stat(s.pki("minions/" + id)); (err == nil) != tt.want {
			t.Errorf("%s, mode %o: the key is accepted: %v", tt.conf, tt.mode, err == nil)
		}
	}
	s.good()
}

// offer signs in once with an unknown key.
func (s *site) offer(id string) (auth.Verdict, error) {
	s.t.Helper()
	key, err := oneKey()
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := auth.NewMinion(auth.MinionOptions{ID: id, Key: key, Trust: trust.Dir{Path: s.t.TempDir()},
		AcceptanceWait: time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	step, err := (&thief{s.stranger(), id, a, key}).trySignIn()
	return step.Verdict, err
}
