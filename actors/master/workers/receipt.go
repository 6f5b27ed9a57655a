package workers

import (
	"sync/atomic"

	"brine/actors/master/record"
)

// receipt is what a request with returns waits for: that all of them are on disk. Who takes the returns expects their
// outcomes, the ReqServer is told of these (ReturnsStored) and answers.
type receipt struct {
	call   *call
	record *record.Record
	left   atomic.Int64
	failed atomic.Bool
}

// newReceipt is that of a request whose returns are now being taken: when all are, Tell(nil) says so.
func newReceipt(r *call, record *record.Record) *receipt {
	q := &receipt{call: r, record: record}
	q.expect()
	return q
}

// expect announces one more outcome.
func (q *receipt) expect() { q.left.Add(1) }

// Stored notes that a return is on disk, or why it is not.
func (q *receipt) Stored(jid, id string, err error) { q.record.Stored(jid, id, err) }

// Tell takes an outcome. After the last one the request is answered: as failed when one was, so that its sender keeps
// all.
func (q *receipt) Tell(err error) {
	if err != nil {
		q.failed.Store(true)
	}
	switch {
	case q.left.Add(-1) > 0:
	case q.failed.Load():
		q.call.req.Fail()
	default:
		q.call.finish(nil)
	}
}
