package attack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// open are files of daemons that a neighbour may read, by parts of their paths. They contain no secret.
var open = []string{"/etc/m/", "/etc/" + honest + "/", "/var/cache/salt/master/health/",
	"/var/cache/salt/minion/extmods/", "/module_refresh", ".pid"}

// TestNeighbour: another user of the machine can read and write nothing of a master and a minion, and can
// connect to none of their sockets.
func TestNeighbour(t *testing.T) {
	who := neighbour(t)
	s := newSite(t, "")
	for _, job := range []client.Job{{Tgt: honest, Fun: "grains.setval", Arg: []any{"secret", forged}},
		{Tgt: honest, Fun: "cmd.run", Arg: []any{"echo " + forged}}} {
		if got, err := s.run(patience, job); err != nil || got[honest] == nil {
			t.Fatalf("%v: %v, %v", job.Fun, got, err)
		}
	}
	s.write(s.cache("tokens/0123456789abcdef"), forged)
	if err := os.Chmod(s.cache("tokens"), 0o700); err != nil {
		t.Fatal(err)
	}
	var paths, sockets []string
	for _, root := range []string{s.path("m"), s.path(honest)} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil: // it was removed meanwhile
			case d.Type()&fs.ModeSocket != 0:
				sockets = append(sockets, path)
			default:
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{s.pki("master.pem"), s.pki("minions/" + honest), s.cache("tokens/0123456789abcdef"),
		s.path(honest + "/etc/salt/pki/minion/minion.pem")} {
		if !slices.Contains(paths, name) {
			t.Errorf("there is no %s to try", name)
		}
	}
	if len(sockets) < 3 {
		t.Errorf("there are only %q to connect to", sockets)
	}
	actAs(who, func() {
		for _, path := range paths {
			s.tryFile(path)
		}
		for _, path := range sockets {
			if err := connect(path); !errors.Is(err, unix.EACCES) {
				t.Errorf("a neighbour connects to %s: %v", path, err)
			}
		}
	})
	s.good()
}

// tryFile opens a file, or makes one in a directory.
func (s *site) tryFile(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return // it was removed, or the neighbour cannot see it
	}
	free := func(part string) bool { return strings.Contains(path, part) }
	flags := []int{unix.O_RDONLY, unix.O_WRONLY}
	if info.IsDir() {
		path, flags = filepath.Join(path, "new"), []int{unix.O_WRONLY | unix.O_CREAT}
	}
	for _, flag := range flags {
		fd, err := unix.Open(path, flag|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
		if err != nil {
			continue
		}
		_ = unix.Close(fd)
		if flag != unix.O_RDONLY || !slices.ContainsFunc(open, free) {
			s.t.Errorf("a neighbour opens %s with flags %#x", path, flag)
		}
	}
}

// connect connects to a Unix socket, in the calling thread.
func connect(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

// actAs calls f in a thread with another user's identity. The thread ends with f.
func actAs(who *syscall.Credential, f func()) {
	done := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that Go ends the thread
		_, _, groups := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0)
		gid, uid := uintptr(who.Gid), uintptr(who.Uid)
		_, _, group := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid)
		_, _, user := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid)
		if groups != 0 || group != 0 || user != 0 {
			done <- errors.Join(groups, group, user)
			return
		}
		f()
	}()
	if err := <-done; err != nil {
		panic(err)
	}
}

// TestNeighbourTools: brine's own tools refuse a neighbour who runs them with the configuration of the master.
func TestNeighbourTools(t *testing.T) {
	who := neighbour(t)
	s := newSite(t, "")
	e := s.listen()
	for _, argv := range [][]string{
		{"salt", "-t", "2", honest, "test.echo", forged}, {"salt", "--async", honest, "test.echo", forged},
		{"salt", "-t", "2", "-b", "1", "*", "test.echo", forged}, {"salt-key", "-L"}, {"salt-key", "-y", "-d", honest},
		{"salt-key", "-y", "-A"}, {"salt-key", "-F"}, {"salt-key", "-p", honest}, {"salt-run", "jobs.list_jobs"},
		{"salt-run", "manage.up"}, {"salt-run", "event.send", "salt/x", `{"x": "` + forged + `"}`}, {"brine", "tree"},
		{"brine", "jobs"}, {"brine", "minions"}, {"brine", "history"}, {"brine", "stack"},
		{"brine", "restart", "master/Publisher"},
		{"brine", "bundle", s.path("bundle")},
	} {
		r := s.toolAs(who, argv[0], argv[1:]...)
		if said := r.stdout; strings.Contains(said, honest+":\n    "+forged) || strings.Contains(said, honest+"\n") ||
			strings.Contains(said, "BEGIN PUBLIC") ||
			argv[0] == "brine" && r.code == 0 {
			t.Errorf("%q: a neighbour gets %+v", argv, r)
		}
	}
	if _, err := os.Stat(s.pki("minions/" + honest)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.path("bundle")); err == nil {
		t.Error("a neighbour has made a bundle")
	}
	if e.has(isForged) {
		t.Errorf("a neighbour is heard: %v", e.all())
	}
	s.good()
}

// TestThiefBeside: a thief with the key of a running minion signs in beside it. The protocol cannot distinguish
// the two, but the thief has no access to the data of the master, of other minions or of the operator. The
// minion works on.
func TestThiefBeside(t *testing.T) {
	s := newSite(t, "")
	other := s.thief("other", nil)
	other.must(payload.M("cmd", payload.CmdMine, "id", "other", "data", payload.M("test.ping", "of the other")))
	th := s.thiefOf(honest).namer()
	s.good()
	e := s.listen()
	for _, load := range []*payload.Map{ // with the id of another, or as a master
		payload.M("cmd", payload.CmdReturn, "id", "other", "jid", "20260101000000000001", "fun", "test.ping", "return",
			forged, "retcode", 0),
		payload.M("cmd", payload.CmdMinionEvent, "id", "other", "tag", "salt/minion/other/start", "data",
			payload.M("x", forged), "pretag", nil),
		payload.M("cmd", payload.CmdMinionEvent, "id", honest, "tag", "salt/key", "data", payload.M("id", "other",
			"act", "delete", "x", forged), "pretag", nil),
		payload.M("cmd", payload.CmdPillar, "id", "other", "grains", payload.M("id", "other", "x", forged), "saltenv",
			"base", "ver", "2"),
		payload.M("cmd", payload.CmdMine, "id", "other", "data", payload.M("test.ping", forged)),
		payload.M("cmd", payload.CmdMineFlush, "id", "other"),
		payload.M("cmd", payload.CmdRevokeAuth, "id", "other"),
	} {
		for version := range 4 {
			if err := th.say(version, load); err != nil {
				t.Errorf("%v: %v", load, err)
			}
			if err := th.say(version, load.Clone().Set("tok", th.auth.Token())); err != nil {
				t.Errorf("%v: %v", load, err)
			}
		}
	}
	for _, load := range []*payload.Map{ // with its own id, for operations that no minion may do
		payload.M("cmd", payload.CmdServeFile, "id", honest, "path", s.pki("master.pem"), "saltenv", "base", "loc", 0),
		payload.M("cmd", payload.CmdServeFile, "id", honest, "path", "../../../../etc/salt/pki/master/master.pem",
			"saltenv", "base", "loc", 0),
		payload.M("cmd", payload.CmdFileRecv, "id", honest, "path", []any{"..", "..", "..", "x"}, "loc", 0, "size", 1,
			"data", []byte("x")),
		payload.M("cmd", payload.CmdMinionPub, "id", honest, "fun", "cmd.run", "arg", []any{"echo " + forged}, "tgt",
			"*", "tgt_type", "glob", "ret", "", "tmo", 1),
		payload.M("cmd", payload.CmdMinionRunner, "id", honest, "fun", "test.arg", "arg", []any{forged}),
		payload.M("cmd", payload.CmdWheel, "id", honest, "fun", "key.accept", "kwarg", payload.M("match", "*")),
	} {
		v, err := th.do(load)
		if text := fmt.Sprintf("%s", v); isForged("", payload.M("v", v)) || strings.Contains(text, "PRIVATE KEY") {
			t.Errorf("%v is answered %v, %v", load, v, err)
		}
	}
	if e.has(func(tag string, data *payload.Map) bool { return tag != "brine/minion/refused" && isForged(tag, data) }) {
		t.Errorf("events of the thief: %v", e.all())
	}
	other.must(payload.M("cmd", payload.CmdFileEnvs, "id", "other")) // the other minion's session is still valid
	if mine := s.tool("salt-run", "--out=json", "mine.get", "other", "test.ping"); !strings.Contains(mine.stdout,
		"of the other") {
		t.Errorf("the mine of another minion: %+v", mine)
	}
	if r := s.tool("salt-key", "--out=json", "-L"); !strings.Contains(r.stdout, `"other"`) ||
		!strings.Contains(r.stdout, `"`+honest+`"`) {
		t.Errorf("keys: %+v", r)
	}
	if r := s.tool("brine", "tree"); r.code != 0 {
		t.Errorf("the operator's tree: %+v", r)
	}
	s.good()
}
