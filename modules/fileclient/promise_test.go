package fileclient

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/modules/fileserver"
	"brine/wire/payload"
)

// longer is a file whose pieces are asked for before its hash is there.
var longer = strings.Repeat("0123456789", shortPiece/2)

// newLateSite is a site with a file f of several pieces, whose first hash is late.
func newLateSite(t *testing.T, hashType string) *site {
	t.Helper()
	s := newSite(t)
	server, err := fileserver.Configured(payload.M("file_roots", payload.M("base", []any{s.root}), "hash_type",
		hashType, "file_buffer_size", shortPiece, "cachedir", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	s.serving = Local(server)
	s.write(filepath.Join(s.root, "f"), longer)
	s.lateHash()
	return s
}

// lateHash has the first hash of a file wait until a piece behind its end was asked for, so that nothing is known of
// the file before.
func (s *site) lateHash() {
	ended := make(chan struct{})
	var once sync.Once
	s.client.opt.Ask = func(ctx context.Context, load *payload.Map) (any, error) {
		if load.Str("cmd") == payload.CmdFileHash {
			select {
			case <-ended:
			case <-s.t.Context().Done():
				return nil, context.Cause(s.t.Context())
			}
		}
		v, err := s.ask(ctx, load)
		if m, ok := v.(*payload.Map); ok && load.Str("cmd") == payload.CmdServeFile && len(m.Bytes("data")) == 0 {
			once.Do(func() { close(ended) })
		}
		return v, err
	}
}

// TestLateHash: pieces come before the server has told the hash, and count only when it agrees with them, of whatever
// kind it is.
func TestLateHash(t *testing.T) {
	for _, kind := range []string{"sha256", "md5", "sha512"} {
		t.Run(kind, func(t *testing.T) {
			s := newLateSite(t, kind)
			path, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"})
			if err != nil || !found || s.read(path) != longer {
				t.Fatalf("got %v, %v", found, err)
			}
			if n, most := s.served(), len(longer)/shortPiece+2+piecesAhead; n > most {
				t.Errorf("%d requests for pieces, want %d at most", n, most)
			}
			s.clean(filepath.Dir(path), "f")
		})
	}
}

// TestLateHashDiffers: what came before the hash is thrown away when the hash is another.
func TestLateHashDiffers(t *testing.T) {
	s := newLateSite(t, "sha256")
	first := true
	s.spoil = func(cmd string, load *payload.Map, v any, err error) (any, error) {
		if m, ok := v.(*payload.Map); ok && cmd == payload.CmdServeFile && first &&
			load.Value("loc") == int64(2*shortPiece) {
			first = false
			return m.Clone().Set("data", payload.Bytes(strings.Repeat("x", shortPiece))), err
		}
		return v, err
	}
	path, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"})
	if err != nil || !found || s.read(path) != longer || first {
		t.Fatalf("got %v, %v", found, err)
	}
	s.clean(filepath.Dir(path), "f")
}

// TestLateAbsence: a file that is not there is not found, and one that the server cannot look for is an error, also
// when pieces were asked for first.
func TestLateAbsence(t *testing.T) {
	s := newSite(t)
	s.lateHash()
	if path, found, err := s.client.GetFile(t.Context(), "salt://nothing", Want{Env: "base"}); found || err != nil ||
		path != "" {
		t.Errorf("got %q, %v, %v", path, found, err)
	}
	if _, err := os.Lstat(filepath.Join(s.client.opt.CacheDir, "files")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cache has a folder for it: %v", err)
	}

	s = newLateSite(t, "sha256")
	fails := errors.New("the server fails")
	s.spoil = func(cmd string, _ *payload.Map, v any, err error) (any, error) {
		if cmd == payload.CmdFileHash {
			return nil, fails
		}
		return v, err
	}
	if _, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"}); found || !errors.Is(err, fails) {
		t.Errorf("got %v, %v", found, err)
	}
	s.clean(filepath.Join(s.client.opt.CacheDir, "files", "base"))
}

// TestHashThatNeverComes: who waits for it can leave.
func TestHashThatNeverComes(t *testing.T) {
	s := newLateSite(t, "sha256")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	s.client.opt.Ask = func(ctx context.Context, load *payload.Map) (any, error) {
		if load.Str("cmd") == payload.CmdFileHash {
			<-t.Context().Done()
			return nil, context.Cause(t.Context())
		}
		v, err := s.ask(ctx, load)
		if m, ok := v.(*payload.Map); ok && len(m.Bytes("data")) == 0 {
			cancel(gone)
		}
		return v, err
	}
	if _, found, err := s.client.GetFile(ctx, "salt://f", Want{Env: "base"}); found || !errors.Is(err, gone) {
		t.Errorf("got %v, %v", found, err)
	}
	s.clean(filepath.Join(s.client.opt.CacheDir, "files", "base"))
}

// TestLateHashOfASmallFile: of a file that is one short piece nothing more is asked for, however late its hash comes.
func TestLateHashOfASmallFile(t *testing.T) {
	s := newSite(t)
	s.write(filepath.Join(s.root, "f"), "small")
	asked := make(chan struct{}, 2)
	s.client.opt.Ask = func(ctx context.Context, load *payload.Map) (any, error) {
		if load.Str("cmd") == payload.CmdFileHash {
			<-asked
			select { // whoever would ask for more has the time to
			case <-asked:
			case <-time.After(headStart):
			}
		}
		v, err := s.ask(ctx, load)
		if load.Str("cmd") == payload.CmdServeFile {
			asked <- struct{}{}
		}
		return v, err
	}
	path, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"})
	if err != nil || !found || s.read(path) != "small" {
		t.Fatalf("got %v, %v", found, err)
	}
	if n := s.served(); n != 1 {
		t.Errorf("%d requests for pieces of a file that is one", n)
	}
	s.clean(filepath.Dir(path), "f")
}
