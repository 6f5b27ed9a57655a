package answers

import (
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/presence"
	"brine/wire/payload"
)

// store is what is stored of jobs. It may keep facts of them, and tell of one return alone.
type store interface {
	Load(jid string) (*payload.Map, error)
	Returns(jid string) (*payload.Map, error)
}

// Sources are where a Service looks things up.
type Sources struct {
	Store     store
	Book      *ledger.Book
	Keys      *keys.Store
	Finder    *presence.Finder
	Addresses *presence.AddressBook
	Keep      time.Duration // keep_jobs_seconds
	// Ask sends a question to minions: a publication that nobody else hears of. It must not wait for the answers, which
	// come to Take.
	Ask func(jid, fun string, args []any, ids []string)
	// NextJID is a new job id.
	NextJID func() string
}

// Service answers. Any number of goroutines may use it.
type Service struct {
	Sources
	questions questions
}

// New makes a Service.
func New(from Sources) *Service { return &Service{Sources: from} }

// Take takes a return that answers a question of the Service. It is false for any other return.
func (d *Service) Take(ret *payload.Return, at time.Time) bool { return d.questions.take(ret, at) }

// NoteClient notes what a command line says of its job.
func (d *Service) NoteClient(jid string, said *payload.Map) {
	d.Book.Note(jid, func(j *ledger.Job) { j.Client = ledger.ReadClient(said) })
}
