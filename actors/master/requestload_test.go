package master

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/zmq"

	"github.com/prometheus/client_golang/prometheus"
)

// publishFrame is a request of a client for a job.
func (r *rig) publishFrame() []byte {
	return packed(r.t, clearEnvelope(payload.M("cmd", "publish", "tgt", "m1", "fun", "test.ping", "arg", []any{}, "key",
		r.rootKey(), "tgt_type", "glob", "ret", "", "jid", "", "user", userName())))
}

// others fails when a job was published beside one that is published now.
func (e *busEar) others(r *rig) {
	e.t.Helper()
	jid := r.publish(payload.M("tgt", "m1"))
	r.m.Fire("test/end", payload.NewMap(0))
	for _, tag := range e.until("test/end") {
		if strings.HasPrefix(tag, "salt/job/") && !strings.HasPrefix(tag, "salt/job/"+jid) {
			e.t.Errorf("a refused job was published: %s", tag)
		}
	}
}

// TestReqServerDiesWithRequests: a client is told that its request is lost before the socket closes, whether a worker
// has it or it waits for one. A minion is not told.
func TestReqServerDiesWithRequests(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*supervisor.Supervisor) error
	}{
		{"panic", func(tree *supervisor.Supervisor) error { return tree.Inject(nameReqServer, supervisor.FaultPanic) }},
		{"restart", func(tree *supervisor.Supervisor) error { return tree.Restart(nameReqServer) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, reg := newSite(t, "chaos: true", "worker_threads: 1", "stop_timeout: 1"), prometheus.NewRegistry()
			r.faulty, r.metrics = true, reg
			r.start()
			m, ear := r.minion("m1"), r.hear()
			sealed, _, err := m.Seal(cmd("_file_envs"))
			if err == nil {
				err = r.m.Supervisor().Inject("ReqServer/MWorker-fast-0", supervisor.FaultHang)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, clear, replies, lost := testContext(t), r.publishFrame(), make(chan []byte, 2), make(chan error, 1)
			server, _ := r.m.Supervisor().Lookup(nameReqServer)
			before := server.Snapshot().Sent
			for range 2 { // one goes to the worker that hangs, one waits
				q := r.connect()
				go func() {
					reply, err := q.Do(ctx, clear)
					if err != nil {
						t.Errorf("a client is not answered: %v", err)
					}
					replies <- reply
				}()
				r.eventually("the first request in a worker's hand", func() error {
					if server.Snapshot().Sent == before {
						return errors.New("it is not")
					}
					return nil
				})
			}
			q := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.cfg.RetPort, "", 0),
				Context: r.zctx, FailFast: true})
			defer q.Close()
			go func() {
				_, err := q.Do(ctx, sealed)
				lost <- err
			}()
			r.eventually("two requests behind the first", func() error {
				if n := gathered(t, reg)["salt_master_workers_queue_depth{pool=fast}"]; n != 2 {
					return fmt.Errorf("%v wait", n)
				}
				return nil
			})
			if err := tt.end(r.m.Supervisor()); err != nil {
				t.Fatal(err)
			}
			told := ""
			for range 2 {
				told += string(actortest.Wait(t, "answer", replies))
			}
			if strings.Count(told, "Nothing was done.") != 1 || strings.Count(told,
				"Whether it was carried out is not known.")+strings.Count(told, payload.TextHandlerFailed) != 1 {
				// by the server, or by the worker
				t.Errorf("clients are told %q", told)
			}
			if err := actortest.Wait(t, "end of the minion's connection", lost); !errors.Is(err, transport.ErrLost) {
				t.Errorf("the minion is told: %v", err)
			}
			r.log.Await(t, "the ReqServer ends: requests are refused")
			ear.others(r)
		})
	}
}
