package master

import (
	"fmt"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/master/reqserver"
	"brine/actors/master/workers"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/zmq"
)

// watchedWorker is a worker that dies of its first request, and then looks whether a second one waits behind each that
// it is given.
type watchedWorker struct {
	supervisor.Actor
	server func() *supervisor.Ref
	die    <-chan struct{} // closed when it may die
	behind chan<- int      // requests that wait behind one
}

func (w *watchedWorker) Receive(ctx supervisor.Context) {
	if _, work := ctx.Message().(*reqserver.Work); work {
		if supervisor.Incarnation(ctx) == 1 {
			<-w.die
		} else {
			w.settle()
			w.behind <- supervisor.Self(ctx).Depth()
		}
	}
	w.Actor.Receive(ctx)
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
	opt.Listener = func() transport.RequestServer {
		return zmq.NewRouter(zmq.RouterOptions{Endpoint: zmq.BindEndpoint("127.0.0.1", pub)})
	}
	plain, broken, made := opt.Worker, r.m.core.workerOptions(), 0
	broken.Pools = nil // what uses it panics
	opt.Worker = func(name string, pool int, ref *supervisor.Ref) supervisor.Actor {
		if opt.Pools.Name(pool) != "fast" {
			return plain(name, pool, ref)
		}
		w := plain(name, pool, ref)
		if made++; made == 1 {
			w = workers.NewWorker(broken, name, pool, ref)
		}
		return &watchedWorker{Actor: w, server: func() *supervisor.Ref {
			<-started
			return server
		}, die: die, behind: behind}
	}
	server, err := r.m.top.Add(reqserver.Child("OtherServer", opt))
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	const requests = 8
	answers := make(chan []byte, requests)
	for n := range requests {
		server.Send(&reqserver.HandleRequest{Frame: packed(t, clearEnvelope(payload.M("cmd", "ping", "n", n))),
			At:     time.Now(),
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
