package auth

import (
	"hash/maphash"
	"sync"
)

// idLocks are locks by id: what is done for one id waits for what is being done for the same id, and now and then for
// that of another.
type idLocks struct {
	seed  maphash.Seed
	locks [64]sync.Mutex
}

func newIDLocks() *idLocks { return &idLocks{seed: maphash.MakeSeed()} }

// of is the lock of an id.
func (l *idLocks) of(id string) *sync.Mutex {
	return &l.locks[maphash.String(l.seed, id)%uint64(len(l.locks))]
}
