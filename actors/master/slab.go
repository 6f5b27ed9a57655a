package master

import (
	"runtime"
	"syscall"
)

// slab is room for one large answer at a time, outside of Go's heap: there it would count twice, for the collector lets a heap grow to
// two times what lives in it. It has one owner at a time, who has it out of the channel of its scratch.
type slab struct {
	outside bool // its memory is to lie there; else it is Go's
	mem     []byte
	mapped  bool // mem lies outside
	unmap   runtime.Cleanup
	used    bool // since the last rest
	touched bool // since its pages were given back
}

func newSlab(outside bool) *slab { return &slab{outside: outside && slabsOutside} }

// room gives n bytes of capacity, of the memory that is kept where that is not too much. They are the owner's until he gives the slab back.
func (s *slab) room(n int) []byte {
	if n > mostScratch {
		return make([]byte, 0, n)
	}
	if n > len(s.mem) {
		s.drop()
		s.take(n)
	}
	s.used, s.touched = true, true
	return s.mem[:0]
}

// take claims memory. What is mapped goes when nobody knows the slab any more.
func (s *slab) take(n int) {
	page := syscall.Getpagesize()
	n = (n + page - 1) / page * page
	if s.outside {
		mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err == nil {
			s.mem, s.mapped = mem, true
			s.unmap = runtime.AddCleanup(s, unmapSlab, mem)
			return
		}
	}
	s.mem = make([]byte, n)
}

func unmapSlab(mem []byte) { _ = syscall.Munmap(mem) } // it was mapped

// drop gives memory that is too small back.
func (s *slab) drop() {
	if s.mapped {
		s.unmap.Stop()
		unmapSlab(s.mem)
	}
	s.mem, s.mapped = nil, false
}

// rest gives back what was not used since the last rest. Addresses that are mapped stay: who read them by a fault would read zeros there,
// and not end the master.
func (s *slab) rest() {
	switch {
	case s.used || !s.touched:
	case s.mapped:
		_ = syscall.Madvise(s.mem, syscall.MADV_DONTNEED) // it was mapped
		s.touched = false
	default:
		s.drop()
		s.touched = false
	}
	s.used = false
}
