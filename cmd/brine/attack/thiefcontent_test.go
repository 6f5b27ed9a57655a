package attack

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"brine/wire/payload"
)

// thiefContentConf enables the features that a thief attacks: cached pillars, states from a program,
// repositories with one served branch, and returners of the master. OWN is the port of the master's database,
// PORT that of the thief's.
const thiefContentConf = `event_return: [rawfile_json]
event_return_queue: 0
rawfile_json.filename: ROOT/m/var/events.json
master_job_cache: redis
redis.host: 127.0.0.1
redis.port: OWN
redis.password: Hidden-redis
evil.redis.host: 127.0.0.1
evil.redis.port: PORT
pillar_cache: True
pillar_roots: {base: [ROOT/pillar]}
master_tops: {ext_nodes: ROOT/nodes}
fileserver_backend: [git, minion]
file_recv: True
gitfs_remotes: ['file://ROOT/git/.git']
gitfs_base: main
gitfs_saltenv_whitelist: [base]
`

const nodesProgram = "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >>ROOT/argv\necho '{classes: [mine], environment: base}'\n"

// TestThiefOfContent has the key of a minion whose name is a command. It names returners and their servers in
// its returns, asks for the cached pillar of another minion, for foreign states and branches, and fires events
// that would break lines.
func TestThiefOfContent(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	own, evil := newDatabase(t), newDatabase(t)
	fill := strings.NewReplacer("ROOT", s.root, "PORT", evil.port, "OWN", own.port)
	s.write(s.path("nodes"), fill.Replace(nodesProgram))
	if err := os.Chmod(s.path("nodes"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write(s.path("pillar/top.sls"), "base: {'"+honest+"': [secret]}\n")
	s.write(s.path("pillar/secret.sls"), "secret: "+forged+"\n")
	s.write(s.path("git/file"), "served")
	s.repository(s.path("git"))
	commit := s.privateBranch(s.path("git"))
	s.writeMaster(fill.Replace(thiefContentConf))
	s.startMaster()
	s.startMinion(honest, "")
	s.tool("salt-run", "fileserver.update")
	if r := s.tool("salt-run", "pillar.show_pillar", honest); !strings.Contains(r.stdout, forged) {
		t.Errorf("the pillar of the honest: %+v", r)
	}
	const id = "x;$(touch owned)`touch owned`"
	th := s.thief(id, nil)
	th.pillars()
	th.branches(commit)
	e := s.listen()
	th.returnsElsewhere(evil.port, s.path("stolen"))
	th.breaksLines()
	v := th.must(payload.M("cmd", payload.CmdMasterTops, "id", honest, "opts", payload.M("id", honest), "grains",
		payload.M("id", "$(touch owned)")))
	if text := readText(t, s.path("argv")); strings.Contains(text, honest) || !strings.HasPrefix(text, "1|") ||
		!strings.Contains(text, "touch owned") {
		t.Errorf("the program is told %q, and answers %v", text, v)
	}
	s.good()
	s.eventually("events in the file", func() error {
		if !strings.Contains(readText(t, s.path("m/var/events.json")), "my/last") {
			return fmt.Errorf("my/last is not there")
		}
		return nil
	})
	for line := range strings.Lines(readText(t, s.path("m/var/events.json"))) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || len(one) != 2 || one["data"] == nil ||
			one["tag"] == "salt/key" && strings.Contains(line, forged) {
			t.Errorf("a line is %.300q: %v", line, err)
		}
	}
	for i := range 4 {
		s.eventually("a return in the database", func() error {
			if !own.has(fmt.Sprintf("hset ret:2026010100000000000%d %s ", i, id)) {
				return fmt.Errorf("%d is not there", i)
			}
			return nil
		})
	}
	if n := evil.count(); n > 0 {
		t.Errorf("the thief's database was sent %d commands", n)
	}
	for _, path := range []string{"owned", s.path("owned"), s.path("m/owned"), s.path("stolen"), "/owned"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("there is %s", path)
		}
	}
	if e.has(func(tag string, data *payload.Map) bool { return tag == "salt/key" && isForged(tag, data) }) {
		t.Error("an event of the thief is one of the master's")
	}
}

// privateBranch makes a branch that is not served, with one file, and returns its commit.
func (s *site) privateBranch(dir string) string {
	s.t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
		cmd.Env = append(s.env(), "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			s.t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("checkout", "-q", "-b", "private/x")
	s.write(s.path("git/hidden"), forged)
	git("add", "-A")
	git("commit", "-q", "-m", "private")
	commit := git("rev-parse", "HEAD")
	git("checkout", "-q", "main")
	return commit
}

// pillars asks for the pillar of the honest minion, which is cached.
func (th *thief) pillars() {
	th.s.t.Helper()
	th.pillar() // the thief can decrypt its own pillar
	for _, env := range []any{"base", "", nil, honest, ":" + honest, "../" + honest, []any{"base"}} {
		for _, id := range []any{honest, th.id, []any{honest}, []byte(honest), honest + ":base",
			"../pillar/" + honest} {
			v, err := th.askPillar(th.s.t.Context(), payload.M("cmd", payload.CmdPillar, "id", id, "grains",
				payload.M("id", honest, "nodename", honest), "saltenv", env, "pillarenv", env, "ver", "2",
				"pillar_override", payload.M("id", honest), "extra_minion_data", payload.M("id", honest), "clean_cache",
				false))
			if strings.Contains(wholly(v), forged) {
				th.s.t.Errorf("the pillar of another by %v in %v: %v, %v", id, env, v, err)
			}
		}
	}
}

// branches asks for files of a branch that is not served.
func (th *thief) branches(commit string) {
	th.s.t.Helper()
	ask := func(cmd, path, env string) string {
		v, err := th.do(payload.M("cmd", cmd, "id", th.id, "path", path, "saltenv", env, "loc", 0, "prefix", ""))
		return fmt.Sprintf("%s %v", v, err)
	}
	if got := ask(payload.CmdServeFile, "file", "base"); !strings.Contains(got, "served") {
		th.s.t.Errorf("what is served: %s", got)
	}
	for _, env := range []string{"private/x", "private", "x", "refs/heads/private/x", "origin/private/x",
		"refs/remotes/origin/private/x", commit, commit[:7], strings.ToUpper(commit), "base/../private/x",
		"../private/x", "private/x\n", "private/x\x00", "private//x", "main^{tree}", "main:hidden", "@", "HEAD",
		"__env__", "base\nprivate/x", "--upload-pack=x"} {
		for _, cmd := range []string{payload.CmdServeFile, payload.CmdFileFind, payload.CmdFileHash,
			payload.CmdFileList, payload.CmdDirList} {
			for _, path := range []string{"hidden", "../hidden", "../../" + commit + "/hidden",
				"|hidden?saltenv=" + commit} {
				if got := ask(cmd, path, env); strings.Contains(got, forged) || cmd == payload.CmdFileList &&
					strings.Contains(got, "hidden") {
					th.s.t.Errorf("%s %q in %q: %.200s", cmd, path, env, got)
				}
			}
		}
	}
}

// returnsElsewhere returns with fields that would choose the place where the master writes.
func (th *thief) returnsElsewhere(port, file string) {
	th.s.t.Helper()
	for i, more := range []*payload.Map{
		payload.M("ret_config", "evil"), payload.M("ret_kwargs", payload.M("host", "127.0.0.1", "port", port,
			"password", "x", "filename", file, "unix_socket_path", file)),
		payload.M("ret", "rawfile_json,sqlite3", "ret_kwargs", payload.M("filename", file, "database", file)),
		payload.M("ret_config", []any{"evil"}, "ret_kwargs", payload.M("host", "127.0.0.1", "port", port)),
	} {
		load := payload.M("cmd", payload.CmdReturn, "id", th.id, "jid", fmt.Sprintf("2026010100000000000%d", i), "fun",
			"test.ping", "return", true, "retcode", 0)
		load.Update(more)
		th.must(load)
		th.must(payload.M("cmd", payload.CmdMinionEvent, "id", th.id, "tag", "my/event", "data", load.Clone(), "pretag",
			nil))
	}
}

// breaksLines fires events whose tags, keys and values contain line ends and the ends of JSON values.
func (th *thief) breaksLines() {
	th.s.t.Helper()
	const lie = "\"}\n{\"tag\": \"salt/key\", \"data\": {\"x\": \"" + forged + "\"}}\n"
	for _, tag := range []string{"my/" + lie, "my/\r\n\x00\x85\u2028", "my/" + string([]byte{0xff, 0xfe}), "my/last"} {
		for _, form := range forms(tag, payload.M("x", lie, lie, []byte(lie+"\xff"), "n",
			payload.M(lie, []any{lie, nil}))) {
			_, _ = th.do(form.Set("id", th.id)) // some are refused; the file shows the effects of the others
		}
	}
}

// wholly converts a value to bytes that contain all its texts, at any depth.
func wholly(v any) string {
	packed, err := payload.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(packed)
}
