package master

import (
	"runtime"
	"sync"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// scratch keeps room for answers that are packed, sealed, sent and forgotten: those with pieces of files are large. Any number of
// goroutines may use it.
type scratch struct {
	pool  sync.Pool    // of *[]byte, for small answers
	slabs chan *slab   // for large ones, of which as many are packed at a time
	pairs *crypt.Pairs // seals them
}

const (
	// mostScratch bounds what is kept of one answer, in bytes.
	mostScratch = 4 << 20
	// mostSlabs bounds the slabs outside of Go's heap: the guard of the ports takes their memory for libzmq's.
	mostSlabs = 4
	// besidePiece is what a large answer has beside its piece, in bytes: head, nonce, padding, names of fields, the path, spare room.
	besidePiece = 16 << 10
)

// newScratch has as many places for large answers as there are processors: more take no less time, and a megabyte each.
func newScratch() *scratch {
	n := max(2, runtime.GOMAXPROCS(0))
	s := &scratch{slabs: make(chan *slab, n), pairs: crypt.NewPairs()}
	for i := range n {
		s.slabs <- newSlab(i < mostSlabs)
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

// take gives room for an answer. With a piece of a file it waits until one may be packed. What became of the room is given to leave,
// once, when the answer was sent.
func (s *scratch) take(v any) (room []byte, leave func(used []byte)) {
	if s == nil {
		return make([]byte, 0, 512), func([]byte) {}
	}
	m, _ := v.(*payload.Map)
	if piece, large := m.Value("data").(*payload.Filled); large {
		place := <-s.slabs
		return place.room(piece.N + besidePiece), func([]byte) { s.slabs <- place }
	}
	if b, ok := s.pool.Get().(*[]byte); ok {
		return (*b)[:0], s.give
	}
	return make([]byte, 0, 512), s.give
}

func (s *scratch) give(b []byte) {
	if n := cap(b); n > 0 && n <= mostScratch {
		s.pool.Put(&b)
	}
}

// rest gives back the memory of slabs that nobody has used since the last time.
func (s *scratch) rest() {
	for range cap(s.slabs) {
		select {
		case place := <-s.slabs:
			place.rest()
			s.slabs <- place
		default: // all are in use
			return
		}
	}
}
