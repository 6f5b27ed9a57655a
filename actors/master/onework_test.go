package master

import (
	"fmt"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/zmq"
)

// watchedWorker is a worker that dies of its first request, and then looks whether a second one waits behind each that
// it is given.
type watchedWorker struct {
	*mworker
	server func() *supervisor.Ref
	die    <-chan struct{} // closed when it may die
	behind chan<- int      // requests that wait behind one
}

func (w *watchedWorker) Receive(ctx supervisor.Context) {
	if _, work := ctx.Message().(*Work); work {
		if supervisor.Incarnation(ctx) == 1 {
			<-w.die
			w.opt.pools = nil // what uses it panics
		} else {
			w.settle()
			w.behind <- supervisor.Self(ctx).Depth()
		}
	}
	w.mworker.Receive(ctx)
}

// settle waits until the ReqServer has done all that it has been told.
func (w *watchedWorker) settle() {
	for limit := time.After(patience); ; {
		if c := w.server().Snapshot(); c.Mailbox == 0 && c.InHand == "" {
			return
		}
		select {
		case <-limit:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// TestOneRequestAtATime: a worker that has died of a request is given one request at a time again, although both it
// and its successor could ask for the next.
func TestOneRequestAtATime(t *testing.T) {
	r := newRig(t, "worker_threads: 1")
	r.faulty = true
	pub, _ := freePorts(t)
	die, behind := make(chan struct{}), make(chan int, 100)
	var server *supervisor.Ref
	started := make(chan struct{})
	opt := r.m.core.reqOptions()
	opt.listener = func() transport.RequestServer {
		return zmq.NewRouter(zmq.RouterOptions{Endpoint: zmq.BindEndpoint("127.0.0.1", pub)})
	}
	plain := opt.worker
	opt.worker = func(name string, pool int, ref *supervisor.Ref) supervisor.Actor {
		w, _ := plain(name, pool, ref).(*mworker)
		if opt.pools.list[pool].name != "fast" {
			return w
		}
		return &watchedWorker{mworker: w, server: func() *supervisor.Ref {
			<-started
			return server
		}, die: die, behind: behind}
	}
	server, err := r.m.top.Add(supervisor.Spec{Name: "OtherServer", New: func() supervisor.Actor {
		return &reqServer{opt: opt}
	}})
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	const requests = 8
	answers := make(chan []byte, requests)
	for n := range requests {
		server.Send(&HandleRequest{Frame: packed(t, clearEnvelope(payload.M("cmd", "ping", "n", n))), At: time.Now(),
			Inside: true,
			Reply:  func(frame []byte) { answers <- frame }})
	}
	r.eventually("all requests", func() error {
		if c := server.Snapshot(); c.Mailbox > 0 || c.InHand != "" {
			return fmt.Errorf("%d wait", c.Mailbox)
		}
		return nil
	})
	close(die)
	for range requests {
		actortest.Wait(t, "answer", answers)
	}
	for range requests - 1 {
		if n := actortest.Wait(t, "look at the mailbox", behind); n != 0 {
			t.Errorf("%d requests wait behind the one in hand", n)
		}
	}
}

func TestReadyFrees(t *testing.T) {
	fresh, taken := new(Work), new(Work)
	taken.taker.Store(2)
	for _, tt := range []struct {
		name string
		say  WorkerReady
		hand *Work
		want bool
	}{
		{"first start", WorkerReady{Life: 1}, nil, true},
		{"done", WorkerReady{Life: 2, Done: taken}, taken, true},
		{"left behind, successor is busy", WorkerReady{Life: 1, Done: fresh}, taken, false},
		{"left behind, successor is idle", WorkerReady{Life: 1, Done: fresh}, nil, false},
		{"started, the predecessor died of it", WorkerReady{Life: 3}, taken, true},
		{"started, and took it since", WorkerReady{Life: 2}, taken, false},
		{"started, it waits in the mailbox", WorkerReady{Life: 3}, fresh, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.say.frees(tt.hand); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
