package auth

import (
	"hash/maphash"
	"sync"
)

// idLocks are locks by id. Work for one id waits for other work for the same id, and sometimes for that of another id
// with the same lock.
type idLocks struct {
	seed  maphash.Seed
	locks [64]sync.Mutex
}

func newIDLocks() *idLocks { return &idLocks{seed: maphash.MakeSeed()} }

// of returns the lock of an id.
func (l *idLocks) of(id string) *sync.Mutex {
	return &l.locks[maphash.String(l.seed, id)%uint64(len(l.locks))]
}
