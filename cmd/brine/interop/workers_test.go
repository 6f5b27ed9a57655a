//go:build interop

package interop

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/payload"
	"brine/wire/zmq"
)

// countWorkers logs how many requests the master leaves without an answer, for one turn of its workers and a
// bit more. A worker of real Salt is lost for good, without a log line, if salt-key of any implementation
// removes a key file between two checks of it in a sign-in (3006.9, 3006.28 and 3007.15: _auth in
// salt/channel/server.py).
func (s *site) countWorkers() {
	const requests, wait = 9, 10 * time.Second
	frame, err := (&payload.Request{Enc: payload.EncClear, Load: payload.M("cmd", payload.CmdPing),
		Version: 3}).Encode()
	if err != nil {
		s.t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var all sync.WaitGroup
	var silent atomic.Int32
	for range requests {
		all.Go(func() {
			q := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", s.ret, "", 0)})
			defer q.Close()
			if _, err := q.Do(ctx, frame); err != nil {
				silent.Add(1)
			}
		})
	}
	all.Wait()
	s.t.Logf("%s left %d of %d requests unanswered", s.master.name, silent.Load(), requests)
}
