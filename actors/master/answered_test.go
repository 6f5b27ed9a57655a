package master

import (
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/master/reqserver"
	"brine/actors/master/workers"
	"brine/supervisor"
	"brine/wire/payload"
)

// TestAnsweredIsDropped: a request that was answered as failed while it waited for its worker is not carried out. It is
// one that the worker carries out itself, events and all, before it asks for the next.
func TestAnsweredIsDropped(t *testing.T) {
	r := newRig(t)
	own, server := actortest.Start(t, supervisor.Options{}), actortest.NewProbe()
	to := actortest.Add(t, own, supervisor.Spec{Name: "Server", New: server.New})
	worker := actortest.Add(t, own, supervisor.Spec{Name: "MWorker", New: func() supervisor.Actor {
		return workers.NewWorker(r.m.core.workerOptions(), "MWorker", r.m.core.pools.Of(payload.CmdWheel), to)
	}})
	actortest.Expect[*reqserver.WorkerReady](t, server)
	work := func() *reqserver.Work {
		req, err := reqserver.ReadRequest(&reqserver.HandleRequest{Reply: func([]byte) {}, Frame: packed(t,
			clearEnvelope(payload.M("cmd",
				payload.CmdWheel, "fun", "key.list_all", "key", r.rootKey(), "user", userName())))})
		if err != nil {
			t.Fatal(err)
		}
		return &reqserver.Work{Req: req}
	}
	ear, late, good := r.hear(), work(), work()
	late.Req.Fail()
	worker.Send(late)
	actortest.Expect[*reqserver.WorkerReady](t, server)
	r.m.Fire("test/between", payload.NewMap(0))
	if seen := ear.until("test/between"); len(seen) > 0 {
		t.Errorf("carried out: %q", seen)
	}
	worker.Send(good)
	actortest.Expect[*reqserver.WorkerReady](t, server)
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); len(seen) == 0 || !strings.HasPrefix(seen[0], "salt/wheel/") {
		t.Errorf("of a request in time: %q", seen)
	}
}

// TestWaitsTooLong: what waits in a lane until its time is over is answered as failed, and is not begun when a worker
// comes free.
func TestWaitsTooLong(t *testing.T) {
	t.Parallel() // it waits, and so do the other tests of timeouts
	r := newRig(t, "chaos: true", "worker_threads: 1", "request_timeout: 5", "stop_timeout: 1")
	r.faulty = true
	equal(t, "before", r.clear(cmd("ping")), cmd("ping")) // the worker is there
	if err := r.m.Supervisor().Inject("ReqServer/MWorker-fast-0", supervisor.FaultHang); err != nil {
		t.Fatal(err)
	}
	server, _ := r.m.Supervisor().Lookup(nameReqServer)
	frame := packed(t, clearEnvelope(cmd("ping")))
	send := func(at time.Time) <-chan []byte {
		reply := make(chan []byte, 1)
		server.Send(&reqserver.HandleRequest{Frame: frame, At: at, Inside: true,
			Reply: func(frame []byte) { reply <- frame }})
		return reply
	}
	// in the hand of the worker that hangs, and in its lane
	first, late := send(time.Now()), send(time.Now().Add(-time.Hour))
	equal(t, "what waited", decoded(t, actortest.Wait(t, "answer", late)), any(handlerFailed))
	equal(t, "what hung", decoded(t, actortest.Wait(t, "answer", first)), any(handlerFailed))
	equal(t, "the next one", r.clear(cmd("ping")), cmd("ping"))
}

// TestAnsweredInTurn: nor is one that waited for the turn of its minion.
func TestAnsweredInTurn(t *testing.T) {
	for _, command := range []string{"minion_pub", "minion_publish"} {
		t.Run(command, func(t *testing.T) {
			r := newRig(t, "peer: {m1: ['test.*']}", "request_timeout: 1")
			m := r.minion("m1")
			ear := r.hear()
			done, err := r.m.core.handlers.TurnOf(t.Context(), "m1")
			if err != nil {
				t.Fatal(err)
			}
			load := cmd(command, "fun", "test.echo", "arg", []any{"x"}, "tgt", "m1", "tgt_type", "glob", "ret", "",
				"tmo", 1)
			equal(t, "answer at the deadline", m.ask(load), "")
			done()
			for { // it has had its turn when another one gets it
				if done, err = r.m.core.handlers.TurnOf(t.Context(), "m1"); err == nil {
					done()
					break
				}
			}
			r.eventually("end of the request", func() error { return r.noneAtOnce("m1") })
			r.m.Fire("test/end", payload.NewMap(0))
			if seen := ear.until("test/end"); len(seen) > 0 {
				t.Errorf("carried out: %q", seen)
			}
		})
	}
}
