package fileclient

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/wire/payload"
)

// site is a file server with a client in front of it, and what happens between them.
type site struct {
	t       *testing.T
	root    string // of the server
	client  *Client
	spoil   func(cmd string, load *payload.Map, v any, err error) (any, error) // nil: nothing
	mu      sync.Mutex                                                         // pieces are asked for at the same time
	asked   []*payload.Map
	serving func(context.Context, *payload.Map) (any, error)
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, root: t.TempDir()}
	server, err := fileserver.Configured(payload.M("file_roots", payload.M("base", []any{s.root}), "hash_type",
		"sha256", "file_buffer_size", 1000, "cachedir", t.TempDir(), "fileserver_followsymlinks", true))
	if err != nil {
		t.Fatal(err)
	}
	s.serving = Local(server)
	s.client = New(Options{CacheDir: filepath.Join(t.TempDir(), "cache"), HashType: "sha256", Ask: s.ask})
	return s
}

func (s *site) ask(ctx context.Context, load *payload.Map) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, load)
	v, err := s.serving(ctx, load)
	if s.spoil != nil {
		return s.spoil(load.Str("cmd"), load, v, err)
	}
	return v, err
}

func (s *site) write(path, text string) string {
	s.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *site) read(path string) string {
	s.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// clean checks that a folder, if there is one, holds these files and nothing unfinished.
func (s *site) clean(dir string, want ...string) {
	s.t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && (len(want) > 0 || !errors.Is(err, fs.ErrNotExist)) {
		s.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func (s *site) served() (n int) {
	for _, load := range s.asked {
		if load.Str("cmd") == payload.CmdServeFile {
			n++
		}
	}
	return n
}

var long = strings.Repeat("0123456789", 1234)

// TestResumed: a transfer whose requests fail goes on where it was.
func TestResumed(t *testing.T) {
	s := newSite(t)
	s.write(filepath.Join(s.root, "long"), long)
	failed := 0
	s.spoil = func(cmd string, load *payload.Map, v any, err error) (any, error) {
		if n := s.served(); cmd == payload.CmdServeFile && n%3 == 0 {
			failed++
			return nil, errors.New("the line is dead")
		}
		return v, err
	}
	path, found, err := s.client.GetFile(t.Context(), "salt://long", Want{Env: "base"})
	if err != nil || !found || s.read(path) != long {
		t.Fatalf("got %s, %v, %v", path, found, err)
	}
	if failed == 0 || s.served() > 14+failed {
		t.Errorf("%d pieces were asked for, %d in vain", s.served(), failed)
	}
	asked := len(s.asked)
	if _, _, err := s.client.GetFile(t.Context(), "salt://long", Want{Env: "base"}); err != nil ||
		len(s.asked) != asked+1 {
		t.Errorf("a file that is there was asked for with %d requests, %v", len(s.asked)-asked, err)
	}
}

// TestBroken: a transfer that cannot go on leaves what was there, and nothing else.
func TestBroken(t *testing.T) {
	for name, spoil := range map[string]func(load *payload.Map, v any) (any, error){
		"timeout": func(load *payload.Map, v any) (any, error) {
			if n, _ := load.Int("loc"); n > 2000 {
				return nil, fmt.Errorf("no: %w", loader.ErrRequestTimeout)
			}
			return v, nil
		},
		"other content": func(_ *payload.Map, v any) (any, error) {
			if m := v.(*payload.Map); len(m.Bytes("data")) > 0 {
				return m.Clone().Set("data", payload.Bytes(bytes.ToUpper(append([]byte("x"), m.Bytes("data")[1:]...)))),
					nil
			}
			return v, nil
		},
		"no map":   func(*payload.Map, any) (any, error) { return "", nil },
		"no data":  func(*payload.Map, any) (any, error) { return payload.M("dest", "long"), nil },
		"bad gzip": func(_ *payload.Map, v any) (any, error) { return v.(*payload.Map).Clone().Set("gzip", 5), nil },
		"short":    func(*payload.Map, any) (any, error) { return payload.M("data", "", "dest", "long"), nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.write(filepath.Join(s.root, "long"), long)
			s.spoil = func(cmd string, load *payload.Map, v any, err error) (any, error) {
				if cmd == payload.CmdServeFile {
					return spoil(load, v)
				}
				return v, err
			}
			dir := t.TempDir()
			old := s.write(filepath.Join(dir, "old"), "old")
			if _, found, err := s.client.GetFile(t.Context(), "salt://long",
				Want{Env: "base", Dest: old}); err == nil || found {
				t.Errorf("got %v, %v", found, err)
			}
			if s.read(old) != "old" {
				t.Errorf("the old file holds %q", s.read(old))
			}
			s.clean(dir, "old")
			if _, found, err := s.client.GetFile(t.Context(), "salt://long", Want{Env: "base"}); err == nil || found {
				t.Errorf("got %v, %v", found, err)
			}
			s.clean(filepath.Join(s.client.opt.CacheDir, "files/base"))
		})
	}
}

// TestChanged: a file that changes while it is fetched is fetched anew.
func TestChanged(t *testing.T) {
	s := newSite(t)
	file := s.write(filepath.Join(s.root, "long"), long)
	s.spoil = func(cmd string, load *payload.Map, v any, err error) (any, error) {
		if s.served() == 5 && cmd == payload.CmdServeFile {
			s.write(file, strings.ToUpper(long)+"!")
		}
		return v, err
	}
	path, _, err := s.client.GetFile(t.Context(), "salt://long", Want{Env: "base", Gzip: 3})
	if err != nil || s.read(path) != strings.ToUpper(long)+"!" {
		t.Errorf("got %v", err)
	}
}

// TestLeads: no path, environment or link takes a file out of the cache, whatever the server says.
func TestLeads(t *testing.T) {
	s := newSite(t)
	sum := sha256.Sum256([]byte("evil"))
	s.client.opt.Ask = func(_ context.Context, load *payload.Map) (any, error) { // a server that has everything
		switch load.Str("cmd") {
		case payload.CmdFileHash:
			return payload.M("hash_type", "sha256", "hsum", hex.EncodeToString(sum[:])), nil
		case payload.CmdServeFile:
			if n, _ := load.Int("loc"); n > 0 {
				return payload.M("data", "", "dest", "../../evil"), nil
			}
			return payload.M("data", "evil", "dest", "../../evil"), nil
		}
		return []any{"../evil", "d/../../evil", "/evil", "d/ok"}, nil
	}
	cache := s.client.opt.CacheDir
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "files/base"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(cache, "files/base/link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../evil", "a/../../../evil", "|../evil", "link/evil", "", ".", "a\x00b", "..",
		"link/../../../evil"} {
		for _, env := range []string{"base", "../..", "..", "/", "base/../..", ".", "", "base\x00"} {
			if at, found, err := s.client.GetFile(t.Context(), "salt://"+path, Want{Env: env}); err == nil && found {
				t.Errorf("%q of %q: got %s", path, env, at)
			}
		}
	}
	if _, err := s.client.CacheDir(t.Context(), "salt://d", "base", true, nil, nil); err == nil {
		t.Error("an empty folder outside was made")
	}
	if _, err := s.client.GetDir(t.Context(), "salt://d", filepath.Join(cache, "got"), "base", 0); err == nil {
		t.Error("a folder with names that lead out was copied")
	}
	for _, env := range []string{"..", "../x", "/"} {
		if _, err := s.client.LocalList(env); err == nil {
			t.Errorf("the files of %q were listed", env)
		}
		if at := s.client.extern("http://h/x", env); at != invalidPath {
			t.Errorf("a URL of %q is kept at %s", env, at)
		}
	}
	s.clean(outside)
	s.clean(filepath.Dir(cache), "cache")
}

// TestReplaced: a file takes the place of a folder of the cache, and a folder that of a file, for trees change.
func TestReplaced(t *testing.T) {
	s := newSite(t)
	s.write(filepath.Join(s.root, "a"), "file")
	s.write(filepath.Join(s.root, "b/c/d"), "deep")
	files := filepath.Join(s.client.opt.CacheDir, "files/base")
	s.write(filepath.Join(files, "a/x/y"), "old")
	s.write(filepath.Join(files, "b"), "old")
	for _, name := range []string{"a", "b/c/d"} {
		if path, found, err := s.client.GetFile(t.Context(), "salt://"+name, Want{Env: "base"}); err != nil || !found ||
			path != filepath.Join(files, name) {
			t.Errorf("%s: %s, %v, %v", name, path, found, err)
		}
	}
}

// TestKept: a file that is replaced keeps its mode, and a link in its place stays.
func TestKept(t *testing.T) {
	s := newSite(t)
	s.write(filepath.Join(s.root, "a"), "new")
	dir := t.TempDir()
	old, link := s.write(filepath.Join(dir, "old"), "old"), filepath.Join(dir, "link")
	if err := errors.Join(os.Chmod(old, 0o640), os.Symlink("old", link)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.client.GetFile(t.Context(), "salt://a", Want{Env: "base", Dest: link}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(old)
	if err != nil || info.Mode().Perm() != 0o640 || s.read(old) != "new" {
		t.Errorf("the file is %v, %q, %v", info.Mode(), s.read(old), err)
	}
	s.clean(dir, "link", "old")
}

// TestWeb fetches by http.
func TestWeb(t *testing.T) {
	hits := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		user, pw, _ := r.BasicAuth()
		switch r.URL.Path {
		case "/to":
			http.Redirect(w, r, "/file", http.StatusFound)
		case "/secret":
			fmt.Fprint(w, user+":"+pw)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "short")
		case "/file":
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, "content")
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	s := newSite(t)
	host := strings.ReplaceAll(strings.TrimPrefix(web.URL, "http://"), ":", "")
	at := filepath.Join(s.client.opt.CacheDir, "extrn_files/base", host, "file")
	sum := sha256.Sum256([]byte("content"))
	for _, how := range []Fetch{{}, {SourceHash: "sha256=" + hex.EncodeToString(sum[:])}, {ETag: true}, {ETag: true}} {
		if v, err := s.client.CacheFile(t.Context(), web.URL+"/file", "base", how); err != nil || v != at ||
			s.read(at) != "content" {
			t.Errorf("%v: got %v, %v", how, v, err)
		}
	}
	if hits != 3 {
		t.Errorf("%d requests, want 3", hits)
	}
	dest := filepath.Join(t.TempDir(), "x")
	if v, err := s.client.GetURL(t.Context(), web.URL+"/to", Want{Env: "base", Dest: dest}, Fetch{}); err != nil ||
		v != dest || s.read(dest) != "content" {
		t.Errorf("redirect: %v, %v", v, err)
	}
	if v, err := s.client.Content(t.Context(), strings.Replace(web.URL, "http://", "http://u:p@", 1)+"/secret",
		"base"); err != nil || v != "u:p" {
		t.Errorf("content: %v, %v", v, err)
	}
	for path, want := range map[string]string{"/none": "Error: HTTP 404: Not Found reading /none",
		"/cut": "unexpected EOF"} {
		_, err := s.client.GetURL(t.Context(), web.URL+path, Want{Env: "base", Dest: dest}, Fetch{})
		if err == nil || !strings.Contains(err.Error(), want) || s.read(dest) != "content" {
			t.Errorf("%s: %v", path, err)
		}
	}
	web.Close()
	_, err := s.client.GetURL(t.Context(), web.URL+"/file", Want{Env: "base", Dest: dest}, Fetch{})
	if err == nil || err.Error() != "Error: [Errno 111] Connection refused reading /file" {
		t.Errorf("refused: %v", err)
	}
	for _, url := range []string{"ftp://h/x", "s3://b/x", "swift://b/x"} {
		if _, err := s.client.CacheFile(t.Context(), url, "base", Fetch{}); err == nil || !strings.Contains(err.Error(),
			"brine cannot fetch") {
			t.Errorf("%s: %v", url, err)
		}
	}
	s.clean(filepath.Dir(dest), "x")
}

// TestCannotLook: a master that could not look for a file, which tells "" as its hash, has not said that there is none.
func TestCannotLook(t *testing.T) {
	s := newSite(t)
	s.spoil = func(_ string, load *payload.Map, v any, err error) (any, error) {
		if load.Str("path") == "a" {
			return "", nil
		}
		return v, err
	}
	if path, found, err := s.client.GetFile(t.Context(), "salt://a", Want{Env: "base"}); err == nil || found {
		t.Errorf("got %s, %v", path, found)
	}
	if path, found, err := s.client.GetFile(t.Context(), "salt://b", Want{Env: "base"}); err != nil || found {
		t.Errorf("what is not there: %s, %v, %v", path, found, err)
	}
}
