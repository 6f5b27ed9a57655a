package supervisor

import "brine/supervisor/stats"

// estate is what a child of a subtree leaves to the child of the same name in the subtree of the next owner: what
// is known of it, not what it was doing. A worker that is started again because its server died goes on counting.
type estate struct {
	counters *stats.Counters
	received uint64
	ward     *quarantine
	face     face
	n        int // its last incarnation
	below    map[string]*estate
}

// estate of a child that ends with its owner.
func (r *Ref) estate() *estate {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &estate{
		counters: r.stats, received: r.received + r.inbox.received(), ward: r.inbox.ward, face: r.face,
		n: r.face.incarnation, below: r.estates,
	}
}

// inherit makes the new child go on where the dead one ended.
func (r *Ref) inherit(e *estate) {
	state, since := r.face.state, r.face.since
	r.stats, r.received, r.inbox.ward, r.face, r.estates = e.counters, e.received, e.ward, e.face, e.below
	r.face.state, r.face.since, r.face.begun, r.face.ended = state, since, false, false
	if e.face.hour != nil {
		hour := *e.face.hour // who holds the old Ref may still look at it
		r.face.hour = &hour
	}
}

// bequeath keeps the estate of a child for the next subtree of the owner.
func (s *Supervisor) bequeath(ref *Ref) {
	if s.owner == nil {
		return
	}
	e := ref.estate()
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.owner.estates == nil {
		s.owner.estates = make(map[string]*estate)
	}
	s.owner.estates[ref.spec.Name] = e
}

// heirloom takes the estate of a name, nil when there is none.
func (s *Supervisor) heirloom(name string) *estate {
	if s.owner == nil {
		return nil
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	e := s.owner.estates[name]
	delete(s.owner.estates, name)
	return e
}

// clearEstates forgets what no child has taken over since the last subtree ended.
func (s *Supervisor) clearEstates() {
	if s.owner == nil {
		return
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.estates = nil
}
