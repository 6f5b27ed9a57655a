package supervisor

import "brine/supervisor/stats"

// carryover is the state of a child that its supervisor hands to the child of the same name in the owner's next
// subtree: its counters and its history, not its work. So a worker that restarts because its server died keeps
// counting.
type carryover struct {
	counters   *stats.Counters
	received   uint64
	quarantine *quarantine
	face       face
	n          int // its last incarnation
	below      map[string]*carryover
}

// carryover is the state for the next child of this name.
func (r *Ref) carryover() *carryover {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &carryover{
		counters: r.stats, received: r.received + r.inbox.received(), quarantine: r.inbox.quarantine, face: r.face,
		n: r.face.incarnation, below: r.carried,
	}
}

// inherit makes a new child continue the counts of the dead one.
func (r *Ref) inherit(e *carryover) {
	state, since := r.face.state, r.face.since
	r.stats, r.received, r.inbox.quarantine, r.face, r.carried = e.counters, e.received, e.quarantine, e.face, e.below
	r.face.state, r.face.since, r.face.begun, r.face.ended = state, since, false, false
	if e.face.hour != nil {
		hour := *e.face.hour // a holder of the old Ref may still read it
		r.face.hour = &hour
	}
}

// keepCarryover stores the carryover of a child at the owner, for its next subtree.
func (s *Supervisor) keepCarryover(ref *Ref) {
	if s.owner == nil {
		return
	}
	e := ref.carryover()
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.owner.carried == nil {
		s.owner.carried = make(map[string]*carryover)
	}
	s.owner.carried[ref.spec.Name] = e
}

// takeCarryover returns the carryover of a name and removes it; nil if there is none.
func (s *Supervisor) takeCarryover(name string) *carryover {
	if s.owner == nil {
		return nil
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	e := s.owner.carried[name]
	delete(s.owner.carried, name)
	return e
}

// dropCarried drops all carryovers that no child has taken since the last subtree ended.
func (s *Supervisor) dropCarried() {
	if s.owner == nil {
		return
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.carried = nil
}
