package jobs

import (
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/wire/payload"
)

// Messages of the JobStore.
type (
	// SaveLoad stores the load of a job.
	SaveLoad struct {
		JID     string
		Load    *payload.Map
		Minions []string
		Syndic  string // that reports Minions, "" when they are this master's own
		NoCache bool
		By      string // the minion whose job it is; "" when this master was asked for it
		// Announced says that the files for Salt's tools are written already.
		Announced bool
		// Again says that whoever sent it sends it again when it cannot be stored.
		Again bool
	}
	// StoreReturn stores one return. What becomes of it the ReqServer is told by ReturnsStored, or a caller by Stored.
	StoreReturn struct {
		JID, ID string
		By      string // the minion that sent it, of which a job that nobody announced counts as its own
		Load    *payload.Map
		Receipt receiver // of the request that brought it; nil: none did
		// Stored is for callers outside of the actors: it is called once, when the return is on disk or could not be
		// put there, by the writer of the JobStore or by whoever finds that the message is lost, and must not block.
		// nil: nobody wants to know.
		Stored func(error)
		Keep   bool // nobody sends it again: it is held until it can be stored

		place   daemon.Place // among those that wait for the JobStore
		settled atomic.Bool
	}
	// ReturnsStored says what became of returns: they are on disk, or could not be put there. It goes to the ReqServer,
	// which answers the requests that brought them.
	ReturnsStored struct{ Outcomes []Outcome }
	// AnswersGiven calls Done when the ReqServer has answered for all ReturnsStored that came before: the ReqServer
	// does, or whoever finds that the message is lost. It is how a Flush, whose Done comes from the supervisor, goes on
	// to its end.
	AnswersGiven struct{ Done func() }
	// SaveFacts stores what is known of jobs and goes with no load or return.
	SaveFacts struct{}
	// AwaitJobs calls Done when all that came before is on disk, or could not be put there. It is for callers outside
	// of the actors: the JobStore, its writer, or whoever finds that the message is lost calls it once; it must not
	// block.
	AwaitJobs struct{ Done func() }
	// CleanJobs removes what is older than keep_jobs_seconds.
	CleanJobs struct{ Now time.Time }
	// CommitDone says that a group is on disk, or could not be put there.
	CommitDone struct {
		Err   error
		Files error // the files for Salt's tools could not be written
		by    *jobStore
	}
	// RetryJobs tries again to write what could not be written.
	RetryJobs struct{}
	// CleanDone says that old jobs have been removed.
	CleanDone struct{}
)

// Outcome is what became of a return that a request had brought.
type Outcome struct {
	receipt receiver
	Err     error
}

// receiver is told what became of a return that a request had brought: first that it is stored, or why not, by whoever
// finds out, and then in the ReqServer, which answers the request.
type receiver interface {
	Stored(jid, id string, err error)
	Tell(err error)
}

// settle is told, once, what became of the return. It gives its place in the room back, and tells all but the request.
// False: it has been told before.
func (m *StoreReturn) settle(why error) bool {
	if m.settled.Swap(true) {
		return false
	}
	m.place.Leave()
	if m.Receipt != nil {
		m.Receipt.Stored(m.JID, m.ID, why)
	}
	if m.Stored != nil {
		m.Stored(why)
	}
	return true
}

// Lost tells that the return was not stored.
func (m *StoreReturn) Lost(why error) {
	if m.settle(why) && m.Receipt != nil {
		m.Receipt.Tell(why)
	}
}

// Lost answers the requests that no incarnation of the ReqServer will.
func (m *ReturnsStored) Lost(error) { m.Tell() }

// Tell answers the requests.
func (m *ReturnsStored) Tell() {
	for _, o := range m.Outcomes {
		o.receipt.Tell(o.Err)
	}
}

// Lost ends the wait.
func (m *AwaitJobs) Lost(error) { m.Done() }

// Lost ends the wait.
func (m *AnswersGiven) Lost(error) { m.Done() }

// Tell ends the wait.
func (m *AnswersGiven) Tell() { m.Done() }
