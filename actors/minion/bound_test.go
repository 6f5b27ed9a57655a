package minion

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"brine/actors/actortest"
	"brine/actors/daemon"
	"brine/actors/minion/facts"
	"brine/actors/minion/jobs"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/sealed"
)

// barrier holds one actor of a minion when a kind of message reaches it.
type barrier struct {
	name string
	on   func(msg any) bool
	over chan struct{}
	open func()
}

// hold makes such a barrier; it opens at the latest when the test ends.
func (r *rig) hold(name string, on func(msg any) bool) *barrier {
	b := &barrier{name: name, on: on, over: make(chan struct{})}
	b.open = sync.OnceFunc(func() { close(b.over) })
	r.t.Cleanup(b.open)
	r.opt.around = func(name string, inner supervisor.Actor) supervisor.Actor {
		if name != b.name {
			return inner
		}
		return held{b, inner}
	}
	return b
}

type held struct {
	*barrier
	inner supervisor.Actor
}

func (h held) Receive(ctx supervisor.Context) {
	if h.on(ctx.Message()) {
		<-h.over
	}
	h.inner.Receive(ctx)
}

// within are the bounds of a test.
func (r *rig) within(change func(*bounds)) *rig {
	b := defaultBounds()
	change(&b)
	r.opt.bounds = &b
	return r
}

// textWaits is what the log says of a sender that has to wait.
const textWaits = "too much waits: who sends more has to wait, too"

func empty(b *daemon.Bound) bool {
	n, bytes := b.Waiting()
	return n == 0 && bytes == 0
}

// TestPublicationFlood: while the Dispatcher does not get on, the publish socket is not read; no publication is lost.
func TestPublicationFlood(t *testing.T) {
	const flood, most = 300, 20
	r := newRig(t, "minion_jid_queue_hwm: 1000\n").within(func(b *bounds) { b.publications = most })
	b := r.hold("Dispatcher", func(msg any) bool { _, ok := msg.(*jobs.Received); return ok })
	r.up()
	f := r.master()
	var sent atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range flood {
			f.publish(jid(i), "t.echo", "x")
			sent.Add(1)
		}
	}()
	r.log.Await(t, textWaits)
	l := r.m.links[0]
	if waits, most := l.Subscriber().Depth()+r.m.jobs.Depth(), 2*most+2; waits > most ||
		sent.Load() > int64(most)+1 {
		t.Errorf("%d publications wait, %d were taken, want at most %d", waits, sent.Load(), most)
	}
	b.open()
	actortest.Wait(t, "end of the flood", done)
	for i := range flood {
		f.awaitReturn(t, jid(i))
	}
	r.wait(t, "empty rooms", func() bool { return empty(l.Coming()) })
}

// TestBusFlood: a local tool that fires more than the bus takes has to wait and loses nothing; a function is told.
func TestBusFlood(t *testing.T) {
	const flood, most = 500, 20
	r := newRig(t, "").within(func(b *bounds) { b.events = most })
	b := r.hold("EventBus", func(msg any) bool {
		m, ok := msg.(*daemon.FireEvent)
		return ok && event.Tag(m.Body) == "flood"
	})
	r.up()
	got, stands := make(chan string, flood), make(chan struct{})
	r.m.bus.Ref().Send(&daemon.Subscribe{Name: "ear", Done: stands, Sink: func(tag string, _ []byte) {
		if tag == "flood" {
			got <- tag
		}
	}})
	actortest.Wait(t, "ear", stands)
	done := make(chan error, 1)
	go func() { done <- r.tool(flood, "flood", payload.M("x", 1)) }()
	r.log.Await(t, textWaits)
	if n := r.m.bus.Ref().Depth(); n > most+1 {
		t.Errorf("%d events wait", n)
	}
	refused := false
	for range 3 * most {
		refused = refused || !r.m.fire("own", payload.M("x", 1))
	}
	if n := r.m.bus.Ref().Depth(); !refused || n > 2*most+1 {
		t.Errorf("the minion's own events: refused %v, %d wait", refused, n)
	}
	b.open()
	if err := actortest.Wait(t, "end of the flood", done); err != nil {
		t.Fatal(err)
	}
	for range flood {
		actortest.Wait(t, "event", got)
	}
	r.wait(t, "empty room", func() bool { return empty(r.m.bus.Room()) })
}

// tool fires events as a local tool does.
func (r *rig) tool(n int, tag string, data *payload.Map) error {
	_, pull, err := event.MinionSockets(r.cfg.ID, r.cfg.HashType)
	if err != nil {
		return err
	}
	push := ipc.NewPusher(filepath.Join(r.cfg.SockDir, pull), ipc.FramingPlain)
	defer push.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		return err
	}
	for range n {
		if err := push.Push(ctx, body); err != nil {
			return err
		}
	}
	return nil
}

// TestRequestFlood: what tools ask of a master that is slow waits in their sockets and is asked in the end; what the
// minion itself asks beyond the bound is refused and said.
func TestRequestFlood(t *testing.T) {
	const flood, most = 300, 20
	r := newRig(t, "").within(func(b *bounds) { b.events, b.requests = most/2, most })
	f := r.master()
	over, custom := make(chan struct{}), atomic.Int64{}
	open := sync.OnceFunc(func() { close(over) })
	t.Cleanup(open)
	f.answer = func(o *auth.Opened) (any, bool) {
		if o.Load.Str("tag") != "custom" {
			return nil, false
		}
		<-over
		custom.Add(1)
		return true, true
	}
	r.up()
	done := make(chan error, 1)
	go func() {
		done <- r.tool(flood, event.TagFireMaster, payload.M("tag", "custom", "data", payload.M("x", 1)))
	}()
	r.log.Await(t, textWaits)
	l := r.m.links[0]
	errs := make(chan error, 2*most)
	for range 2 * most {
		l.Post(&link.Request{Load: link.EventLoad(r.m.own.id, "custom", "x"), Done: func(_ any, err error) {
			errs <- err
		}})
	}
	if err := actortest.Wait(t, "refusal", errs); err != link.ErrTooMuch {
		t.Errorf("refused with %v", err)
	}
	if n, _ := l.Asking().Waiting(); n > most+1 { // the bus and this test may both have seen the last place
		t.Errorf("%d requests are under way", n)
	}
	open()
	if err := actortest.Wait(t, "end of the flood", done); err != nil {
		t.Fatal(err)
	}
	r.wait(t, "requests of the tool", func() bool { return custom.Load() >= flood })
	r.wait(t, "empty room", func() bool { return empty(l.Asking()) })
}

// TestRefreshFlood: thousands who ask for grains and pillars cost one more of each; all are told.
func TestRefreshFlood(t *testing.T) {
	const flood, most = 3000, 1000
	r := newRig(t, "").within(func(b *bounds) { b.refreshes = most })
	over, computed, fetched := make(chan struct{}), atomic.Int64{}, atomic.Int64{}
	open := sync.OnceFunc(func() { close(over) })
	t.Cleanup(open)
	grains := r.opt.Grains
	r.opt.Grains = func(fresh bool) facts.Grains {
		if fresh {
			computed.Add(1)
			<-over
		}
		return grains(fresh)
	}
	r.up()
	r.master().set(func() {
		r.master().answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdPillar {
				fetched.Add(1)
				<-over
			}
			return nil, false
		}
	})
	told := make(chan bool, 2*flood)
	for range flood {
		r.m.refresher.Send(&facts.RefreshGrains{Done: func(bool) { told <- true }})
		r.m.refresher.Send(&facts.RefreshPillar{Link: r.m.links[0], Done: func(error) { told <- true }})
	}
	r.log.Await(t, "the grains are not computed once more")
	r.log.Await(t, "the pillar is not fetched once more")
	open()
	for range 2 * flood {
		actortest.Wait(t, "answer", told)
	}
	if computed.Load() > 2 || fetched.Load() > 2 {
		t.Errorf("grains computed %d times, pillar fetched %d times", computed.Load(), fetched.Load())
	}
}

// TestRefresherDies: who waits for grains or pillars is told when the Refresher ends.
func TestRefresherDies(t *testing.T) {
	r := newRig(t, "")
	over := make(chan struct{})
	open := sync.OnceFunc(func() { close(over) })
	t.Cleanup(open)
	grains := r.opt.Grains
	r.opt.Grains = func(fresh bool) facts.Grains {
		if fresh {
			<-over
		}
		return grains(fresh)
	}
	r.up()
	told := make(chan bool, 3)
	for range 3 {
		r.m.refresher.Send(&facts.RefreshGrains{Done: func(bool) { told <- true }})
	}
	r.wait(t, "a Refresher at work", func() bool { return r.m.refresher.Depth() == 0 })
	harm(t, r, "Refresher", "exit")
	open()
	for range 3 {
		actortest.Wait(t, "answer", told)
	}
}

// TestActorFlood: questions about jobs are answered past process_count_max, but not by any number of actors.
func TestActorFlood(t *testing.T) {
	r := newRig(t, "process_count_max: 2\n").within(func(b *bounds) { b.actors = 5 })
	b := r.hold("Journal", func(msg any) bool { _, ok := msg.(*journal.Write); return ok })
	r.up()
	f := r.master()
	for i := range 50 {
		f.publish(jid(i), "saltutil.running")
	}
	r.log.Await(t, "too many are in hand")
	r.wait(t, "refusal of the last", func() bool { return r.m.JobFacts(jid(49)).Str("outcome") == "queue_full" })
	if n := len(r.m.jobs.Supervisor().Snapshot()); n != 7 {
		t.Errorf("%d actors of jobs", n)
	}
	b.open()
	for i := range 7 {
		f.awaitReturn(t, jid(i))
	}
	r.run(jid(50), "test.ping")
}

// TestQueueBytes: the job queue is full by bytes, too.
func TestQueueBytes(t *testing.T) {
	r := newRig(t, "process_count_max: 1\n").within(func(b *bounds) { b.queueBytes = 10_000 }).up()
	f := r.master()
	f.publish(jid(0), "t.block")
	r.awaitBegun(t, jid(0), 1)
	for i := range 20 {
		f.publish(jid(1+i), "t.echo", strings.Repeat("x", 1000))
	}
	if got := fmt.Sprint(f.awaitReturn(t, jid(20)).Value("return")); !strings.Contains(got,
		"The job queue of the minion is full") {
		t.Errorf("return %s", got)
	}
	if n := len(files(t, filepath.Join(r.cfg.CacheDir, "queues", r.m.links[0].QueueName(), "job_queue"))); n < 5 ||
		n > 10 {
		t.Errorf("%d jobs wait", n)
	}
	r.fun.release()
	for i := range 20 {
		f.awaitReturn(t, jid(1+i))
	}
}

// TestReturnsByNumber: returns for a master that is away are kept up to a number, the newest of them.
func TestReturnsByNumber(t *testing.T) {
	r := newRig(t, "").within(func(b *bounds) { b.returns = 20 }).up()
	f := r.master()
	f.set(func() { f.down = true })
	for i := range 60 {
		f.publish(jid(i), "t.echo", "x")
		r.awaitBegun(t, jid(i), 1)
	}
	r.awaitIdle(t) // all are on disk, but for those that are dropped
	r.until(t, "returns that are dropped", func() bool { return len(r.spooled(t)) == 20 }, sealed.InsistPauseMax)
	r.log.Await(t, "returns are dropped")
	f.set(func() { f.down = false })
	r.until(t, "returns", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.returns) >= 20
	}, sealed.InsistPauseMax)
	r.awaitSpool(t, 0)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.returns) != 20 {
		t.Errorf("%d returns, want 20", len(f.returns))
	}
}
