package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/wire/disk/setaside"
)

// These are the ways in which a daemon can treat a damaged file of its state at its start.
const (
	told    = "told"    // the log names the file, a copy is kept, and the daemon starts without it
	anew    = "anew"    // the data can be made again without loss; the daemon starts, and makes it when needed
	copied  = "copied"  // the file is for other programs; the data also exists elsewhere
	named   = "named"   // the log names the file, which stays for the operator; the daemon starts and tries it again
	refuses = "refuses" // the daemon names the file and does not start, because the file is its identity
	nothing = "nothing" // the file holds no data that a daemon reads again
)

// stateFile is a row in the table of state files. The table covers every file that a master, a minion or a
// salt-api leaves below its root_dir. Each row has a file, or its own test.
type stateFile struct {
	what string
	path string // a pattern of filepath.Match, below the folder of the site
	want string
	own  string // the test that makes such a file, if TestStateFiles does not
}

const cacheM, cacheW = "m/var/cache/salt/master/", "web1/var/cache/salt/minion/"

var stateFiles = []stateFile{
	{what: "job store", path: cacheM + "jobs.db", want: told},
	{what: "notes of jobs", path: cacheM + "jobs.notes", want: told},
	{what: "events for the Reactor", path: cacheM + "reactor.backlog", want: told},
	{what: "events for returners", path: cacheM + "event_return/*.records", want: told},
	{what: "what a returner has of them", path: cacheM + "event_return/*.place", want: told},
	{what: "jobs for returners", path: cacheM + "job_cache/*.records", want: told},
	{what: "what a returner has of them", path: cacheM + "job_cache/*.place", want: told},
	{what: "grains of minions", path: cacheM + "grains/*.p", want: anew}, // the minion sends them when it connects
	{what: "pillar of minions", path: cacheM + "pillar/*.p", want: told},
	{what: "mine of minions", path: cacheM + "mine/*.p", want: told},
	{what: "grains and pillar of minions, for older tools", path: cacheM + "minions/*/data.p", want: copied},
	{what: "mine of minions, for older tools", path: cacheM + "minions/*/mine.p", want: copied},
	{what: "programs that run", path: "*/var/cache/salt/*/programs", want: anew}, // readable programs are ended
	{what: "tokens", path: cacheM + "tokens/*", want: told},
	{what: "keys of local users", path: cacheM + ".*_key", want: told},
	{what: "load of a job, for Salt's tools", path: cacheM + "jobs/*/*/.load.p", want: copied},
	{what: "minions of a job, for Salt's tools", path: cacheM + "jobs/*/*/.minions.p", want: copied},
	{what: "id of a job, for Salt's tools", path: cacheM + "jobs/*/*/jid", want: copied},
	{what: "return of a job, for Salt's tools", path: cacheM + "jobs/*/*/*/return.p", want: copied},
	{what: "session keys", path: cacheM + "sessions/*", want: anew},
	{what: "whose they are", path: cacheM + "session_keys/*", want: anew},
	{what: "who was there", path: cacheM + "presence-data", want: anew},
	{what: "last deaths of actors", path: cacheM + "brine_deaths.jsonl", want: anew},
	{what: "health", path: cacheM + "health/*", want: nothing},
	{what: "output of a crash", path: cacheM + "crashes/*", want: nothing},
	{what: "own key of the master", path: "m/etc/salt/pki/master/master.pem", want: refuses},
	{what: "its public part", path: "m/etc/salt/pki/master/master.pub", want: anew},
	{what: "accepted key", path: "m/etc/salt/pki/master/minions/web1", want: named},
	{what: "ids of accepted keys, for Salt's tools", path: "m/etc/salt/pki/master/minions/.key_cache", want: copied},
	{what: "jobs and returns of a minion", path: cacheW + "jobs.journal", want: told},
	{what: "jobs it has taken", path: cacheW + "jobs.past", want: told},
	{what: "jobs that run, for Salt's tools", path: cacheW + "proc/*", want: told},
	{what: "jobs that wait", path: cacheW + "queues/*/job_queue/*", want: told},
	{what: "copies of returns for returners", path: cacheW + "returners/*.p", want: told},
	{what: "returns, for salt-call", path: cacheW + "minion_jobs/*/*", want: copied},
	{what: "grains of the minion", path: cacheW + "grains.cache.p", want: anew},
	{what: "pillar of the minion", path: cacheW + "pillar/*", want: anew},
	{what: "last deaths of actors", path: cacheW + "brine_deaths.jsonl", want: anew},
	{what: "output of a crash", path: cacheW + "crashes/*", want: nothing},
	{what: "own key of a minion", path: "web1/etc/salt/pki/minion/minion.pem", want: refuses},
	{what: "its public part", path: "web1/etc/salt/pki/minion/minion.pub", want: anew},
	{what: "trusted key of the master", path: "web1/etc/salt/pki/minion/minion_master.pub", want: named},
	{what: "marks that a master runs", path: "m/var/run/salt/master/*", want: nothing},
	{what: "process ids", path: "*/var/run/*.pid", want: nothing},
	{what: "logs", path: "*/var/log/salt/*", want: nothing},
}

// rowOf returns the row for a file.
func rowOf(t *testing.T, name string) *stateFile {
	t.Helper()
	for i, row := range stateFiles {
		ok, err := filepath.Match(row.path, name)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			return &stateFiles[i]
		}
	}
	t.Errorf("no row of the table of the files of state is about %s: what becomes of it when the disk damages it?",
		name)
	return nil
}

// TestStateFiles makes a master and a minion create every kind of state, and kills both. Then it starts them
// with every file emptied, cut in half, or filled with noise.
func TestStateFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	t.Parallel()
	s := newSilentSite(t)
	s.withState(t)
	gold := t.TempDir()
	s.copyState(t, s.dir, gold)
	var files []string
	met := map[string]bool{}
	for _, root := range []string{"m", "web1"} {
		err := filepath.WalkDir(filepath.Join(gold, root), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				name, _ := filepath.Rel(gold, path)
				if row := rowOf(t, name); row != nil {
					met[row.path], files = true, append(files, name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range stateFiles {
		if !met[row.path] && row.own == "" {
			t.Errorf("no file is there for %s (%s)", row.what, row.path)
		}
	}
	for _, harm := range []string{"emptied", "cut", "noise"} {
		t.Run(harm, func(t *testing.T) { s.startHarmed(t, gold, files, harm) })
	}
	for _, name := range files {
		if row := rowOf(t, name); row.want == named || row.want == refuses {
			t.Run(row.want+" "+filepath.Base(name), func(t *testing.T) { s.startWithout(t, gold, name, row.want) })
		}
	}
}

// withState makes every kind of state, and kills the daemons meanwhile.
func (s *silentSite) withState(t *testing.T) {
	t.Helper()
	nobody := s.port() // no Redis server listens there
	s.config("presence_events: True", "pillar_cache: True", "key_cache: sched", "loop_interval: 1",
		"master_job_cache: redis", fmt.Sprintf("redis.host: 127.0.0.1\nredis.port: %d", nobody),
		"event_return: [rawfile_json]", "rawfile_json.filename: "+s.path("events.json"),
		"reactor: [{'custom/*': ["+s.path("react.sls")+"]}]", "sharedsecret: pw",
		"external_auth: {sharedsecret: {admin: ['.*', '@runner']}}",
		"pillar_roots: {base: ["+s.path("pillar")+"]}")
	s.write("react.sls", "wait:\n  runner.test.sleep:\n    - args:\n      - s_time: 600\n", 0o644)
	s.write("pillar/top.sls", "base: {'*': [p]}\n", 0o644)
	s.write("pillar/p.sls", "k: v\n", 0o644)
	s.minion("web1", false, "process_count_max: 1", "return: redis",
		fmt.Sprintf("redis.host: 127.0.0.1\nredis.port: %d", nobody), "grains_cache: True", "minion_pillar_cache: True",
		"mine_functions: {test.ping: []}", "cache_jobs: True", "chaos: True")
	s.edit(t, "web1", "mine_enabled: False", "mine_enabled: True")
	s.start("master", "salt-master")
	s.start("web1", "salt-minion")
	s.connected(t, "yes", "web1")
	s.run(t, "salt", "-a", "sharedsecret", "--username=admin", "--password=pw", "-T", "web1", "test.ping")
	s.run(t, "salt", "web1", "mine.update")
	s.run(t, "salt", "web1", "pillar.items")
	s.run(t, "brine", "crash", "--how", "panic", "Maintenance")
	s.run(t, "brine", "crash", "--how", "panic", "--local-minion", "Scheduler")
	s.publish(t, "web1", "glob", "test.sleep", "600")
	s.until(t, "a proc entry", func() bool { return s.has(cacheW + "proc/*") })
	s.publish(t, "web1", "glob", "test.sleep", "601")
	s.until(t, "a job that waits", func() bool { return s.has(cacheW + "queues/*/job_queue/*") })
	for range 3 {
		s.run(t, "salt-run", "event.send", "custom/x")
	}
	for _, pattern := range []string{"presence-data", "event_return/*.place", "job_cache/*.place", "pillar/*.p",
		"mine/*.p", "jobs/*/*/*/return.p", "brine_deaths.jsonl"} {
		s.until(t, pattern, func() bool { return s.has(cacheM + pattern) })
	}
	s.until(t, "the minion's deaths", func() bool {
		return s.has(cacheW+"brine_deaths.jsonl") && s.has(cacheW+"returners/*.p")
	})
	s.until(t, "events for the Reactor", func() bool {
		info, err := os.Stat(s.path(cacheM + "reactor.backlog"))
		return err == nil && info.Size() > 8300
	})
	s.stop("master", syscall.SIGKILL)
	s.stop("web1", syscall.SIGKILL)
}

func (s *silentSite) has(pattern string) bool {
	list, err := filepath.Glob(s.path(pattern))
	return err == nil && len(list) > 0
}

// run runs a tool with the configuration of the master, or of the minion.
func (s *silentSite) run(t *testing.T, words ...string) string {
	t.Helper()
	dir := s.path("etc/master")
	if slices.Contains(words, "--local-minion") {
		dir = s.path("etc/web1")
	}
	cmd := exec.CommandContext(t.Context(), words[0], append(slices.Clone(words[1:]), "-c", dir)...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%v: %v\n%s", words, err, out)
	}
	return string(out)
}

// copyState copies the files that the daemons have left.
func (s *silentSite) copyState(t *testing.T, from, to string) {
	t.Helper()
	for _, root := range []string{"m", "web1"} {
		if err := os.RemoveAll(filepath.Join(to, root)); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(from, root),
			filepath.Join(to, root)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// damage harms a file in one of three ways, and returns its new content.
func (s *silentSite) damage(t *testing.T, name, harm string) (b []byte) {
	t.Helper()
	path := s.path(name)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch harm {
	case "cut":
		b = old[:len(old)/2]
	case "noise":
		sum := crc32.ChecksumIEEE([]byte(name))
		random := rand.New(rand.NewPCG(uint64(sum), 7))
		for range max(len(old), 4096) {
			b = append(b, byte(random.Uint32()))
		}
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return b
}

// restore sets the state back to the moment when the daemons were killed, with empty logs.
func (s *silentSite) restore(t *testing.T, gold string) {
	t.Helper()
	s.copyState(t, gold, s.dir)
	for _, log := range []string{"master.log", "web1.log", "m/var/log/salt/master", "web1/var/log/salt/minion"} {
		if err := os.WriteFile(s.path(log), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// both returns the logs of both daemons.
func (s *silentSite) both() string {
	var b strings.Builder
	for _, log := range []string{"m/var/log/salt/master", "web1/var/log/salt/minion", "master.log", "web1.log"} {
		text, _ := os.ReadFile(s.path(log))
		b.Write(text)
	}
	return b.String()
}

// startHarmed starts both daemons with every file damaged, except those that decide which keys are trusted.
// Both daemons work, and report all lost data.
func (s *silentSite) startHarmed(t *testing.T, gold string, files []string, harm string) {
	s.restore(t, gold)
	now := map[string][]byte{}
	for _, name := range files {
		if row := rowOf(t, name); row.want == told || row.want == anew || row.want == copied {
			now[name] = s.damage(t, name, harm)
		}
	}
	s.start("master", "salt-master")
	s.start("web1", "salt-minion")
	defer s.stop("master", syscall.SIGKILL)
	defer s.stop("web1", syscall.SIGKILL)
	s.connected(t, "yes", "web1")
	s.until(t, "the minion answers", func() bool {
		return strings.Contains(s.run(t, "salt", "-t", "5", "--out=json", "--static", "web1", "test.ping"),
			`"web1": true`)
	})
	for _, use := range [][]string{{"-G", "os:*", "test.ping"}, {"-I", "k:v", "test.ping"}, {"web1", "mine.get", "web1",
		"test.ping"}} {
		s.run(t, append([]string{"salt", "-t", "5"}, use...)...)
	}
	for name, b := range now {
		if rowOf(t, name).want != told {
			continue
		}
		path, beside := s.path(name), filepath.Base(name)
		if strings.Contains(name, "/tokens/") { // the name is a secret
			path = filepath.Join(filepath.Dir(path), beside[:6]+"...")
		}
		s.until(t, fmt.Sprintf("a word about %s (%s)", name, rowOf(t, name).what), func() bool {
			return strings.Contains(s.both(), path)
		})
		if !s.beside(t, name, b) {
			t.Errorf("%s (%s) is not kept as it was", name, rowOf(t, name).what)
		}
	}
	if t.Failed() {
		t.Log(s.both())
	}
}

// beside tells whether the damaged file was kept beside its place, or in the folder for such files.
func (s *silentSite) beside(t *testing.T, name string, b []byte) bool {
	t.Helper()
	dir, base := filepath.Split(s.path(name))
	var all []string
	for _, at := range []string{dir, s.path(cacheM + setaside.Folder), s.path(cacheW + setaside.Folder)} {
		entries, _ := os.ReadDir(at)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), base+setaside.Mark) {
				all = append(all, filepath.Join(at, e.Name()))
			}
		}
	}
	return slices.ContainsFunc(all, func(path string) bool {
		got, err := os.ReadFile(path)
		return err == nil && bytes.Equal(got, b)
	})
}

// startWithout starts both daemons with one damaged file that holds an identity.
func (s *silentSite) startWithout(t *testing.T, gold, name, want string) {
	for _, harm := range []string{"emptied", "cut", "noise"} {
		s.restore(t, gold)
		s.damage(t, name, harm)
		s.start("master", "salt-master")
		s.start("web1", "salt-minion")
		who := "master"
		if strings.HasPrefix(name, "web1") {
			who = "web1"
		}
		s.until(t, "a word about "+name, func() bool { return strings.Contains(s.both(), s.path(name)) })
		if want == refuses {
			if err := s.proc(who).Wait(); err == nil {
				t.Errorf("%s %s: the daemon ends well", name, harm)
			}
		} else if s.run(t, "salt", "-t", "1", "--out=json", "--static", "web1",
			"test.ping"); !runs(s.proc("master").Process.Pid) || !runs(s.proc("web1").Process.Pid) {
			t.Errorf("%s %s: a daemon has ended\n%s", name, harm, s.both())
		}
		s.stop("master", syscall.SIGKILL)
		s.stop("web1", syscall.SIGKILL)
	}
}
