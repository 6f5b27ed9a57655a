package attack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// fullContentConf enables everything that stores data in a master's cache directory beside jobs: events for an
// unreachable server, events for the Reactor, pillars, copies of a repository. ROOT is the directory of the
// site, PORT a port without a listener.
const fullContentConf = `event_return: [rawfile_json, elasticsearch]
event_return_whitelist: ['my/*']
event_return_queue: 0
rawfile_json.filename: ROOT/events.json
elasticsearch: {hosts: ['http://127.0.0.1:PORT']}
reactor: [{'my/*': [ROOT/react.sls]}]
pillar_cache: True
pillar_roots: {base: [ROOT/pillar]}
fileserver_backend: [git]
gitfs_remotes: ['file://ROOT/git/.git']
gitfs_base: main
chaos: True
minion_quota_events: 0
`

// incompressible returns a text that git cannot compress much.
func incompressible(size int) string {
	data := make([]byte, size)
	x := uint64(88172645463325252)
	for i := range data {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		data[i] = byte(x >> 24)
	}
	return string(data)
}

// TestFullDiskContent fills the disk of a master's cache. Every event still gets its reaction and its hand-over
// once. Pillars are up to date, fetched files are served, and data that cannot be stored is reported. When
// there is space again, nothing is missing, and no incomplete file is left.
func TestFullDiskContent(t *testing.T) {
	t.Parallel() // it mostly waits
	if !mayMount(t) {
		return
	}
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("pillar/top.sls"), "base: {'*': [one]}\n")
	s.write(s.path("pillar/one.sls"), "at: first\n")
	s.write(s.path("react.sls"), "mark:\n  local.cmd.run:\n    - tgt: "+honest+
		"\n    - args: [{cmd: \"echo {{ data['n'] }} >> "+s.path("marks")+"\"}]\n")
	s.write(s.path("git/file"), "served")
	s.write(s.path("git/other"), "not asked for before")
	s.repository(s.path("git"))
	s.writeMaster(strings.NewReplacer("ROOT", s.root, "PORT", fmt.Sprint(s.port())).Replace(fullContentConf))
	d := s.disk(t, s.cache(""), 24<<20)
	s.startMaster()
	s.startMinion(honest, "")
	th := s.thief("thief", nil)
	s.tool("salt-run", "fileserver.update")
	s.pillarIs(th, "first")
	if got := s.served(th, "file"); got != "served" {
		t.Errorf("what is fetched: %q", got)
	}
	fired := 0
	fire := func() {
		for range 20 {
			th.must(payload.M("cmd", payload.CmdMinionEvent, "id", th.id, "events",
				[]any{payload.M("tag", "my/event", "data", payload.M("n", fired, "text",
					strings.Repeat("x", 10<<10)))}))
			fired++
		}
	}
	fire()
	s.marked(fired)
	d.fill()
	fire()
	s.marked(fired)
	s.said(s.master, "cannot be written to disk")
	s.write(s.path("pillar/one.sls"), "at: second\n")
	s.eventually("that the pillar changes", func() error {
		r := s.tool("salt-run", "pillar.clear_pillar_cache") // otherwise the cached pillar would be used
		if got := wholly(th.pillar()); !strings.Contains(got, "second") {
			return fmt.Errorf("%s, %+v", got, r)
		}
		return nil
	})
	s.write(s.path("git/large"), incompressible(4<<20))
	s.commit("git", "large")
	s.tool("salt-run", "fileserver.update")
	s.said(s.master, "no space left on device")
	if got := s.served(th, "file"); got != "served" {
		t.Errorf("what was fetched before: %q", got)
	}
	if got := s.told("cp.get_file_str", "salt://other"); !strings.Contains(got, "the file server could not look for") {
		// an error, and not an empty answer
		t.Errorf("what was fetched and cannot be unpacked: %q", got)
	}
	if got := s.served(th, "large"); got != "" {
		t.Errorf("a file that there is no room for has %d bytes", len(got))
	}
	for _, actor := range []string{"Reactor", "ReactorKeeper", "EventReturn", "FileServer", "Pillar"} {
		if r := s.tool("brine", "crash", actor); r.code != 0 {
			t.Errorf("crash %s: %+v", actor, r)
		}
	}
	fire()
	s.marked(fired)
	s.good()
	d.free()
	s.eventually("the large file", func() error {
		s.tool("salt-run", "fileserver.update")
		if got := s.served(th, "large"); len(got) == 0 {
			return os.ErrNotExist
		}
		return nil
	})
	s.noTemporaries(s.cache("brine_gitfs"))
	fire()
	s.marked(fired)
	s.master.kill()
	s.startMaster()
	th = s.thief("thief", nil)
	s.eventually("the honest minion", func() error { return s.ping(second() / 2) })
	fire()
	s.marked(fired)
	s.eventually("events in the file", func() error { return handedOver(readText(t, s.path("events.json")), fired) })
	s.good()
}

// handedOver returns an error unless a file of events contains each of them. An event in progress when the
// master was killed may be there twice.
func handedOver(text string, fired int) error {
	for n := range fired {
		if got := strings.Count(text, fmt.Sprintf(`"n": %d,`, n)); got < 1 || got > 2 {
			return fmt.Errorf("event %d is there %d times", n, got)
		}
	}
	return nil
}

// marked waits until the honest minion has run the reactions to the given number of events, each once.
func (s *site) marked(fired int) {
	s.t.Helper()
	var marks []string
	s.eventually("reactions", func() error {
		text, err := os.ReadFile(s.path("marks"))
		if marks = strings.Fields(string(text)); err == nil && len(marks) < fired {
			err = fmt.Errorf("%d of %d", len(marks), fired)
		}
		return err
	})
	slices.Sort(marks)
	if len(slices.Compact(marks)) != fired || len(marks) != fired {
		s.t.Errorf("%d reactions to %d events: %q", len(marks), fired, marks)
	}
}

// pillar returns the pillar that the master sends this minion.
func (th *thief) pillar() *payload.Map {
	th.s.t.Helper()
	ctx, cancel := context.WithTimeout(th.s.t.Context(), patience)
	defer cancel()
	m, err := th.askPillar(ctx, payload.M("cmd", payload.CmdPillar, "id", th.id, "grains", payload.M("id", th.id),
		"saltenv", "base", "pillarenv", nil, "ver", "2", "pillar_override", nil, "extra_minion_data", payload.M(),
		"clean_cache", false))
	if err != nil {
		th.s.t.Fatalf("the pillar of %s: %v", th.id, err)
	}
	return m
}

// askPillar asks for a pillar, and decrypts the answer with the key of the minion.
func (th *thief) askPillar(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	frame, nonce, err := th.auth.Seal(load)
	if err != nil {
		return nil, err
	}
	reply, err := th.req.Do(ctx, frame)
	if err != nil {
		return nil, err
	}
	return th.auth.OpenPillar(reply, nonce)
}

func (s *site) pillarIs(th *thief, want string) {
	s.t.Helper()
	if got := wholly(th.pillar()); !strings.Contains(got, want) {
		s.t.Fatalf("the pillar is %s, want %s", got, want)
	}
}

// served is the first piece of a file, or "".
func (s *site) served(th *thief, path string) string {
	s.t.Helper()
	v, err := th.do(payload.M("cmd", payload.CmdServeFile, "id", th.id, "path", path, "saltenv", "base", "loc", 0))
	if err != nil {
		return ""
	}
	m, _ := v.(*payload.Map)
	return string(m.Bytes("data"))
}

// commit adds all new files in a repository of the site.
func (s *site) commit(dir, message string) {
	s.t.Helper()
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "-m",
		message}} {
		cmd := exec.Command("git", append([]string{"-C", s.path(dir)}, args...)...)
		cmd.Env = append(s.env(), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// noTemporaries fails the test for each incomplete file below a folder.
func (s *site) noTemporaries(dir string) {
	s.t.Helper()
	rel, err := filepath.Rel(s.root, dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range s.files(rel) {
		if name := filepath.Base(f); strings.HasPrefix(name, ".brine-") || strings.Contains(name, "tmp") ||
			strings.Contains(name, ".part") {
			s.t.Errorf("%s is left", f)
		}
	}
}

// TestFullDiskFiles lets a minion fetch files that are too large for its disk, into the cache and to a place,
// from its master and from a web server. The job reports the error, no incomplete file is left, and smaller
// files arrive.
func TestFullDiskFiles(t *testing.T) {
	t.Parallel() // it mostly waits
	if !mayMount(t) {
		return
	}
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("srv/large"), incompressible(8<<20))
	s.write(s.path("srv/small"), "small")
	s.writeMaster(fmt.Sprintf("file_roots: {base: [%s]}\n", s.path("srv")))
	s.startMaster()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.FileServer(http.Dir(s.path("srv")))}}
	web.Start()
	t.Cleanup(web.Close)
	cache := s.path(honest + "/var/cache/salt/minion")
	d := s.disk(t, cache, 6<<20)
	s.startMinion(honest, "")
	before := s.files(honest + "/var/cache/salt/minion")
	place := filepath.Join(cache, "place")
	for _, job := range []client.Job{
		{Fun: "cp.cache_file", Arg: []any{"salt://large"}},
		{Fun: "cp.get_file", Arg: []any{"salt://large", place}},
		{Fun: "cp.get_url", Arg: []any{web.URL + "/large", place}},
		{Fun: "cp.cache_file", Arg: []any{web.URL + "/large"}},
		{Fun: "cp.cache_files", Arg: []any{"salt://small,salt://large"}},
	} {
		job.Tgt = honest
		got, err := s.run(patience, job)
		if text := fmt.Sprint(got[honest].Value("return")); err != nil || !strings.Contains(text, "no space left") &&
			!strings.Contains(text, "No space left") {
			t.Errorf("%s %v: %.300s, %v", job.Fun, job.Arg, text, err)
		} else if code, _ := got[honest].Int("retcode"); code == 0 {
			t.Errorf("%s %v ends well: %.300s", job.Fun, job.Arg, text)
		}
		for _, f := range s.files(honest + "/var/cache/salt/minion") {
			if !slices.Contains(before, f) && filepath.Base(f) != "small" && strings.Contains(f, "large") ||
				strings.Contains(f, ".brine-") || f == place {
				t.Errorf("after %s %v: %s is there", job.Fun, job.Arg, f)
			}
		}
		s.good()
	}
	got, err := s.run(patience, client.Job{Tgt: honest, Fun: "cp.get_file_str", Arg: []any{"salt://small"}})
	if text := fmt.Sprint(got[honest].Value("return")); err != nil || text != "small" {
		t.Errorf("a small file: %s, %v", text, err)
	}
	d.fill()
	got, err = s.run(patience, client.Job{Tgt: honest, Fun: "cp.get_file", Arg: []any{"salt://large",
		s.path("elsewhere")}})
	if text := fmt.Sprint(got[honest].Value("return")); err != nil || text != s.path("elsewhere") {
		t.Errorf("to another disk: %s, %v", text, err)
	}
	if text := readText(t, s.path("elsewhere")); text != incompressible(8<<20) {
		t.Errorf("the file has %d bytes", len(text))
	}
	s.good()
}
