package reqserver

import (
	"errors"
	"sync/atomic"
	"time"

	"brine/supervisor"
)

// Work hands one request to a worker.
type Work struct {
	Req   *Request
	Since time.Time

	pool   int // of the worker
	worker *supervisor.Ref
	server *supervisor.Ref
	taker  atomic.Int64 // incarnation of the worker that has begun it, 0: none has
}

// Lost answers the request when its worker dies of it. A request that is set aside never reaches the worker, which has
// nothing in hand then and does not know that it should ask for more.
func (w *Work) Lost(why error) {
	w.Req.Lost(why)
	if errors.Is(why, supervisor.ErrQuarantined) {
		w.server.Send(&WorkerReady{Pool: w.pool, Ref: w.worker, Done: w})
	}
}

// newWork hands r to worker.
func newWork(r *Request, worker, server *supervisor.Ref) *Work {
	return &Work{Req: r, Since: r.given, pool: r.Pool, worker: worker, server: server}
}

// Begin notes that an incarnation of the worker has begun it.
func (w *Work) Begin(incarnation int) { w.taker.Store(int64(incarnation)) }

// Content is what the peer sent, of a request in clear. A sealed one is never the same twice.
func (w *Work) Content() []byte { return w.Req.Frame }
