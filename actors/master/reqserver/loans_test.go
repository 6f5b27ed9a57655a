package reqserver

import (
	"bytes"
	"testing"
	"unsafe"
)

// lent has all that a scratch lends be on its way, or back. It tells whether there is such memory: with the race
// detector there is none.
func lent(s *scratch, out int32) bool {
	mapped := false
	for range cap(s.loans) {
		l := <-s.loans
		if l.room(64 << 10); l.mapped {
			mapped = true
			l.out.Store(out)
		}
		s.loans <- l
	}
	return mapped
}

// TestScratchLoans: an answer is packed where it can be sent from, as long as that is free, and elsewhere when peers do
// not read; memory that is on its way is neither given out, nor given back.
func TestScratchLoans(t *testing.T) {
	s := newScratch()
	if !lent(s, 0) {
		t.Skip("no memory outside of Go's heap in this build")
	}
	place := s.take(pieceOf(64 << 10))
	frame := append(place.room, "text"...)
	if out := place.lends(frame); out == nil || place.lends(bytes.Clone(frame)) != nil || place.lends(nil) != nil {
		t.Error("an answer in lent memory is not known by its place")
	}
	place.leave(frame)
	for range 2 * cap(s.loans) {
		l := <-s.loans
		text := append(l.room(64<<10), "on its way"...)
		l.out.Store(1)
		for range 3 {
			l.rest()
		}
		if string(text) != "on its way" {
			t.Fatalf("memory on its way was given back: %q", text)
		}
		s.loans <- l
	}
	for range 4 * cap(s.loans) {
		place := s.take(pieceOf(64 << 10))
		if place.lends(append(place.room, 1)) != nil {
			t.Fatal("memory on its way was given out")
		}
		place.leave(nil)
	}
	lent(s, 0)
	for range 2 * cap(s.loans) {
		place := s.take(pieceOf(64 << 10))
		if place.lends(append(place.room, 1)) == nil {
			t.Fatal("memory that is back is not lent again")
		}
		place.leave(nil)
	}
	if place := s.take(pieceOf(mostScratch)); place.lends(place.room[:1]) != nil {
		t.Error("too large an answer stands in memory that is kept")
	}
}

// TestSlabOnItsWay: the memory of a slab that nobody knows any more stays while libzmq sends from it.
func TestSlabOnItsWay(t *testing.T) {
	s := newSlab(true)
	if s.room(4096); !s.mapped {
		t.Skip("no memory outside of Go's heap in this build")
	}
	mem := unsafe.Slice(unsafe.SliceData(s.mem), len(s.mem)+slabTail)
	copy(mem, "text")
	s.out.Store(1)
	unmapSlab(mem)
	if string(mem[:4]) != "text" {
		t.Error("it was given back")
	}
	s.out.Store(0)
	s.drop()
}
