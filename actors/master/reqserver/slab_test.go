package reqserver

import (
	"bytes"
	"os"
	"sync"
	"testing"
	"unsafe"

	"brine/wire/payload"
)

// pieceOf is an answer with n bytes of a file.
func pieceOf(n int) *payload.Map {
	return payload.M("data", &payload.Filled{N: n, Fill: func([]byte) error { return nil }}, "dest", "large")
}

// TestScratchSlabs has large answers packed by many at a time: nobody gets a room that another one has, none is lost,
// and none of Go's comes out of a place that keeps its own.
func TestScratchSlabs(t *testing.T) {
	s := newScratch()
	var all sync.WaitGroup
	for id := range byte(16) {
		all.Go(func() {
			for round := range 50 {
				place := s.take(pieceOf(64<<10 + round<<10))
				room := append(place.room, bytes.Repeat([]byte{id}, 64<<10)...)
				if n := bytes.Count(room, []byte{id}); n != len(room) {
					t.Errorf("room of %d: %d of %d bytes are its own", id, n, len(room))
				}
				place.leave(append(room, make([]byte, mostScratch)...)) // an answer that outgrew its room
			}
		})
		all.Go(s.rest)
	}
	all.Wait()
	if len(s.slabs) != cap(s.slabs) || len(s.loans) != cap(s.loans) {
		t.Fatalf("%d and %d places of %d and %d are left", len(s.slabs), len(s.loans), cap(s.slabs), cap(s.loans))
	}
	if b, ok := s.pool.Get().(*[]byte); ok {
		t.Errorf("room of %d bytes of a large answer went to the small ones", cap(*b))
	}
}

// TestScratchSmall has small answers reuse their rooms, but for those that became large.
func TestScratchSmall(t *testing.T) {
	s := newScratch()
	s.take(payload.M("data", "text")).leave(make([]byte, 0, mostScratch+1))
	if b, ok := s.pool.Get().(*[]byte); ok {
		t.Errorf("%d bytes are kept", cap(*b))
	}
	if len(s.slabs) != cap(s.slabs) {
		t.Error("a small answer took a place of the large ones")
	}
	var none *scratch
	none.take(pieceOf(1)) // of an answer that somebody keeps: no place, which nobody would give back
	if cap(none.take(nil).room) == 0 {
		t.Error("no room")
	}
}

// TestSlabRest looks at the memory of a slab: the same for one answer after the other, a larger one for a larger
// answer, given back when nobody used it from one rest to the next, and none that is kept for what is too large.
func TestSlabRest(t *testing.T) {
	for _, outside := range []bool{true, false} {
		s := newSlab(outside)
		first := append(s.room(100<<10), "text"...)
		if s.mapped != (outside && slabsOutside) {
			t.Errorf("outside %v: mapped %v", outside, s.mapped)
		}
		s.rest()
		if again := s.room(90 << 10); unsafe.SliceData(again) != unsafe.SliceData(first) || string(first) != "text" {
			t.Error("a slab in use gave up its memory")
		}
		s.rest()
		s.rest()
		if s.mapped && string(first) != "\x00\x00\x00\x00" || !s.mapped && s.mem != nil {
			t.Errorf("a slab at rest keeps %q, %d bytes", first, len(s.mem))
		}
		if room := s.room(mostScratch); cap(room) < mostScratch || len(s.mem) < mostScratch {
			t.Errorf("room of %d, slab of %d", cap(room), len(s.mem))
		}
		if room := s.room(mostScratch + 1); cap(room) <= mostScratch || len(s.mem) > mostScratch+os.Getpagesize() {
			t.Errorf("room of %d for too much, slab of %d", cap(room), len(s.mem))
		}
		s.drop()
	}
}
