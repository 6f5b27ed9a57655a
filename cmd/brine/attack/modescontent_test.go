package attack

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// contentConf lets a master and its minion store all data of files, pillars, returners, the Reactor, engines
// and the schedule. The database does not exist, so its data waits on disk. ROOT is the directory of the site.
const contentConf = `event_return: [elasticsearch, rawfile_json]
elasticsearch: {hosts: ['http://127.0.0.1:PORT']}
rawfile_json.filename: ROOT/m/var/events.json
master_job_cache: redis
redis.host: 127.0.0.1
redis.port: PORT
fileserver_backend: [roots, git, minion]
file_roots: {base: [ROOT/srv]}
gitfs_remotes: ['file://ROOT/git/.git']
gitfs_base: main
ext_pillar: [{git: ['main file://ROOT/git/.git': [{env: base}]]}]
pillar_cache: True
file_recv: True
presence_events: True
reactor: [{'my/*': [ROOT/react.sls]}]
schedule: {s: {function: test.arg, args: [x], seconds: 1}}
engines: [{tests: {program: [/bin/sleep, '1000'], events: ['*']}}, {script: {cmd: 'echo {}', interval: 1}}]
`

// contentOf starts a master and a minion with contentConf and uses all of it. The repository, the pillar, a
// pushed file and a job contain the secret.
func contentOf(t *testing.T, secret string) *site {
	t.Helper()
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("srv/file"), "file")
	s.write(s.path("react.sls"), "{}\n")
	s.write(s.path("push/file"), secret)
	s.write(s.path("git/top.sls"), "base: {'*': [data]}\n")
	s.write(s.path("git/data.sls"), "data: "+secret+"\n")
	s.repository(s.path("git"))
	s.writeMaster(strings.NewReplacer("ROOT", s.root, "PORT", fmt.Sprint(s.port())).Replace(contentConf))
	s.startMaster()
	port := fmt.Sprint(s.port())
	s.startMinion(honest, "return: [redis]\nredis.host: 127.0.0.1\nredis.port: "+port+"\nminion_pillar_cache: True\n")
	for _, args := range [][]string{{"fileserver.update"}, {"git_pillar.update"}} {
		if r := s.tool("salt-run", args...); r.code != 0 {
			t.Errorf("%q: %+v", args, r)
		}
	}
	for _, tt := range []struct {
		want string
		job  client.Job
	}{
		{"data.sls", client.Job{Fun: "cp.cache_file", Arg: []any{"salt://data.sls"}}},
		{"true", client.Job{Fun: "cp.push", Arg: []any{s.path("push/file")}}},
		{secret, client.Job{Fun: "cmd.run", Arg: []any{"echo " + secret}, Ret: "redis"}},
		{"", client.Job{Fun: "saltutil.refresh_pillar"}},
		{"", client.Job{Fun: "schedule.add", Arg: []any{"one", payload.M("__kwarg__", true, "function", "test.ping",
			"seconds", 3600)}}},
		{"", client.Job{Fun: "event.send", Arg: []any{"my/event", payload.M("x", secret)}}},
	} {
		tt.job.Tgt = honest
		got, err := s.run(patience, tt.job)
		if err != nil || !strings.Contains(fmt.Sprint(got[honest].Value("return")), tt.want) {
			t.Errorf("%s: %v, %v", tt.job.Fun, got[honest].Value("return"), err)
		}
	}
	s.eventually("the pillar", func() error {
		if r := s.tool("salt-run", "pillar.show_pillar", honest); !strings.Contains(r.stdout, secret) {
			return fmt.Errorf("%+v", r)
		}
		return nil
	})
	return s
}

// repository turns a folder into a git repository with all its files on the branch main.
func (s *site) repository(dir string) {
	s.t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=x", "-c",
		"user.email=x@y", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(s.env(), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// TestModesOfContent checks the files of files, pillars, returners, the Reactor, engines and schedules, with a
// common umask. A neighbour can open none of them.
func TestModesOfContent(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	s := contentOf(t, "secret-of-content")
	allowed := append(slices.Clone(wider), widened{"/var/cache/salt/minion/files/base/*", 0o644,
		"as Salt; the folder above is 0700"})
	for _, place := range []string{"m/var/cache/salt/master/event_return", "m/var/cache/salt/master/job_cache",
		"m/var/cache/salt/master/brine_gitfs", "m/var/cache/salt/master/minions/" + honest + "/files",
		"m/var/events.json", honest + "/var/cache/salt/minion/files"} {
		s.eventually(place, func() error {
			if len(s.files(place)) == 0 {
				return fs.ErrNotExist
			}
			return nil
		})
	}
	s.checkModes(allowed)
	s.good()
	if os.Geteuid() == 0 {
		s.neighbourTries()
	}
	s.minions[honest].kill()
	s.master.kill()
	s.checkModes(allowed)
}

// neighbourTries tries to open all files of the master and of the minion as a neighbour.
func (s *site) neighbourTries() {
	var paths []string
	for _, root := range []string{s.path("m"), s.path(honest)} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type()&fs.ModeSocket == 0 {
				paths = append(paths, path)
			}
			return nil // it was removed meanwhile
		})
	}
	if !slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(p, "/brine_gitfs/") }) {
		s.t.Error("there is no copy of a repository to try")
	}
	actAs(neighbour(s.t), func() {
		for _, path := range paths {
			s.tryFile(path)
		}
	})
}
