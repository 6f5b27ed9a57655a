package attack

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"brine/wire/payload"
)

// TestServedFiles asks as a thief for files outside the roots, by path, by environment, through links in a
// root, and for things that are no files. None is served in any form, and a request for an endless file delays
// no other client.
func TestServedFiles(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("srv/base/good.txt"), "good")
	s.write(s.path("srv/base2/hidden.txt"), forged)
	s.write(s.path("outside/secret.txt"), forged)
	for link, to := range map[string]string{"out": s.path("outside"), "secret.txt": s.path("outside/secret.txt"),
		"key": s.pki("master.pem"), "zero": "/dev/zero", "loop": "loop", "up": "../../outside/secret.txt",
		"mem": "/proc/self/mem", "env": "/proc/self/environ"} {
		if err := os.Symlink(to, s.path("srv/base/"+link)); err != nil {
			t.Fatal(err)
		}
	}
	s.writeMaster(fmt.Sprintf("file_roots: {base: [%[1]s/base], '__env__': "+
		"[%[1]s/__env__/x]}\nfileserver_followsymlinks: False\n", s.path("srv")))
	s.startMaster()
	s.startMinion(honest, "")
	th := s.thief("thief", nil)
	ask := func(cmd, path, env string) string {
		load := payload.M("cmd", cmd, "id", "thief", "path", path, "saltenv", env, "loc", int64(0), "gzip", nil)
		v, err := th.do(load)
		if err != nil {
			t.Errorf("%s %.60q in %.60q: %v", cmd, path, env, err)
		}
		if m, ok := v.(*payload.Map); ok {
			v = fmt.Sprint(m.Str("data"), string(m.Bytes("data")), m.Str("dest"), m.Value("path"), m.Value("rel"),
				m.Value("hsum"))
		}
		return fmt.Sprint(v)
	}
	if got := ask(payload.CmdServeFile, "good.txt", "base"); !strings.Contains(got, "good") {
		t.Fatalf("what is in the root: %q", got)
	}
	up := strings.Repeat("../", 12)
	paths := []string{"../base2/hidden.txt", "./../../outside/secret.txt", up + s.path("outside/secret.txt"),
		s.path("outside/secret.txt"), "/" + up + s.pki("master.pem"),
		s.pki("master.pem"), "out/secret.txt", "out/../secret.txt", "secret.txt", "key", "up", "zero", "loop", "loop/x",
		"mem", "env", "good.txt/../../base2/hidden.txt", "salt://" + up + "etc/passwd", "|good.txt\x00../x", "..", ".",
		"", "/", "\x00", "a\nb", strings.Repeat("a/", 5000), strings.Repeat("../", 5000) + "etc/passwd", "out",
		`..\..\outside\secret.txt`, "good.txt?saltenv=../outside", "|../../outside/secret.txt"}
	for _, cmd := range []string{payload.CmdServeFile, payload.CmdFileFind, payload.CmdFileHash,
		payload.CmdFileHashAndStat} {
		for _, path := range paths {
			for _, env := range []string{"base", "..", "../../outside", "/", s.path("outside"), "x/../../../outside",
				"", "\x00", "__env__"} {
				got := ask(cmd, path, env)
				if strings.Contains(got, forged) || strings.Contains(got, "PRIVATE KEY") ||
					strings.Contains(got, "root:") || strings.Contains(got, "PATH=") ||
					strings.Contains(got, "secret.txt") && cmd != payload.CmdFileFind {
					t.Errorf("%s %.60q in %.60q gives %.200q", cmd, path, env, got)
				}
			}
		}
	}
	for _, cmd := range []string{payload.CmdFileList, payload.CmdDirList, payload.CmdFileListEmptyDirs} {
		for _, env := range []string{"base", "..", "../../outside", s.path("outside"), "/"} {
			for _, prefix := range []string{"", "../", up, "out/", "/"} {
				v, err := th.do(payload.M("cmd", cmd, "id", "thief", "saltenv", env, "prefix", prefix))
				if text := fmt.Sprint(v); err != nil || strings.Contains(text, "hidden") ||
					strings.Contains(text, "out/secret") || strings.Contains(text, "master.pem") {
					t.Errorf("%s of %q in %q: %.200s, %v", cmd, prefix, env, text, err)
				}
			}
		}
	}
	s.good()
}

// TestThiefOfAllFiles has the keys of four minions. It asks for every file of every environment, whole,
// compressed and hashed, and for all lists, after pushing files that break lists. Salt allows that. Others are
// served as usual, their lists are intact, and the master's memory does not grow.
func TestThiefOfAllFiles(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	for i := range 100 {
		s.write(s.path(fmt.Sprintf("srv/base/d%d/f%d", i%10, i)), strings.Repeat("content ", 1000))
	}
	s.write(s.path("srv/base/large"), strings.Repeat(forged, 4<<20/len(forged)))
	s.writeMaster(fmt.Sprintf("file_roots: {base: [%[1]s/base], '__env__': [%[1]s/base]}\nfile_recv: "+
		"True\nfileserver_backend: [roots, minion]\n", s.path("srv")))
	s.startMaster()
	s.startMinion(honest, "")
	thieves := []*thief{s.thief("thief1", nil), s.thief("thief2", nil), s.thief("thief3", nil), s.thief("thief4", nil)}
	for _, name := range []string{"\xff\xfe", "top.sls", "a\nb", strings.Repeat("n", 200)} {
		thieves[0].must(payload.M("cmd", payload.CmdFileRecv, "path", []any{"x", name}, "loc", 0, "data",
			[]byte("pushed")))
	}
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	var answers atomic.Int64
	stop, end := context.WithTimeout(t.Context(), patience)
	var storm sync.WaitGroup
	for _, th := range thieves {
		storm.Go(func() { th.everything(stop, &answers) })
	}
	for answers.Load() < 300 && stop.Err() == nil {
		s.good()
	}
	end()
	storm.Wait()
	if answers.Load() < 300 {
		t.Errorf("only %d answers came to thieves", answers.Load())
	}
	v := thieves[1].must(payload.M("cmd", payload.CmdFileList, "saltenv", "base", "prefix", ""))
	list := payload.Texts(v)
	if text := strings.Join(list, "|"); len(list) != len(v.([]any)) || !utf8.ValidString(text) ||
		!strings.Contains(text, "thief1/x/a\nb") || !strings.Contains(text, "d0/f0") {
		t.Errorf("the list of all is %.300q", text)
	}
	if v := thieves[1].must(payload.M("cmd", payload.CmdServeFile, "path", "thief1/x/top.sls", "saltenv", "base", "loc",
		0)); v.(*payload.Map).Str("dest") != "" {
		t.Errorf("a pushed top file: %v", v)
	}
	s.grown(before, 64<<20)
}

// everything asks for lists, hashes and pieces until ctx ends, and counts the answers.
func (th *thief) everything(ctx context.Context, answers *atomic.Int64) {
	for i := 0; ; i++ {
		env := fmt.Sprint("env", i/7)
		for _, load := range []*payload.Map{
			payload.M("cmd", payload.CmdFileList, "saltenv", env, "prefix", ""), payload.M("cmd", payload.CmdDirList,
				"saltenv", env),
			payload.M("cmd", payload.CmdFileHash, "saltenv", env, "path", fmt.Sprintf("d%d/f%d", i%10, i%100)),
			payload.M("cmd", payload.CmdServeFile, "saltenv", env, "path", "large", "loc", i%4<<20),
			payload.M("cmd", payload.CmdServeFile, "saltenv", env, "path", "large", "loc", 0, "gzip", 9),
			payload.M("cmd", payload.CmdFileEnvs), payload.M("cmd", payload.CmdSymlinkList, "saltenv", env),
		} {
			if ctx.Err() != nil {
				return
			}
			if _, err := th.do(load.Set("id", th.id)); err == nil {
				answers.Add(1)
			}
		}
	}
}
