package jobs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"brine/modules/host/openfiles"

	"golang.org/x/sys/unix"
)

// room tells whether another job may begin, by the rules of Salt (Minion._handle_decoded_payload): a number of jobs,
// descriptors, memory. The Dispatcher that lives is the only one to touch it.
type room struct {
	most int  // jobs at once
	own  bool // functions have processes of their own
	see  Machine

	looked time.Time
	why    string    // of the last look at descriptors and memory
	until  time.Time // nothing begins before that: a process could not be started
}

// Machine are where the room is looked up; of tests others.
type Machine struct {
	Descriptors func() (open, limit int) // limit 0: none
	Memory      func() (percent float64) // in use
}

// Rules of Salt 3008.
const (
	spareDescriptors = 100             // kept for the minion itself
	memoryFull       = 95              // percent
	pauseAfterRefuse = 5 * time.Second // after a process could not be started
	queueEvery       = 200 * time.Millisecond
)

// newRoom makes the room of a minion for so many jobs at once (process_count_max), which have processes of their own
// (multiprocessing) or not. most below 1: as many as there are descriptors for.
func newRoom(most int, own bool, see Machine) *room {
	r := &room{most: most, own: own, see: see}
	if r.most > 0 {
		return r
	}
	each := 15 // descriptors of a job
	if r.own {
		each = 5
	}
	r.most = 1000
	if _, limit := see.Descriptors(); limit > 0 {
		r.most = max(1, (limit-spareDescriptors)/each)
	}
	return r
}

// refused says that a process could not be started for lack of something.
func (r *room) refused(now time.Time) { r.until = now.Add(pauseAfterRefuse) }

// lacks tells what another job waits for beside the end of one that runs, in the words of Salt's log; "" when there is
// nothing. The machine is looked at as often as Salt looks at its queue.
func (r *room) lacks(now time.Time) string {
	if now.Before(r.until) {
		return "A process could not be started"
	}
	if r.looked.IsZero() || now.Sub(r.looked) >= queueEvery || now.Before(r.looked) {
		r.looked, r.why = now, r.look()
	}
	return r.why
}

func (r *room) look() string {
	open, limit := r.see.Descriptors()
	most := limit - spareDescriptors
	if !r.own {
		most = min(most, limit*8/10)
	}
	switch {
	case limit > 0 && open >= most:
		return fmt.Sprintf("Insufficient FD headroom (Open: %d, Limit: %d)", open, limit)
	case r.see.Memory() > memoryFull:
		return "Insufficient memory headroom"
	}
	return ""
}

// realRoom looks at this process and this machine.
func realRoom() Machine {
	return Machine{Descriptors: openDescriptors, Memory: memoryInUse}
}

func openDescriptors() (open, limit int) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur > 1<<31-1 {
		return 0, 0
	}
	if open = openfiles.Count(); open == 0 {
		return 0, 0
	}
	return open, int(l.Cur)
}

// memoryInUse is the share of the machine's memory that is not available, 0 where that is not known.
func memoryInUse() (percent float64) {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return inUse(raw)
}

// inUse reads proc_meminfo(5).
func inUse(meminfo []byte) (percent float64) {
	var total, available int64
	for line := range bytes.Lines(meminfo) {
		words := bytes.Fields(line)
		if len(words) < 2 {
			continue
		}
		n, err := strconv.ParseInt(string(words[1]), 10, 64)
		if err != nil {
			continue
		}
		switch string(words[0]) {
		case "MemTotal:":
			total = n
		case "MemAvailable:":
			available = n
		}
	}
	if total <= 0 || available <= 0 {
		return 0
	}
	return 100 * float64(total-available) / float64(total)
}
