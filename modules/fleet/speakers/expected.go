package speakers

import (
	"slices"
	"time"

	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Answer is a return, and who speaks.
type Answer struct {
	JID    string
	Minion string    // the minion that sends it
	ID     string    // in whose name: the minion's own, or that of a resource that it manages
	Since  time.Time // when it registered the resource; zero: before all jobs
}

// own tells whether the minion speaks for itself.
func (a Answer) own() bool { return a.ID == a.Minion }

// Jobs tells whose returns the jobs of a master expect: those of the minions that a target means, and of the
// resources that these had registered before it was published. Salt takes every return under any name
// (salt/master.py, AESFuncs._return). Any number of goroutines may use it.
type Jobs struct {
	Book *ledger.Book
	// Asked is the load of a job that somebody asked this master for, with its minions; nil when there is none.
	Asked func(jid string) (*payload.Map, error)
}

// Named tells whether a job names who answers: a minion of its list, or a resource of one. It looks at no disk, so
// that what is older may be expected all the same.
func (j *Jobs) Named(a Answer) bool {
	one, known := j.remembered(a.JID)
	return known && (a.own() && one.lists(a.Minion) || !a.own() && one.expects(a))
}

// Counts tells whether a return is to be taken. A minion speaks for itself in jobs that nobody asked this master
// for, which are its own or another master's, and in those whose target it may match; a resource answers only what
// was asked.
//
// Both memory and disk are asked before an answer is refused: parts of a batch have one job id, and memory may
// know the last of them alone. To whom a job was bound memory alone knows.
func (j *Jobs) Counts(a Answer) bool {
	one, known := j.remembered(a.JID)
	if taken := known && one.takes(a); taken || one.bound {
		return taken
	}
	load, err := j.Asked(a.JID)
	if err != nil || load == nil {
		return a.own() && (!known || err != nil)
	}
	return stored(a.JID, load).takes(a)
}

// remembered is what memory knows of a job that was published here.
func (j *Jobs) remembered(jid string) (aim, bool) {
	job, known := j.Book.Job(jid)
	if !known || job.Announced == 0 {
		return aim{}, false
	}
	return aim{tgt: job.Tgt, kind: job.TgtType, minions: job.Minions, missing: job.Missing,
		bound: job.Bound, at: job.Announced}, true
}

// stored is what the job store knows of a job. When it was published its id tells.
func stored(jid string, load *payload.Map) aim {
	ask := payload.NewPublishRequest(load)
	at, _ := payload.JIDTime(jid)
	minions := jobstore.MinionsOf(load)
	slices.Sort(minions)
	one := aim{tgt: ask.Tgt(), kind: ask.TgtType(), minions: minions, at: ledger.At(at)}
	if list, ok := one.tgt.([]any); ok {
		one.missing = payload.Texts(list)
		slices.Sort(one.missing)
	}
	return one
}

// aim is whom a job means.
type aim struct {
	tgt     any
	kind    string       // of target
	minions []string     // whom the master found: sorted
	missing []string     // whom a list names besides: sorted
	bound   bool         // it was sent to these minions alone, whatever the target is
	at      ledger.Stamp // when it was published
}

func (m aim) lists(id string) bool { return has(m.minions, id) }

func (m aim) takes(a Answer) bool {
	if a.own() {
		return m.mayMean(a.Minion)
	}
	return m.expects(a)
}

// mayMean tells whether a minion may find that the target means it. Of targets that go by ids the master knows
// that; of all others the minion knows more than the master.
func (m aim) mayMean(id string) bool {
	if m.lists(id) {
		return true
	}
	if m.bound {
		return false
	}
	switch m.kind {
	case "list":
		return m.names(id)
	case "", "glob", "pcre":
		if _, ok := m.tgt.(string); !ok {
			return true
		}
		hit, err := matchers.Match(m.tgt, m.kind, "", &matchers.Facts{ID: id})
		return hit || err != nil
	}
	return true
}

// expects tells whether a job is for a resource, too: as Salt's minions see it, who run it for the resources that
// a list or a plain id names, and by all other targets for all that they have. Source: salt/minion.py,
// _resolve_resource_targets (3008).
func (m aim) expects(a Answer) bool {
	if ledger.At(a.Since) > m.at || m.bound {
		return false
	}
	switch text, _ := m.tgt.(string); {
	case m.kind == "list":
		return m.names(a.ID)
	case (m.kind == "" || m.kind == "glob") && !fnmatch.HasMagic(text):
		return text == a.ID
	}
	return m.lists(a.Minion)
}

// names tells whether a list names an id.
func (m aim) names(id string) bool {
	if m.lists(id) || has(m.missing, id) {
		return true
	}
	hit, err := matchers.Match(m.tgt, "list", "", &matchers.Facts{ID: id})
	return hit && err == nil
}

func has(sorted []string, id string) bool {
	_, found := slices.BinarySearch(sorted, id)
	return found
}
