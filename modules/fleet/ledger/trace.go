package ledger

import (
	"slices"
	"strings"
	"time"
)

// Hop is one step of a job on its way from the command line to the minions and back.
type Hop struct {
	Name   string // stable: request, worker, ...
	Minion string // "" for the steps of the job as a whole
	At     Stamp  // 0: it is not known to have happened
	State  HopState
	Where  string // the actor or program that took the step, or a word about it
}

// HopState says how a step went.
type HopState string

// The states of a hop.
const (
	HopDone HopState = "done"
	HopLate HopState = "late" // it took much longer than it should
	// it comes next and may take any time: the end of a function, the start behind others
	HopOpen    HopState = "open"
	HopMissing HopState = "missing" // it should have come next and has not
	HopUntold  HopState = "untold"  // whoever took it does not tell: Salt's minions, other command lines
)

// Names of the hops, in the order of a trace.
const (
	HopCommand  = "command"  // the command line began
	HopAsk      = "ask"      // it sent its request
	HopRequest  = "request"  // the request port of the master took it
	HopWorker   = "worker"   // a worker took it in hand
	HopTarget   = "target"   // its target was matched
	HopAnnounce = "announce" // its event was fired
	HopSeal     = "seal"     // the publication was sealed
	HopPublish  = "publish"  // and handed to the publish socket
	HopReply    = "reply"    // the answer left for the command line
	HopSave     = "save"     // the load is on disk
	HopTold     = "told"     // the command line had the answer
	HopReceive  = "receive"  // the minion opened the publication
	HopQueue    = "queue"    // it put the job behind others
	HopStart    = "start"    // the function began
	HopEnd      = "end"      // and ended
	HopReturn   = "return"   // the return was made
	HopArrive   = "arrive"   // a worker of the master took it
	HopEvent    = "event"    // its event was fired
	HopStore    = "store"    // it is on disk
	HopSeen     = "seen"     // the command line saw it
	HopClosed   = "closed"   // the command line stopped waiting
)

// slow is how long the way to a hop may take; without a limit a hop is never late.
var slow = map[string]time.Duration{
	HopRequest: time.Second, HopWorker: time.Second, HopTarget: 2 * time.Second, HopAnnounce: time.Second,
	HopSeal: time.Second, HopPublish: time.Second, HopReply: time.Second, HopSave: 5 * time.Second,
	HopTold: time.Second, HopReceive: 2 * time.Second, HopStart: time.Second, HopReturn: time.Second,
	HopArrive: 2 * time.Second, HopEvent: time.Second, HopStore: 5 * time.Second, HopSeen: 2 * time.Second,
}

// Trace is the way of a job: its own hops, then those of each minion, sorted by id, then the end of the command line.
func Trace(s *Snapshot, silent []string) []Hop {
	hops := jobHops(&s.Job)
	ids := make([]string, 0, len(s.Rows)+len(silent))
	for id := range s.Rows {
		ids = append(ids, id)
	}
	ids = append(ids, silent...)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		r := s.Rows[id]
		if r == nil {
			r = &Row{ID: id}
		}
		hops = append(hops, rowHops(s, r)...)
	}
	if c := s.Job.Client; c != nil && c.Ended != 0 {
		hops = append(hops, Hop{Name: HopClosed, At: c.Ended, State: HopDone, Where: c.Why})
	}
	return hops
}

func jobHops(j *Job) []Hop {
	c := &Client{}
	if j.Client != nil {
		c = j.Client
	}
	all := []Hop{
		{Name: HopCommand, At: c.Started}, {Name: HopAsk, At: c.Sent},
		{Name: HopRequest, At: j.Request, Where: j.Lane}, {Name: HopWorker, At: j.Work, Where: j.Worker},
		{Name: HopTarget, At: j.Matched}, {Name: HopAnnounce, At: j.Announced, Where: "EventPublisher"},
		{Name: HopSeal, At: j.Sealed, Where: "Publisher"}, {Name: HopPublish, At: j.Sent, Where: "Publisher"},
	}
	publish := &all[len(all)-1]
	switch {
	case j.Failed != "":
		publish.Where = j.Failed
	case j.forgotten():
		publish.Where = "by a master before this one"
	}
	all = chain(all, 0)
	told := j.Client != nil
	for i := range all[:2] {
		if !told {
			all[i].State, all[i].Where = HopUntold, ""
		}
	}
	if j.Request == 0 {
		for i := range all {
			if all[i].At == 0 && (all[i].Name != HopPublish || j.forgotten()) {
				all[i].State = HopUntold
			}
		}
	}
	side := func(name string, at, after Stamp, where string, needed bool) {
		h := chain([]Hop{{Name: name, At: at, Where: where}}, after)[0]
		if at != 0 || needed {
			all = append(all, h)
		}
	}
	side(HopReply, j.Replied, j.Work, j.Worker, j.Request != 0)
	side(HopSave, j.Stored, j.Announced, "JobStore", j.Announced != 0)
	side(HopTold, c.Replied, j.Replied, "", told)
	return all
}

// forgotten says that this master knows a job from the disk only, not what became of it before.
func (j *Job) forgotten() bool {
	return j.Request == 0 && j.Announced == 0 && j.Sent == 0 && j.Failed == ""
}

// rowHops are those of one minion. After the last that is known the next one is missing, or open.
func rowHops(s *Snapshot, r *Row) []Hop {
	var hops []Hop
	if r.Minion == nil && r.Returned != 0 {
		hops = append(hops, Hop{Name: HopReceive, State: HopUntold, Where: "Salt's minions do not tell"})
	} else {
		m := &Minion{}
		if r.Minion != nil {
			m = r.Minion.ByMaster()
		}
		hops = []Hop{{Name: HopReceive, At: m.Received}}
		if m.Queued != 0 {
			hops = append(hops, Hop{Name: HopQueue, At: m.Queued, Where: "behind " + count(m.Behind, "other")})
		}
		if m.Started != 0 || m.Made == 0 { // what ends before it begins has no start
			hops = append(hops, Hop{Name: HopStart, At: m.Started}, Hop{Name: HopEnd, At: m.Ended,
				Where: string(m.Outcome)})
		}
		hops = append(hops, Hop{Name: HopReturn, At: m.Made})
	}
	arrived := []Hop{{Name: HopArrive, At: r.Returned, Where: r.Worker}, {Name: HopEvent, At: r.Fired,
		Where: "EventPublisher"},
		{Name: HopStore, At: r.Stored, Where: "JobStore"}}
	if r.Lost != "" && r.Stored == 0 {
		arrived[2].Where = r.Lost
	}
	if r.Returned == 0 && r.Minion == nil && s.Job.forgotten() { // the minion may have it; brine why asks
		hops[0].State, hops[0].Where = HopUntold, "to this master, which began later"
		return named(hops[:1], r.ID)
	}
	hops = chain(append(hops, arrived...), s.Job.Sent)
	if c := s.Job.Client; c != nil {
		hops = append(hops, chain([]Hop{{Name: HopSeen, At: c.Seen[r.ID]}}, r.Fired)...)
	}
	return firstMissing(named(hops, r.ID))
}

func named(hops []Hop, id string) []Hop {
	for i := range hops {
		hops[i].Minion = id
	}
	return hops
}

// chain judges hops that follow each other.
func chain(hops []Hop, before Stamp) []Hop {
	last := before
	waited := false
	for i := range hops {
		h := &hops[i]
		switch {
		case h.State == HopUntold:
		case h.At == 0:
			h.State = HopMissing
		default:
			h.State = HopDone
			if limit := slow[h.Name]; limit > 0 && last != 0 && h.At.Sub(last) > limit && !waited {
				h.State = HopLate
			}
			last = max(last, h.At)
		}
		waited = h.Name == HopQueue // a job that had to wait starts late, and that is said
	}
	return hops
}

// firstMissing leaves of the hops behind the last known one only the first: it is where the job is. What may take any
// time is open there, not missing.
func firstMissing(hops []Hop) []Hop {
	last := -1
	for i, h := range hops {
		if h.At != 0 || h.State == HopUntold {
			last = i
		}
	}
	if last+1 == len(hops) {
		return hops
	}
	next := &hops[last+1]
	if next.Name == HopEnd || last >= 0 && hops[last].Name == HopQueue {
		next.State = HopOpen
	}
	return hops[:last+2]
}

// Named lists the hops of a state: "web1: receive".
func Named(hops []Hop, state HopState) []string {
	out := []string{}
	for _, h := range hops {
		if h.State == state {
			out = append(out, strings.TrimPrefix(h.Minion+": "+h.Name, ": "))
		}
	}
	return out
}
