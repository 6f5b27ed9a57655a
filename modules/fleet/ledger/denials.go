package ledger

// Denial is what a minion was refused that it had no right to, or had too much of.
type Denial int

// The denials.
const (
	DeniedTag     Denial = iota // an event that only the master, or another minion, may fire
	DeniedReturn                // a return in the name of somebody else
	DeniedSyndic                // the word of a syndic, which it is not
	DeniedVersion               // a request of an old version of the protocol that proves nothing
	DeniedEvents                // more events than its quota
	DeniedJobs                  // more jobs of its own than its quota
	DeniedMine                  // more changes of its mine than its quota, or too large a one
	DeniedGrains                // more requests for its pillar than its quota, or too large grains
	DeniedBytes                 // more bytes of returns than its quota
	DeniedFiles                 // more files than it may push
	DeniedPeer                  // more publications and runners than its quota, or too many at once
	denials
)

// String is the name of a denial in events, and in what operators are shown.
func (d Denial) String() string {
	return [...]string{"tag", "return", "syndic", "version", "events", "jobs", "mine", "grains", "return_bytes",
		"files", "peer", ""}[min(max(d, 0), denials)]
}

// Denials count what a minion was refused since the master began.
type Denials struct {
	N    [denials]uint64
	told [denials]Stamp
}

// Each gives the counts that are not zero.
func (d *Denials) Each(f func(what Denial, n uint64)) {
	if d == nil {
		return
	}
	for i, n := range d.N {
		if n > 0 {
			f(Denial(i), n)
		}
	}
}

// tellAgain is how long a minion's further denials of a kind are only counted, in microseconds.
const tellAgain = 600_000_000

// Deny counts what a minion was refused. tell says that it is time to speak of it: total is how much that is by now.
func (p *Peers) Deny(id string, what Denial, n int, now Stamp) (total uint64, tell bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.get(id)
	if peer.Denied == nil {
		peer.Denied = &Denials{}
	}
	d := peer.Denied
	d.N[what] += uint64(n)
	if told := d.told[what]; told != 0 && now-told < tellAgain {
		return d.N[what], false
	}
	d.told[what] = now
	return d.N[what], true
}
