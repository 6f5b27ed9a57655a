package schedule

import "sync"

// Ongoing are the runs that go on. Who decides begins them, and whoever has one in hand ends it, in any goroutine: so a
// run counts from the decision on, and there are never more than maxrunning. In Salt two runs can begin before the
// first is noted.
type Ongoing struct {
	mu     sync.Mutex
	byName map[string]map[string]bool // name of the job → job ids
}

// NewOngoing is without any run.
func NewOngoing() *Ongoing { return &Ongoing{byName: map[string]map[string]bool{}} }

// Begin notes a run.
func (o *Ongoing) Begin(name, jid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byName[name] == nil {
		o.byName[name] = map[string]bool{}
	}
	o.byName[name][jid] = true
}

// End forgets a run. One that is not there, or not any more, changes nothing.
func (o *Ongoing) End(name, jid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byName[name], jid)
	if len(o.byName[name]) == 0 {
		delete(o.byName, name)
	}
}

// Count is how many runs of a job go on.
func (o *Ongoing) Count(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.byName[name])
}
