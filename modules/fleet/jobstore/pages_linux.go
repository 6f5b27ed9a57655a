package jobstore

import (
	"os"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// releaseEvery is how often the pages of the file are taken out of this process.
const releaseEvery = time.Second

// release takes the pages of the file out of this process, at most once in releaseEvery. bbolt maps all of the file,
// and what was looked at stays, with the pages around it, until nearly all of it counts as memory of the master.
// Nothing is lost: a page that is needed again comes out of the page cache. What cannot be done is left, for only the
// memory depends on it.
func (s *Store) release(now time.Time) {
	last := s.released.Load()
	if now.Sub(time.Unix(0, last)).Abs() < releaseEvery || !s.released.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	_ = s.view(func(tx *bbolt.Tx) error { // which keeps the mapping where it is
		page := int64(os.Getpagesize())
		if _, _, no := unix.Syscall(unix.SYS_MADVISE, tx.DB().Info().Data, uintptr(tx.Size()/page*page),
			unix.MADV_DONTNEED); no != 0 {
			return no
		}
		return nil
	})
}
