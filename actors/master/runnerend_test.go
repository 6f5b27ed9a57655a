package master

import (
	"context"
	"fmt"
	"testing"

	"brine/actors/master/jobs"
	"brine/actors/master/run"
	"brine/modules/runners"
	"brine/supervisor"
	"brine/wire/payload"
)

// TestRunnerEnded: a runner that nobody waits for at the master, as salt-api's runner_async starts it, and that is
// ended: its event comes, once, whatever the function does with its end, who has heard of it finds it, and nothing of
// it stays.
func TestRunnerEnded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		deaf  bool // the function does not heed its context
		crash bool // its actor dies, else an operator ends it
	}{{"by an operator", false, false}, {"deaf", true, false}, {"crashed", false, true}, {"deaf and crashed", true,
		true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newSite(t, "chaos: true")
			r.faulty = true
			release, released := make(chan struct{}), make(chan struct{})
			deaf := func(inner run.Func) run.Func {
				return func(ctx context.Context, req runners.Request,
					fire func(string, *payload.Map)) *runners.Result {
					data := payload.M("fun", "runner."+req.Fun, "jid", req.JID, "fun_args", []any{}, "return", "late",
						"success", true)
					if req.Fun != "test.sleep" {
						return inner(ctx, req, fire)
					}
					defer close(released)
					fire(runners.Tag(req.Kind, req.JID)+"/new", data)
					<-release
					fire(runners.Tag(req.Kind, req.JID)+"/ret", data)
					return &runners.Result{Data: data, Return: "late", Success: true}
				}
			}
			if tt.deaf {
				r.runs = deaf
			}
			r.start()
			ear := r.hear()
			jid := r.clear(cmd("runner", "fun", "test.sleep", "kwarg", payload.M("s_time", 600), "key", r.rootKey(),
				"user", userName())).(*payload.Map).Str("jid")
			ear.await("salt/run/" + jid + "/new")
			r.endRunner(jid, tt.crash)
			data := ear.await("salt/run/" + jid + "/ret")
			data.Delete("_stamp")
			want := payload.M("fun", "runner.test.sleep", "jid", jid, "user", userName(), "fun_args",
				[]any{payload.M("s_time", 600)}, "return", "Exception occurred in runner test.sleep: the runner died",
				"success", false, "retcode", 1)
			equal(t, "event", data, want)
			equal(t, "what is looked up at once", r.lookUp(ear, jid), payload.M("testmaster", want))
			if close(release); tt.deaf {
				<-released
			}
			r.eventually("the end of the actor", func() error {
				if _, ok := r.m.Supervisor().Lookup("Runner-" + jid); ok || len(r.m.core.functions.Running()) > 0 {
					return fmt.Errorf("it is there: %t, %v", ok, r.m.core.functions.Running())
				}
				return nil
			})
			r.m.Fire("test/after", payload.NewMap(0))
			for _, tag := range ear.until("test/after") {
				if tag == "salt/run/"+jid+"/ret" {
					t.Error("its end is told twice")
				}
			}
			equal(t, "what is looked up later", r.lookUp(ear, jid), payload.M("testmaster", want))
		})
	}
}

// endRunner ends a runner.
func (r *rig) endRunner(jid string, crash bool) {
	r.t.Helper()
	if !crash {
		if err := r.m.Supervisor().Restart("Runner-" + jid); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	r.harm("Runner-"+jid, supervisor.FaultPanic)
	ref, ok := r.m.Supervisor().Lookup("Runner-" + jid)
	if !ok {
		r.t.Fatal("there is no runner")
	}
	ref.Send(&jobs.CleanDone{}) // any message sets the fault off
}

// lookUp asks the master what a job has returned, as tools do.
func (r *rig) lookUp(ear *busEar, jid string) any {
	r.t.Helper()
	ask := r.clear(cmd("runner", "fun", "jobs.lookup_jid", "kwarg", payload.M("jid", jid), "key", r.rootKey(), "user",
		userName())).(*payload.Map)
	return ear.await(ask.Str("tag") + "/ret").Value("return")
}
