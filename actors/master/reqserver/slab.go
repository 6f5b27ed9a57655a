package reqserver

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// slab is room for one large answer at a time, outside of Go's heap: there it would count twice, for the collector lets
// a heap grow to two times what lives in it. It has one owner at a time, who has it out of the channel of its scratch.
type slab struct {
	outside bool // its memory is to lie there; else it is Go's
	mem     []byte
	mapped  bool          // mem lies outside
	out     *atomic.Int32 // behind mem where it lies outside: not 0 while libzmq sends from it
	unmap   runtime.Cleanup
	used    bool // since the last rest
	touched bool // since its pages were given back
	stuck   bool // it was waited for in vain
}

// slabTail is what is mapped behind the room, in bytes: out.
const slabTail = 64

func newSlab(outside bool) *slab { return &slab{outside: outside && slabsOutside} }

// room gives n bytes of capacity, of the memory that is kept where that is not too much. They are the owner's until he
// gives the slab back.
func (s *slab) room(n int) []byte {
	if n > mostScratch {
		return make([]byte, 0, n)
	}
	if n > len(s.mem) {
		s.drop()
		s.take(n)
	}
	s.used, s.touched = true, true
	return s.mem[:0:len(s.mem)] // what is behind it is out
}

// take claims memory. What is mapped goes when nobody knows the slab any more.
func (s *slab) take(n int) {
	if s.outside {
		page := syscall.Getpagesize()
		whole := (n + slabTail + page - 1) / page * page
		mem, err := syscall.Mmap(-1, 0, whole, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err == nil {
			s.mem, s.mapped, s.out = mem[:whole-slabTail], true, outOf(mem)
			s.unmap = runtime.AddCleanup(s, unmapSlab, mem)
			return
		}
	}
	s.mem = make([]byte, n)
}

// outOf is where it stands in mapped memory that libzmq sends from it.
func outOf(mem []byte) *atomic.Int32 {
	return (*atomic.Int32)(unsafe.Pointer(unsafe.SliceData(mem[len(mem)-slabTail:])))
}

// unmapSlab gives mapped memory back, unless libzmq still sends from it to a peer that does not read: then it is lost
// to this process.
func unmapSlab(mem []byte) {
	if outOf(mem).Load() == 0 {
		_ = syscall.Munmap(mem) // it was mapped
	}
}

// lent tells whether libzmq still sends from it.
func (s *slab) lent() bool { return s.out != nil && s.out.Load() != 0 }

// Times of waiting for a slab that is lent: its peer reads it within a millisecond, or it is behind a slow network.
const (
	slabPatience = 2 * time.Millisecond
	slabLook     = 100 * time.Microsecond
)

// back waits until libzmq has sent what stands in it; false when that takes long. Then nobody waits for it again before
// it was sent.
func (s *slab) back() bool {
	for began := time.Now(); s.lent(); {
		if s.stuck || time.Since(began) > slabPatience {
			s.stuck = true
			return false
		}
		time.Sleep(slabLook)
	}
	s.stuck = false
	return true
}

// drop gives memory that is too small back.
func (s *slab) drop() {
	if s.mapped {
		s.unmap.Stop()
		unmapSlab(s.mem[:len(s.mem)+slabTail])
	}
	s.mem, s.mapped, s.out = nil, false, nil
}

// rest gives back what was not used since the last rest. Addresses that are mapped stay: who read them by a fault would
// read zeros there, and not end the master.
func (s *slab) rest() {
	switch {
	case s.used || !s.touched || s.lent():
	case s.mapped:
		_ = syscall.Madvise(s.mem, syscall.MADV_DONTNEED) // it was mapped
		s.touched = false
	default:
		s.drop()
		s.touched = false
	}
	s.used = false
}
