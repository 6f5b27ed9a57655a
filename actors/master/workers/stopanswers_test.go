package workers

import (
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/master/jobs"
	"brine/actors/master/record"
	"brine/actors/master/reqserver"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// receiptOf is that of a request with one return; what it is answered comes out of the channel.
func receiptOf() (*receipt, <-chan []byte) {
	answers := make(chan []byte, 2)
	// there is no envelope to read
	req, _ := reqserver.ReadRequest(&reqserver.HandleRequest{Reply: func(frame []byte) { answers <- frame }})
	req.Opened.Store(&auth.Opened{Cmd: payload.CmdReturn, ID: "m1"})
	return newReceipt(&call{req: req, log: actortest.Discard()},
		record.New(ledger.NewBook(ledger.Limits{Jobs: 10, Rows: 10}), nil, nil)), answers
}

// slowStore commits when it is told to.
type slowStore struct {
	jobs.Store
	entered, release chan struct{}
}

func (s *slowStore) Commit([]jobstore.Load, []jobstore.Return) (jobstore.Result, error) {
	s.entered <- struct{}{}
	<-s.release
	return jobstore.Result{}, nil
}

// stoppingStore is a JobStore that commits as slowly as a test wants, and where it sends what has become of returns.
func stoppingStore(t *testing.T, server func() *supervisor.Ref) (*supervisor.Ref, *slowStore) {
	t.Helper()
	store := &slowStore{entered: make(chan struct{}, 10), release: make(chan struct{}, 10)}
	s := actortest.Start(t, supervisor.Options{})
	own := jobs.New(jobs.Options{}, store, nil, actortest.Discard())
	return actortest.Add(t, s, own.Child(jobs.WriterOptions{Log: actortest.Discard(), Server: server})), store
}

// isOpen fails the test when something has happened too early.
func isOpen[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	select {
	case <-c:
		t.Error("too early: " + what)
	default:
	}
}

// flushAmid lets a stop begin while a return is on its way to the disk, and lets it get there.
func flushAmid(t *testing.T, ref *supervisor.Ref, store *slowStore, q *receipt) (flushed <-chan struct{}) {
	t.Helper()
	done := make(chan struct{}, 2)
	ref.Send(&jobs.StoreReturn{JID: "20260101000000000001", ID: "m1", Load: payload.M("return", true), Receipt: q})
	actortest.Wait(t, "commit", store.entered)
	ref.Send(&supervisor.Flush{Done: func() { done <- struct{}{} }})
	store.release <- struct{}{}
	return done
}

// TestStopAnswersFirst: a stop that comes while a return is on its way to the disk goes on when the ReqServer has
// answered for that return. Before, its minion would send it once more.
func TestStopAnswersFirst(t *testing.T) {
	server := actortest.NewProbe()
	to := actortest.Add(t, actortest.Start(t, supervisor.Options{}), supervisor.Spec{Name: "ReqServer",
		New: server.New})
	ref, store := stoppingStore(t, func() *supervisor.Ref { return to })
	q, answers := receiptOf()
	flushed := flushAmid(t, ref, store, q)
	stored := actortest.Expect[*jobs.ReturnsStored](t, server) // the first thing that the ReqServer hears
	isOpen(t, "answered by the JobStore", answers)
	isOpen(t, "the stop went on before the answer was asked for", flushed)
	given := actortest.Expect[*jobs.AnswersGiven](t, server)
	isOpen(t, "the stop went on before the answer was given", flushed)
	if len(stored.Outcomes) != 1 || stored.Outcomes[0].Err != nil {
		t.Fatalf("outcomes: %+v", stored.Outcomes)
	}
	stored.Tell()
	actortest.Wait(t, "answer", answers)
	given.Done()
	actortest.Wait(t, "the stop", flushed)
	isOpen(t, "a second answer", answers)
	isOpen(t, "a second end of the flush", flushed)
}

// TestStopWithoutReqServer: where the ReqServer has ended before, or never was, the answer is given all the same, and
// the stop does not wait for it.
func TestStopWithoutReqServer(t *testing.T) {
	own := actortest.Start(t, supervisor.Options{})
	gone := actortest.Add(t, own, supervisor.Spec{Name: "ReqServer", New: actortest.NewProbe().New})
	own.Stop(time.Minute)
	for name, server := range map[string]func() *supervisor.Ref{
		"ended": func() *supervisor.Ref { return gone },
		"none":  func() *supervisor.Ref { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			ref, store := stoppingStore(t, server)
			q, answers := receiptOf()
			flushed := flushAmid(t, ref, store, q)
			if v, err := payload.Unmarshal(actortest.Wait(t, "answer", answers)); err != nil || v != nil {
				t.Errorf("answered %v, %v", v, err)
			}
			actortest.Wait(t, "the stop", flushed)
			isOpen(t, "a second answer", answers)
		})
	}
}
