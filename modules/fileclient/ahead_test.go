package fileclient

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

// roomed lets a site answer in the room that is lent, as a minion's session does, and spoils the room afterwards. Every
// third answer leaves the hash of the piece before it to others.
func (s *site) roomed() {
	s.client.opt.AskIn = func(ctx context.Context, load *payload.Map, room []byte, beside payload.Beside) (any, error) {
		v, err := s.ask(ctx, load)
		if err != nil {
			return nil, err
		}
		if loc, _ := load.Int("loc"); loc/1000%3 != 2 {
			if sum, text, done, ok := beside(); ok {
				sum.Write(text)
				done()
			}
		}
		m := v.(*payload.Map).Clone()
		if data := m.Bytes("data"); len(data) <= cap(room) {
			m.Set("data", room[:copy(room[:cap(room)], data)])
		}
		return m, nil
	}
}

// TestAhead: pieces are asked for before they are wanted, each once, whatever length they have, and nothing is asked
// for when the hash tells that all is there.
func TestAhead(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a piece": long[:1000], "less": long[:999], "two": long[:2000], "more": long[:2001],
		"many": long, "short ends": long[:1001],
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.roomed()
			s.write(filepath.Join(s.root, "f"), text)
			path, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"})
			if err != nil || !found || s.read(path) != text {
				t.Fatalf("got %v, %v", found, err)
			}
			seen, pieces := map[int64]int{}, (len(text)+999)/1000
			for _, load := range s.asked {
				if load.Str("cmd") == payload.CmdServeFile {
					loc, _ := load.Int("loc")
					if seen[loc]++; seen[loc] > 1 {
						t.Errorf("asked twice for %d", loc)
					}
				}
			}
			if most := pieces + piecesAhead; len(text) <= 1000 && len(seen) != pieces || len(seen) > most {
				t.Errorf("%d requests for %d pieces", len(seen), pieces)
			}
		})
	}
}

// TestAheadOfOddPieces: a server whose pieces are of many lengths is asked for each byte all the same.
func TestAheadOfOddPieces(t *testing.T) {
	s := newSite(t)
	s.roomed()
	s.write(filepath.Join(s.root, "f"), long)
	n := 0
	s.spoil = func(cmd string, load *payload.Map, v any, err error) (any, error) {
		if m, ok := v.(*payload.Map); ok && cmd == payload.CmdServeFile {
			if data := m.Bytes("data"); len(data) > 10 {
				n++
				return m.Clone().Set("data", payload.Bytes(data[:1+(n*397)%len(data)])), err
			}
		}
		return v, err
	}
	path, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"})
	if err != nil || !found || s.read(path) != long {
		t.Fatalf("got %v, %v", found, err)
	}
}

// TestAheadEnds: when the job that wants a file is killed nothing goes on.
func TestAheadEnds(t *testing.T) {
	s := newSite(t)
	s.write(filepath.Join(s.root, "f"), strings.Repeat(long, 10))
	ctx, cancel := context.WithCancelCause(t.Context())
	killed := errors.New("killed")
	s.spoil = func(cmd string, load *payload.Map, v any, err error) (any, error) {
		if loc, _ := load.Int("loc"); cmd == payload.CmdServeFile && loc > 3000 {
			cancel(killed)
			return nil, ctx.Err()
		}
		return v, err
	}
	if _, found, err := s.client.GetFile(ctx, "salt://f", Want{Env: "base"}); !errors.Is(err, killed) || found {
		t.Errorf("got %v, %v", found, err)
	}
	s.clean(filepath.Join(s.client.opt.CacheDir, "files/base"))
}

// TestRoomsOfPages: from the third piece in a room on, what comes lies where a page begins, whatever stands before it
// in the answer.
func TestRoomsOfPages(t *testing.T) {
	s := newSite(t)
	s.write(filepath.Join(s.root, "f"), strings.Repeat(long, 3))
	const lead = 67
	asked, pages := 0, 0
	s.client.opt.AskIn = func(ctx context.Context, load *payload.Map, room []byte, _ payload.Beside) (any, error) {
		v, err := s.ask(ctx, load)
		if err != nil {
			return nil, err
		}
		m := v.(*payload.Map).Clone()
		if data := m.Bytes("data"); len(data) > 0 && lead+len(data) <= cap(room) {
			at := room[lead : lead+len(data)]
			copy(at, data)
			m.Set("data", at)
			if asked++; beforePage(at) == 0 {
				pages++
			}
		}
		return m, nil
	}
	path, found, err := s.client.GetFile(t.Context(), "salt://f", Want{Env: "base"})
	if err != nil || !found || s.read(path) != strings.Repeat(long, 3) {
		t.Fatalf("got %v, %v", found, err)
	}
	if asked < 6 || pages < asked-2 {
		t.Errorf("%d of %d pieces begin with a page", pages, asked)
	}
}
