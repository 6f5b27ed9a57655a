// Package staterun makes actors of a run of states. StateRun is a child of the job's actor: it asks the run what comes
// next (modules/states/run/work), makes the calls, and shows in the tree which state runs now. A state that runs beside
// others (parallel) is an actor of its own below it. The package decides no order and calls no state function itself.
// It may ask the supervisor of the job and the run that it is given, nothing else of the minion.
package staterun

import (
	"context"
	"errors"
	"fmt"

	"brine/modules/states/run/low"
	"brine/modules/states/run/steps"
	"brine/modules/states/run/work"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of a StateRun.
type (
	// callEnded is what a call came to.
	callEnded struct{ ended steps.Ended }
	// callStopped says that somebody ended the run before a call (soft_kill).
	callStopped struct{ call *steps.Call }
	// callRefused says that a call may not be made.
	callRefused struct{ err error }
)

// name is that of the actor below its job.
const name = "StateRun"

// Driver drives runs of one job (work.Driver).
type Driver struct {
	tree  *supervisor.Supervisor
	doing func(what string)
}

// New makes the driver of a job whose children belong to tree. doing hears what a run does now: "3 of 40: cmd.run x".
func New(tree *supervisor.Supervisor, doing func(what string)) *Driver { return &Driver{tree, doing} }

// answer is what Drive waits for.
type answer struct{ err error }

// Drive adds the actor, and waits until the run is over or ctx ends. With an error the returns are those so far.
func (d *Driver) Drive(ctx context.Context, w *work.Work) (*payload.Map, error) {
	done := make(chan answer, 1)
	_, err := d.tree.Add(supervisor.Spec{Name: name, WorkerTimeout: -1, New: func() supervisor.Actor {
		return &stateRun{run: ctx, work: w, doing: d.doing, done: done}
	}})
	if errors.Is(err, supervisor.ErrNameTaken) {
		return w.Drive(ctx) // a state that runs states: its run is seen as a part of the outer one
	}
	if err != nil {
		return w.Answer(), err
	}
	defer d.tree.Done(name)
	select {
	case a := <-done:
		return w.Answer(), a.err
	case <-ctx.Done():
		return w.Answer(), work.ErrEnded
	}
}

// stateRun is the actor of a run. It never carries a run on that an earlier incarnation has begun: nobody knows what of
// a call was done.
type stateRun struct {
	run   context.Context // of the job's function
	work  *work.Work
	doing func(what string)
	done  chan<- answer

	self   *supervisor.Ref
	beside *supervisor.Supervisor // of chunks that run beside others
}

func (s *stateRun) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *callEnded:
		s.onCallEnded(ctx, m)
	case *callStopped:
		s.onCallStopped(ctx, m)
	case *callRefused:
		s.finish(m.err)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *stateRun) onStarted(ctx supervisor.Context) {
	if supervisor.Incarnation(ctx) > 1 {
		s.finish(errors.New("the actor of the run died"))
		return
	}
	s.self, s.beside = supervisor.Self(ctx), supervisor.Nest(ctx, supervisor.Options{})
	s.next(ctx, steps.Began{})
}

// onCallEnded goes on. What an earlier incarnation has asked for means nothing any more.
func (s *stateRun) onCallEnded(ctx supervisor.Context, m *callEnded) {
	if s.self != nil {
		s.next(ctx, m.ended)
	}
}

func (s *stateRun) onCallStopped(ctx supervisor.Context, m *callStopped) {
	if s.self != nil {
		s.work.Drop(m.call)
		s.next(ctx, steps.Stopped{})
	}
}

// finish tells Drive; of two ends the first counts.
func (s *stateRun) finish(err error) {
	select {
	case s.done <- answer{err}:
	default:
	}
}

// next takes an event, and makes the calls that follow.
func (s *stateRun) next(ctx supervisor.Context, event any) {
	calls, over := s.work.Next(event)
	for _, call := range calls {
		if call.Beside {
			s.startBeside(call)
			continue
		}
		what := s.described(call)
		supervisor.Note(ctx, what)
		s.doing(what)
		supervisor.Go(ctx, "state", func(life context.Context) error {
			s.perform(life, call)
			return nil
		})
	}
	if over {
		s.finish(nil)
	}
}

// described shows what a run does now: "3 of 40: file.managed motd".
func (s *stateRun) described(call *steps.Call) string {
	done, all := s.work.Progress()
	what := shown(call)
	if call.Test {
		what += " (test for prereq)"
	}
	return fmt.Sprintf("%d of %d: %s", min(done+1, all), all, what)
}

// shown names a call: function and ID.
func shown(call *steps.Call) string {
	return fmt.Sprintf("%s.%v %v", call.Chunk.Str("state"), call.Chunk.Value("fun"), call.Chunk.Value("__id__"))
}

// perform makes a call, and tells the actor.
func (s *stateRun) perform(life context.Context, call *steps.Call) {
	ctx := joined{life, s.run} // Drive ends the actor when the job's context ends
	stop, err := s.work.Begin(ctx, call)
	switch {
	case err != nil:
		s.self.Send(&callRefused{err})
	case ctx.Err() != nil:
		s.self.Send(&callRefused{work.ErrEnded})
	case stop:
		s.self.Send(&callStopped{call})
	default:
		s.self.Send(&callEnded{s.work.Perform(ctx, call)})
	}
}

// joined ends with one context, and has the values of another.
type joined struct {
	context.Context
	values context.Context
}

// Value is that of the other context.
func (j joined) Value(key any) any { return j.values.Value(key) }

// startBeside adds the actor of a chunk that runs beside others.
func (s *stateRun) startBeside(call *steps.Call) {
	own := fmt.Sprintf("State-%d", call.ID)
	_, err := s.beside.Add(supervisor.Spec{Name: own, WorkerTimeout: -1, New: func() supervisor.Actor {
		return &chunk{run: s, call: call, over: func() { s.beside.Done(own) }}
	}})
	if err != nil {
		s.self.Send(&callRefused{err})
	}
}

// chunk is the actor of a state that runs beside others. It is called once; another incarnation tells of the death.
type chunk struct {
	run  *stateRun
	call *steps.Call
	over func()
}

func (c *chunk) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		c.onStarted(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (c *chunk) onStarted(ctx supervisor.Context) {
	supervisor.Note(ctx, shown(c.call))
	if supervisor.Incarnation(ctx) > 1 {
		c.run.self.Send(&callEnded{steps.Ended{Call: c.call.ID, Ret: payload.M("name", c.call.Chunk.Value("name"),
			"changes", payload.NewMap(0), "result", false, "comment", "The actor of the state "+low.Tag(c.call.Chunk)+
				" died")}})
		c.over()
		return
	}
	supervisor.Go(ctx, "state", func(life context.Context) error {
		c.run.perform(life, c.call)
		c.over()
		return nil
	})
}
