package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/modules"
	"brine/modules/args"
	"brine/modules/execution"
	"brine/modules/keys"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// build puts together what the functions stand on.
func (r *runTool) build() error {
	r.wire, r.bus, r.jobs = r.masterClient(), r.session.bus(), r.jobCache()
	execEnv, err := r.executionEnv()
	if err != nil {
		return err
	}
	manager := r.manager()
	exp := r.expander()
	reg, wheels := modules.NewRegistry(), modules.NewRegistry()
	bus := &runBus{masterBus: r.bus, tool: r}
	err = errors.Join(
		wheel.Register(wheels, wheel.Options{Keys: manager, Events: r.bus, Presence: r.presence()}),
		runners.Register(reg, runners.Options{
			Publisher: runPublisher{r}, Jobs: r.jobs, Data: r.cache(), Keys: manager, Presence: r.presence(), Bus: bus,
			Mine: r.mines(exp, r.cache()), Targets: exp, Running: r.running, Runners: reg, Wheel: wheels, Execution: execEnv,
			Version: saltVersion, Print: func(line string) { fmt.Fprintln(r.stdout, line) },
		}))
	reg.Limit(modules.LimitsOf(r.master.Raw, "runners"))
	wheels.Limit(modules.LimitsOf(r.master.Raw, "wheels"))
	r.env, r.wheel = r.envOf(reg), r.envOf(wheels)
	return err
}

// close gives the connections back, where the process does not end with the tool.
func (r *runTool) close() {
	if err := errors.Join(r.wire.Close(), r.bus.Close()); err != nil {
		r.log.Debug("connections of a run", "err", err)
	}
}

// envOf is the environment of functions on the master.
func (s *session) envOf(reg *modules.Registry) *modules.Env {
	return &modules.Env{Registry: reg, ID: s.master.ID, Opts: func() *payload.Map { return s.master.Raw }}
}

// executionEnv is where execution functions run on the master, for salt.cmd.
func (s *session) executionEnv() (*modules.Env, error) {
	return execution.NewEnv(machineOf(s.master.ID, s.master.Raw))
}

// machineOf is this machine, as the functions of a daemon with these options see it.
func machineOf(id string, opts *payload.Map) execution.Machine {
	return execution.Machine{ID: id, Opts: opts, Version: saltVersion, ZMQVersion: zmq.LibraryVersion()}
}

// manager changes keys the way the configuration of the master wants it.
func (s *session) manager() *keys.Manager {
	o := keys.Configured(s.master)
	o.CheckKey = s.told(o.CheckKey)
	return keys.NewManager(keys.OpenStore(s.master), o)
}

// runPublisher publishes jobs for runner functions.
type runPublisher struct{ *runTool }

// Collect publishes a job and waits for its returns.
func (p runPublisher) Collect(ctx context.Context, job runners.Job) (*runners.Collected, error) {
	kw := job.KW
	if kw == nil {
		kw = payload.NewMap(0)
	}
	run, err := p.wire.Run(ctx, client.Job{Tgt: job.Tgt, TgtType: job.TgtType, Fun: job.Fun, Arg: args.Condition(job.Args, kw),
		Timeout: job.Timeout, GatherJobTimeout: job.Gather})
	var no *refusal
	if err = p.clientError(err); errors.As(err, &no) {
		return nil, &modules.ClientError{Message: no.text}
	}
	if err != nil {
		return nil, err
	}
	out := &runners.Collected{JID: run.JID, Minions: run.Minions, Returns: payload.NewMap(len(run.Minions))}
	if !p.published(run.Published) {
		run.Close()
		return out, nil
	}
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, &modules.ClientError{Message: err.Error()}
		}
		if ret.Silence == client.Answered {
			out.Returns.Set(ret.ID, ret.Data)
		}
	}
	return out, nil
}

// runBus shows the events that a function fires about its own progress.
type runBus struct {
	*masterBus
	tool *runTool
}

// Fire puts an event on the bus; one below the run's tag is shown as well.
func (b *runBus) Fire(ctx context.Context, tag string, data *payload.Map) error {
	suffix, own := strings.CutPrefix(tag, runners.Tag(runners.KindRunner, b.tool.jid)+"/")
	if own && !b.tool.opt.Bool("quiet") {
		if err := b.tool.display(payload.M("suffix", suffix, "event", data), show{}); err != nil {
			return err
		}
	}
	return b.masterBus.Fire(ctx, tag, data)
}
