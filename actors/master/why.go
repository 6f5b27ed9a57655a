package master

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// factsReader is a job store that keeps what is known of jobs.
type factsReader interface {
	Facts(jid string) (pieces [][]byte, written []time.Time, err error)
}

// errNoJob means that nothing at all is known of a job.
var errNoJob = errors.New("no such job")

// snapshot is all that is known of a job, in memory and on disk. here says that this process has published it.
// nil: nothing.
func (c *core) snapshot(jid string) (s *ledger.Snapshot, here bool, err error) {
	if jid == "" {
		return nil, false, nil
	}
	if store, ok := c.jobs.store.(factsReader); ok {
		pieces, written, err := store.Facts(jid)
		if err != nil {
			return nil, false, err
		}
		stamps := make([]ledger.Stamp, len(written))
		for i, t := range written {
			stamps[i] = ledger.At(t)
		}
		if s, err = ledger.Unpack(pieces, stamps); err != nil {
			return nil, false, err
		}
	}
	mem := c.book.Snapshot(jid)
	here = mem != nil && mem.Job.Announced != 0
	if s = s.Join(mem); s == nil || s.Job.Minions == nil {
		s, err = c.fromLoad(jid, s)
	}
	return s, here, err
}

// fromLoad adds what the job store knows of a job that the ledger does not.
func (c *core) fromLoad(jid string, s *ledger.Snapshot) (*ledger.Snapshot, error) {
	load, err := c.jobs.store.Load(jid)
	if err != nil || load == nil {
		return s, err
	}
	if s == nil {
		s = &ledger.Snapshot{Rows: map[string]*ledger.Row{}}
	}
	j := &s.Job
	if j.JID == "" || j.Fun == "" {
		j.JID, j.Fun, j.Tgt = jid, pytext.Str(load.Value("fun")), pytext.Str(load.Value("tgt"))
		j.TgtType, j.User = load.Str("tgt_type"), load.Str("user")
	}
	for _, id := range load.List("Minions") {
		if text, ok := id.(string); ok {
			j.Minions = append(j.Minions, text)
		}
	}
	return s, nil
}

// silent are the minions of a job that have not returned, sorted.
func (c *core) silent(s *ledger.Snapshot) ([]string, error) {
	var ids []string
	for _, id := range slices.Concat(s.Job.Minions, s.Job.Missing) {
		if r := s.Rows[id]; r == nil || r.Returned == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 || s.Job.Announced != 0 { // a job whose facts are whole
		return ids, nil
	}
	returns, err := c.jobs.store.Returns(s.Job.JID)
	return slices.DeleteFunc(ids, func(id string) bool { return returns.Has(id) }), err
}

// unstored are the minions whose return came and could not be stored yet, sorted.
func unstored(s *ledger.Snapshot) (ids []string) {
	for id, r := range s.Rows {
		if r.Unstored() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Trace is the way of a job through every hop, as a map with documented names; of one minion when id is set.
func (m *Master) Trace(_ context.Context, jid, id string) (*payload.Map, error) {
	c := m.core
	s, _, err := c.snapshot(jid)
	if err == nil && s == nil {
		err = fmt.Errorf("job %s: %w", jid, errNoJob)
	}
	if err != nil {
		return nil, err
	}
	silent, err := c.silent(s)
	if err != nil {
		return nil, err
	}
	out := jobMap(s, len(silent))
	if id != "" {
		row := s.Rows[id]
		s.Rows = map[string]*ledger.Row{}
		if row != nil {
			s.Rows[id] = row
		}
		silent = slices.DeleteFunc(silent, func(other string) bool { return other != id })
	}
	hops := ledger.Trace(s, silent)
	first := firstStamp(hops)
	list := make([]any, len(hops))
	for i, h := range hops {
		list[i] = hopMap(h, first)
	}
	return out.Set("began", int64(first)).Set("hops", list).Set("late", payload.AnyList(ledger.Named(hops, ledger.HopLate))).
		Set("open", payload.AnyList(ledger.Named(hops, ledger.HopOpen))).Set("missing", payload.AnyList(ledger.Named(hops, ledger.HopMissing))), nil
}

// jobMap is what trace and why say of the job as a whole.
func jobMap(s *ledger.Snapshot, silent int) *payload.Map {
	j := &s.Job
	returned := 0
	for _, r := range s.Rows {
		if r.Returned != 0 {
			returned++
		}
	}
	return payload.M("jid", j.JID, "fun", j.Fun, "tgt", j.Tgt, "tgt_type", j.TgtType, "user", j.User,
		"minions", int64(len(j.Minions)), "returned", int64(returned), "silent", int64(silent))
}

func firstStamp(hops []ledger.Hop) (first ledger.Stamp) {
	for _, h := range hops {
		if h.At != 0 && (first == 0 || h.At < first) {
			first = h.At
		}
	}
	return first
}

func hopMap(h ledger.Hop, first ledger.Stamp) *payload.Map {
	m := payload.M("hop", h.Name, "minion", h.Minion, "state", string(h.State), "at", nil, "after_us", nil, "where", h.Where)
	if h.At != 0 {
		m.Set("at", int64(h.At)).Set("after_us", int64(h.At-first))
	}
	return m
}

// Why is the reason for the silence of each minion of a job, and of each whose return is not stored, or of those that are named: also of one that is not silent.
// Without a job it tells why a target that means these minions gives none.
func (m *Master) Why(ctx context.Context, jid string, ids ...string) (*payload.Map, error) {
	c := m.core
	s, here, err := c.snapshot(jid)
	if err != nil {
		return nil, err
	}
	if s == nil && len(ids) == 0 {
		return nil, fmt.Errorf("job %s: %w", jid, errNoJob)
	}
	out := payload.M("jid", jid)
	if s != nil {
		silent, err := c.silent(s)
		if err != nil {
			return nil, err
		}
		if out = jobMap(s, len(silent)); len(ids) == 0 {
			ids = slices.Concat(silent, unstored(s), s.Turns())
		}
	}
	cases, err := c.cases(jid, s, here, ids)
	if err != nil {
		return nil, err
	}
	c.ask(ctx, jid, cases)
	list := make([]any, len(cases))
	for i := range cases {
		list[i] = reasonMap(&cases[i])
	}
	return out.Set("reasons", list), nil
}

// cases puts together what is known of some minions of a job.
func (c *core) cases(jid string, s *ledger.Snapshot, here bool, ids []string) ([]ledger.Case, error) {
	status, denied, err := c.keyStates()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	meant := map[string]bool{}
	missing := map[string]bool{}
	var sent ledger.Stamp
	var links *ledger.Links
	if s != nil {
		addAll(meant, s.Job.Minions)
		addAll(missing, s.Job.Missing)
		sent, links = s.Job.Sent, s.Links
	}
	all := make([]ledger.Case, len(ids))
	for i, id := range ids {
		one := ledger.Case{Now: ledger.At(now), JID: jid, ID: id, Job: s, Here: here, Age: ageOf(jid, now), Keep: c.cfg.KeepJobsSeconds,
			Key: status[id], Denied: denied[id], Peer: c.book.Peers.Get(id), LinkNow: c.book.Peers.At(id, ledger.At(now))}
		if one.Link = c.book.Peers.At(id, sent); one.Link == ledger.LinkUnknown {
			one.Link = links.Of(id)
		}
		one.Undriven = s != nil && s.Job.Client != nil && syscall.Kill(int(s.Job.Client.PID), 0) == syscall.ESRCH
		switch {
		case meant[id]:
			one.Target = ledger.Meant
		case missing[id]:
			one.Target = ledger.Missing
		case len(meant) > 0:
			one.Target = ledger.NotMeant
		}
		if r := s.Row(id); jid != "" && (r == nil || r.Returned == 0) && (s == nil || s.Job.Announced == 0) { // facts that are not whole
			one.Stored = c.hasReturned(jid, id)
		}
		all[i] = one
	}
	return all, c.guessLinks(all)
}

func addAll(set map[string]bool, ids []string) {
	for _, id := range ids {
		set[id] = true
	}
}

// ageOf is how long ago a job was published by its jid; 0 when that holds no time.
func ageOf(jid string, now time.Time) time.Duration {
	if !payload.IsJID(jid) {
		return 0
	}
	t, err := time.Parse("20060102150405", jid[:14])
	if err != nil {
		return 0
	}
	return now.Sub(t)
}

// keyStates tells the state of every key.
func (c *core) keyStates() (status map[string]string, denied map[string]bool, err error) {
	status, denied = map[string]string{}, map[string]bool{}
	for _, st := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected} { // the last one counts, as with Salt
		ids, listErr := c.keys.IDs(st)
		err = errors.Join(err, listErr)
		for _, id := range ids {
			status[id] = st.State()
		}
	}
	ids, listErr := c.keys.IDs(keys.Denied)
	addAll(denied, ids)
	return status, denied, errors.Join(err, listErr)
}

// hasReturned tells whether the job store holds a return.
func (c *core) hasReturned(jid, id string) bool {
	store, ok := c.jobs.store.(interface {
		Returned(jid, id string) (bool, error)
	})
	if !ok {
		returns, err := c.jobs.store.Returns(jid)
		return err == nil && returns.Has(id)
	}
	found, err := store.Returned(jid, id)
	return err == nil && found
}

// maxGuesses bounds for how many minions connections are guessed by addresses.
const maxGuesses = 1000

// guessLinks looks for connections from the addresses of minions of which it is not known whether they are connected.
// What it finds is said, and nothing follows from it.
func (c *core) guessLinks(all []ledger.Case) error {
	byID := map[string]*ledger.Case{}
	for i := range all {
		if one := &all[i]; one.LinkNow == ledger.LinkUnknown && one.Key == "accepted" && len(byID) < maxGuesses {
			byID[one.ID] = one
		}
	}
	if len(byID) == 0 {
		return nil
	}
	up, down, err := c.attendance.finder.Among(slices.Sorted(maps.Keys(byID)))
	for _, id := range up {
		byID[id].Address = ledger.LinkUp
	}
	for _, id := range down {
		byID[id].Address = ledger.LinkDown
	}
	return err
}

// reasonMap is one reason with the facts it stands on.
func reasonMap(one *ledger.Case) *payload.Map {
	r := ledger.Why(*one)
	facts := payload.M("key", one.Key, "connected_at_publish", one.Link.String(), "connected", one.LinkNow.String(),
		"by_address", one.Address.String(), "last_heard", int64(one.Peer.Heard))
	if row := one.Job.Row(one.ID); row != nil {
		facts.Set("master", row.Map())
	}
	if one.Answer != nil {
		facts.Set("answer", one.Answer.Map())
	}
	return payload.M("minion", one.ID, "code", string(r.Code), "text", r.Text, "asked", one.Asked != ledger.NotAsked, "facts", facts)
}

// Gone lists those of some minions that certainly did not get a job. It waits until the job is sent, and a moment longer:
// what the publish socket tells of connections comes after the fact.
func (m *Master) Gone(ctx context.Context, jid string, ids []string) []string {
	return m.core.gone(ctx, jid, ids)
}

// goneAfter is that moment.
const goneAfter = 20 * time.Millisecond

func (c *core) gone(ctx context.Context, jid string, ids []string) []string {
	if c.cfg.OrderMasters { // minions of syndics have no connection here
		return nil
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		sent, known := c.book.Sent(jid)
		switch {
		case !known:
			return nil
		case sent != 0 && time.Since(sent.Time()) > goneAfter:
			return c.book.Peers.Gone(ids, sent)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// NoteClient notes what a command line says of its job.
func (m *Master) NoteClient(jid string, said *payload.Map) {
	m.core.book.Note(jid, func(j *ledger.Job) { j.Client = ledger.ReadClient(said) })
}
