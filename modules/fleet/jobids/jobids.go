// Package jobids gives out job ids, and knows whose the latest are. It keeps nothing on disk, and does not know what a
// job is. Answers to salt/utils/jid.py, gen_jid; Salt remembers nobody's.
package jobids

import (
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/payload"
)

// Book gives out job ids, and knows whose the latest are: those that it gave out, and those that somebody brought
// along. What it has forgotten the job store knows.
type Book struct {
	last   atomic.Int64 // microseconds; each id is greater than the one before
	unique bool         // unique_jid: the process id stands behind the time

	mu     sync.Mutex
	owners map[string]string // by the time that an id tells: tools wait for all tags that begin with it
	own    latest            // those of Master
	guests latest            // those that it gave out for guests
	others latest
}

// Master owns what the master itself numbers, and what whoever may do everything brings along. All other owners are
// users.
const Master = ""

// MaxLatest is how many job ids of users with rules are remembered, how many of the master, and how many that it gave
// out for what guests start: none pushes out the others.
const MaxLatest = 16384

// latest are the last ids, in a ring.
type latest struct {
	ids []string
	at  int
}

// New makes an empty book. unique puts the process id behind each id.
func New(unique bool) *Book {
	return &Book{unique: unique, owners: map[string]string{}}
}

// Next is the id of a job that begins now, and that is the master's.
func (j *Book) Next(now time.Time) string { return j.NextOf(now, Master) }

// NextOf is the id of a job of somebody that begins now. It is nobody else's.
func (j *Book) NextOf(now time.Time, who string) string {
	if who == Master {
		return j.next(now, who, &j.own)
	}
	return j.next(now, who, &j.others)
}

// NextForGuest numbers what the master does for a minion, or for a user with rules: nobody may bring such an id along,
// as with those of the master, and however many a guest asks for, he makes it forget none of its own.
func (j *Book) NextForGuest(now time.Time) string { return j.next(now, Master, &j.guests) }

func (j *Book) next(now time.Time, who string, ring *latest) string {
	for {
		last, us := j.last.Load(), now.UnixMicro()
		if us <= last {
			us = last + 1
		}
		if !j.last.CompareAndSwap(last, us) {
			continue
		}
		jid := payload.NewUniqueJID(time.UnixMicro(us), j.unique)
		if _, taken := j.reserve(jid, who, ring); !taken {
			return jid
		}
	}
}

// OwnerOf is whose a job id is, as far as that is remembered.
func (j *Book) OwnerOf(jid string) (user string, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	user, known = j.owners[payload.JIDBase(jid)]
	return user, known
}

// Reserve makes a job id somebody's, unless it is taken: then it says whose it is.
func (j *Book) Reserve(jid string, who string) (whose string, taken bool) {
	if who == Master {
		return j.reserve(jid, who, &j.own)
	}
	return j.reserve(jid, who, &j.others)
}

func (j *Book) reserve(jid, who string, ring *latest) (whose string, taken bool) {
	key := payload.JIDBase(jid)
	j.mu.Lock()
	defer j.mu.Unlock()
	if o, known := j.owners[key]; known {
		return o, true
	}
	j.owners[key] = who
	if len(ring.ids) < MaxLatest {
		ring.ids = append(ring.ids, key)
		return who, false
	}
	delete(j.owners, ring.ids[ring.at])
	ring.ids[ring.at] = key
	ring.at = (ring.at + 1) % MaxLatest
	return who, false
}
