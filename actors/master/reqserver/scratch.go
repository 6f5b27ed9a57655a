package reqserver

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// scratch keeps room for answers that are packed, sealed, sent and forgotten: those with pieces of files are large. Any
// number of goroutines may use it.
type scratch struct {
	pool  sync.Pool    // of *[]byte, for small answers
	slabs chan *slab   // for large ones, of which as many are packed at a time,
	loans chan *slab   // and those that libzmq sends from; the one that was lent first comes first
	pairs *crypt.Pairs // seals them
}

const (
	// mostScratch bounds what is kept of one answer, in bytes.
	mostScratch = 4 << 20
	// mostSlabs bounds the slabs outside of Go's heap: the guard of the ports takes their memory for libzmq's.
	mostSlabs = 4
	// mostLoans is how many of them libzmq may send from: as many as are on their way on a network without delay.
	mostLoans = 3
	// besidePiece is what a large answer has beside its piece, in bytes: head, nonce, padding, names of fields, the
	// path, spare room.
	besidePiece = 16 << 10
)

// newScratch has as many places for large answers as there are processors: more take no less time, and a megabyte each.
func newScratch() *scratch {
	n := max(2, runtime.GOMAXPROCS(0))
	loans := mostLoans
	if !slabsOutside {
		loans = 0
	}
	s := &scratch{slabs: make(chan *slab, n), loans: make(chan *slab, loans), pairs: crypt.NewPairs()}
	for i := range n {
		s.slabs <- newSlab(i < mostSlabs)
	}
	for range loans {
		s.loans <- newSlab(true)
	}
	return s
}

// together is what seals large answers; nil: each is sealed alone.
func (s *scratch) together() *crypt.Pairs {
	if s == nil {
		return nil
	}
	return s.pairs
}

// answerRoom is where an answer is packed.
type answerRoom struct {
	room  []byte
	slab  *slab             // that the room is of; nil: none, or one whose answers are copied
	leave func(used []byte) // to be called once, when the answer was sent, with what became of the room
}

// take gives room for an answer. With a piece of a file it waits until one may be packed.
func (s *scratch) take(v any) answerRoom {
	if s == nil {
		return answerRoom{room: make([]byte, 0, 512), leave: func([]byte) {}}
	}
	m, _ := v.(*payload.Map)
	if piece, large := m.Value("data").(*payload.Filled); large {
		return s.large(piece.N + besidePiece)
	}
	if b, ok := s.pool.Get().(*[]byte); ok {
		return answerRoom{room: (*b)[:0], leave: s.give}
	}
	return answerRoom{room: make([]byte, 0, 512), leave: s.give}
}

// large gives room for n bytes: if possible in memory that libzmq can send from, which saves a copy and, on a virtual
// machine, the dear first touch of its pages. Peers that do not read have that memory for long; then answers are packed
// in places of their own, and copied.
func (s *scratch) large(n int) answerRoom {
	select {
	case loan := <-s.loans:
		leave := func([]byte) { s.loans <- loan }
		if n <= mostScratch && loan.back() {
			if room := loan.room(n); loan.mapped {
				return answerRoom{room: room, slab: loan, leave: leave}
			}
		}
		leave(nil)
	default: // others pack in all of them
	}
	place := <-s.slabs
	return answerRoom{room: place.room(n), leave: func([]byte) { s.slabs <- place }}
}

// lends tells whether a frame that stands in the room can be sent from there, and gives where that is to be noted; else
// nil.
func (a *answerRoom) lends(frame []byte) *atomic.Int32 {
	if a.slab == nil || len(frame) == 0 {
		return nil
	}
	mem := a.slab.mem
	from, at := uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(unsafe.Pointer(unsafe.SliceData(frame)))
	if at < from || at+uintptr(len(frame)) > from+uintptr(len(mem)) {
		return nil
	}
	return a.slab.out
}

func (s *scratch) give(b []byte) {
	if n := cap(b); n > 0 && n <= mostScratch {
		s.pool.Put(&b)
	}
}

// rest gives back the memory of slabs that nobody has used since the last time.
func (s *scratch) rest() {
	for _, slabs := range []chan *slab{s.slabs, s.loans} {
		for range cap(slabs) {
			select {
			case place := <-slabs:
				place.rest()
				slabs <- place
			default: // all are in use
			}
		}
	}
}
