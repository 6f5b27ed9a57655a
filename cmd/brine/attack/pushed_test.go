package attack

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/cmd/tooltest"
	"brine/wire/payload"
)

// TestPushedFiles pushes files beyond every limit: paths that leave the thief's folder, pieces and offsets that
// are too large, and more bytes, files and folders than a minion may have. Nothing else on the machine changes,
// and others can push as before.
func TestPushedFiles(t *testing.T) {
	const room = 300_000
	s := newBareSite(t, fmt.Sprintf("file_recv: True\nfile_recv_max_size: 1\nminion_files_max_bytes: %d\n", room))
	s.startMinion(honest, "")
	s.write(s.path("outside/file"), "do not touch")
	s.write(s.path("local"), "pushed by the honest")
	th := s.thief("thief", nil)
	before := s.files("")
	push := func(path any, loc any, data []byte, more ...any) (any, error) {
		return th.do(payload.M(append([]any{"cmd", payload.CmdFileRecv, "id", th.id, "path", path, "loc", loc, "data",
			data}, more...)...))
	}
	up := strings.Repeat("../", 12)
	for _, path := range []any{[]any{"..", "x"}, []any{"..", "..", honest, "files", "x"},
		[]any{up + s.path("outside/file")}, []any{s.path("outside/file")}, []any{"/", "tmp", "x"},
		[]any{"a", "../../x"}, []any{"a/../..", "x"}, []any{"x\x00y"}, []any{""}, []any{"."}, []any{".."}, []any{},
		"text", nil, []any{[]any{"x"}}, []any{1, "x"}, []any{payload.M("x", 1)}, []any{strings.Repeat("n", 300)},
		[]any{strings.Repeat("d/", 3000) + "x"}} {
		if v, err := push(path, 0, []byte("x")); err == nil && v == true {
			t.Errorf("path %.80q is taken", fmt.Sprint(path))
		}
	}
	for _, loc := range []any{-1, 1 << 20, 1<<20 - 1, int64(math.MaxInt64), int64(math.MaxInt64 - 1),
		uint64(math.MaxUint64), 1e300, math.NaN(), "0", nil, []any{0}, true} {
		if v, err := push([]any{"f"}, loc, []byte("xx")); err == nil && v == true {
			t.Errorf("place %v is taken", loc)
		}
	}
	if v, err := push([]any{"f"}, 0, bytes.Repeat([]byte("x"), 1<<20+1)); err == nil && v == true {
		t.Error("a piece above file_recv_max_size is taken")
	}
	_, _ = push([]any{"thief's"}, 0, []byte("x"), "id", honest) // it counts as the thief's own at most
	if got := s.below(before); len(got) > 1 || len(got) == 1 && got[0] != s.cache("minions/thief/files/thief's") {
		t.Errorf("what was refused has left %q", got)
	}
	taken := 0
	for i := range 400 { // a folder with a file of one byte each, behind a long gap
		v, err := push([]any{fmt.Sprint("d", i), "f"}, i%2*1000, []byte("x"))
		if err == nil && v == true {
			taken++
		}
	}
	if taken == 0 || taken > room/8192 {
		t.Errorf("%d files with a folder each fit into %d bytes", taken, room)
	}
	s.good()
	if got := s.told("cp.push", s.path("local")); got != "true" {
		t.Errorf("the honest minion pushes: %s", got)
	}
	if got := readText(t, filepath.Join(s.cache("minions"), honest, "files",
		s.path("local"))); got != "pushed by the honest" {
		t.Errorf("the file of the honest minion is %q", got)
	}
	for _, f := range s.below(before) {
		if !strings.HasPrefix(f, s.cache("minions/thief/files/")) &&
			!strings.HasPrefix(f, s.cache("minions/"+honest+"/files/")) {
			t.Errorf("there is %s", f)
		}
	}
	s.said(s.master, "minion_files_max_bytes")
}

// below returns the new files of the site that a push may have made. Files of daemons do not count.
func (s *site) below(before []string) []string {
	return slices.DeleteFunc(s.files(""), func(f string) bool {
		return slices.Contains(before, f) || !strings.Contains(f, "/files/") && !strings.HasPrefix(f, s.path("outside"))
	})
}

// TestListsOfFileCommands sends deep, long and wrong lists and maps in each field of each command about files.
// Each is answered or refused. The master's memory does not grow, and it serves others meanwhile.
func TestListsOfFileCommands(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	s.write(s.path("srv/base/file"), "content")
	s.writeMaster(fmt.Sprintf("file_recv: True\nfileserver_backend: [roots, minion]\nfile_roots: {base: "+
		"[%[1]s/base], '__env__': [%[1]s/base]}\n", s.path("srv")))
	s.startMaster()
	s.startMinion(honest, "")
	th := s.thief("thief", nil)
	var deep any = "x"
	for range 400 {
		deep = []any{deep, payload.M("k", deep)}[:1]
	}
	long := make([]any, 20_000)
	for i := range long {
		long[i] = "roots"
	}
	odd := []any{deep, long, strings.Repeat("-roots,../", 1<<14), []byte(strings.Repeat("\xff/", 1<<16))}
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	commands := []string{payload.CmdServeFile, payload.CmdFileFind, payload.CmdFileHash, payload.CmdFileHashAndStat,
		payload.CmdFileList, payload.CmdDirList, payload.CmdFileListEmptyDirs, payload.CmdSymlinkList,
		payload.CmdFileEnvs, payload.CmdFileRecv}
	for _, cmd := range commands {
		for _, field := range []string{"path", "saltenv", "loc", "gzip", "prefix", "fsbackend", "back", "sources",
			"data"} {
			for _, v := range odd {
				load := payload.M("cmd", cmd, "id", th.id, "path", "file", "saltenv", "base", "loc", 0, "prefix", "",
					"data", []byte("x"))
				got, err := th.do(load.Set(field, v))
				if text := fmt.Sprint(got); len(text) > 1<<16 {
					t.Errorf("%s with %.20q in %s answers %d bytes, %v", cmd, fmt.Sprint(v), field, len(text), err)
				}
			}
		}
	}
	s.good()
	if got := s.served(th, "file"); got != "content" {
		t.Errorf("the file is %q", got)
	}
	most := int64(256 << 20) // Go uses about 112 MiB before it returns memory
	if tooltest.Race {       // the race detector needs more for each byte
		most *= 4
	}
	s.grown(before, most)
}
