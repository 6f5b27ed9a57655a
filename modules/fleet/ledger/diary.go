package ledger

import "sync"

// Field is the name under which a brine minion adds what it knows of a job to the job's return, for a brine master.
const Field = "__brine"

// FieldRefused holds, in what a minion says of a job that it does not know, the last publications that it could not
// make a job of: [[when, why, outcome], ...], by its own clock.
const FieldRefused = "refused"

// Refusal is a publication that a minion could not make a job of, whatever job it was.
type Refusal struct {
	At      Stamp
	Why     string
	Outcome Outcome // Unopened, OutcomeNotReady
}

// PackRefusals makes the value of FieldRefused.
func PackRefusals(all []Refusal) []any {
	list := make([]any, len(all))
	for i, r := range all {
		list[i] = []any{int64(r.At), r.Why, string(r.Outcome)}
	}
	return list
}

// ReadRefusals reads it. What is none is left out.
func ReadRefusals(list []any) (all []Refusal) {
	for _, v := range list {
		parts, _ := v.([]any)
		if len(parts) != 3 {
			continue
		}
		at, ok := parts[0].(int64)
		why, isText := parts[1].(string)
		outcome, isOutcome := parts[2].(string)
		if ok && isText && isOutcome && (Outcome(outcome) == Unopened || Outcome(outcome) == OutcomeNotReady) {
			all = append(all, Refusal{Stamp(at), why, Outcome(outcome)})
		}
	}
	return all
}

// maxRefusals is how many of them a minion remembers.
const maxRefusals = 16

// Diary is what a minion knows of the last publications and jobs. It is safe for concurrent use; a nil Diary knows and
// keeps nothing.
type Diary struct {
	keep int

	mu      sync.Mutex
	jobs    map[string]*Minion
	order   []string // oldest first
	refused []Refusal
}

// NewDiary makes a diary of that many jobs.
func NewDiary(keep int) *Diary { return &Diary{keep: max(1, keep), jobs: map[string]*Minion{}} }

// Note changes what is known of a job.
func (d *Diary) Note(key string, change func(*Minion)) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.jobs[key]
	if m == nil {
		m = &Minion{}
		d.jobs[key] = m
		if d.order = append(d.order, key); len(d.order) > d.keep {
			delete(d.jobs, d.order[0])
			d.order[0] = ""
			d.order = d.order[1:]
		}
	}
	change(m)
}

// Restore takes what an earlier process has written down, unless something is known already.
func (d *Diary) Restore(key string, m *Minion) {
	d.Note(key, func(known *Minion) {
		if *known == (Minion{}) && m != nil {
			*known = *m
		}
	})
}

// Get copies what is known of a job.
func (d *Diary) Get(key string) (Minion, bool) {
	if d == nil {
		return Minion{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.jobs[key]
	if m == nil {
		return Minion{}, false
	}
	return *m, true
}

// Refuse notes a publication that is no job.
func (d *Diary) Refuse(r Refusal) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.refused) == maxRefusals {
		copy(d.refused, d.refused[1:])
		d.refused = d.refused[:maxRefusals-1]
	}
	d.refused = append(d.refused, r)
}

// Refusals are the last of them, oldest first.
func (d *Diary) Refusals() []Refusal {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Refusal(nil), d.refused...)
}
