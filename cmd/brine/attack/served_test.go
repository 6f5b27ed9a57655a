package attack

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestServedFiles asks as a thief for files outside of the roots, by path, by environment, by links that lie in a root, and
// for what is no file: nothing of it comes, in no form, and who asks for what never ends holds up nobody.
func TestServedFiles(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("srv/base/good.txt"), "good")
	s.write(s.path("srv/base2/hidden.txt"), forged)
	s.write(s.path("outside/secret.txt"), forged)
	for link, to := range map[string]string{"out": s.path("outside"), "secret.txt": s.path("outside/secret.txt"), "key": s.pki("master.pem"), "zero": "/dev/zero", "loop": "loop",
		"up": "../../outside/secret.txt", "mem": "/proc/self/mem", "env": "/proc/self/environ"} {
		if err := os.Symlink(to, s.path("srv/base/"+link)); err != nil {
			t.Fatal(err)
		}
	}
	s.writeMaster(fmt.Sprintf("file_roots: {base: [%[1]s/base], '__env__': [%[1]s/__env__/x]}\nfileserver_followsymlinks: False\n", s.path("srv")))
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
			v = fmt.Sprint(m.Str("data"), string(m.Bytes("data")), m.Str("dest"), m.Value("path"), m.Value("rel"), m.Value("hsum"))
		}
		return fmt.Sprint(v)
	}
	if got := ask(payload.CmdServeFile, "good.txt", "base"); !strings.Contains(got, "good") {
		t.Fatalf("what is in the root: %q", got)
	}
	up := strings.Repeat("../", 12)
	paths := []string{"../base2/hidden.txt", "./../../outside/secret.txt", up + s.path("outside/secret.txt"), s.path("outside/secret.txt"), "/" + up + s.pki("master.pem"),
		s.pki("master.pem"), "out/secret.txt", "out/../secret.txt", "secret.txt", "key", "up", "zero", "loop", "loop/x", "mem", "env", "good.txt/../../base2/hidden.txt", "salt://" + up + "etc/passwd",
		"|good.txt\x00../x", "..", ".", "", "/", "\x00", "a\nb", strings.Repeat("a/", 5000), strings.Repeat("../", 5000) + "etc/passwd", "out", `..\..\outside\secret.txt`,
		"good.txt?saltenv=../outside", "|../../outside/secret.txt"}
	for _, cmd := range []string{payload.CmdServeFile, payload.CmdFileFind, payload.CmdFileHash, payload.CmdFileHashAndStat} {
		for _, path := range paths {
			for _, env := range []string{"base", "..", "../../outside", "/", s.path("outside"), "x/../../../outside", "", "\x00", "__env__"} {
				got := ask(cmd, path, env)
				if strings.Contains(got, forged) || strings.Contains(got, "PRIVATE KEY") || strings.Contains(got, "root:") || strings.Contains(got, "PATH=") || strings.Contains(got, "secret.txt") && cmd != payload.CmdFileFind {
					t.Errorf("%s %.60q in %.60q gives %.200q", cmd, path, env, got)
				}
			}
		}
	}
	for _, cmd := range []string{payload.CmdFileList, payload.CmdDirList, payload.CmdFileListEmptyDirs} {
		for _, env := range []string{"base", "..", "../../outside", s.path("outside"), "/"} {
			for _, prefix := range []string{"", "../", up, "out/", "/"} {
				v, err := th.do(payload.M("cmd", cmd, "id", "thief", "saltenv", env, "prefix", prefix))
				if text := fmt.Sprint(v); err != nil || strings.Contains(text, "hidden") || strings.Contains(text, "out/secret") || strings.Contains(text, "master.pem") {
					t.Errorf("%s of %q in %q: %.200s, %v", cmd, prefix, env, text, err)
				}
			}
		}
	}
	s.good()
}
