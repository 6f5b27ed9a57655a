package saltrun

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/execution"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/modules/wheel"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// build makes the parts that the functions use.
func (r *runTool) build() {
	r.wire, r.bus, r.jobs = masterlink.NewClient(r.Session), masterlink.NewBus(r.Session), newJobCache(r.Session)
	execEnv := executionEnv(r.Session)
	caches := jobCaches(r.Session, r.jobs, execEnv)
	manager := manager(r.Session)
	exp, cache := masterlink.Expander(r.Session), masterlink.Cache(r.Session)
	reg, wheels := loader.NewRegistry(), loader.NewRegistry()
	bus := &runBus{Bus: r.bus, tool: r}
	wheels.Lacks(absent.Of(absent.Wheel))
	wheels.Offer(all.Wheel(wheel.Options{Keys: manager, Events: r.bus, Presence: masterlink.NewPresence(r.Session)}))
	reg.Lacks(absent.Of(absent.Runner))
	reg.Offer(all.Runners(runners.Options{
		Publisher: runPublisher{r}, Jobs: r.jobs, JobCaches: caches, Minions: cache, Banks: cache, Keys: manager,
		Presence: masterlink.NewPresence(r.Session), Bus: bus, Mine: newMines(r.Session, exp, cache),
		Files: &masterFiles{session: r.Session}, Pillar: &masterPillar{r.Session, execEnv, exp}, Targets: exp,
		Running: r.running, Runners: reg, Wheel: wheels, Execution: execEnv,
		Reactor: func() (runners.Reactor, bool) { return masterReactor{r.Session}, reactorConfigured(r.Session) },
		Token:   func(fields *payload.Map) (*payload.Map, error) { return r.makeToken(fields) },
		Version: tool.SaltVersion, Print: func(line string) { fmt.Fprintln(r.Stdout, line) },
	}))
	reg.Limit(loader.LimitsOf(r.Master.Raw, "runners"))
	wheels.Limit(loader.LimitsOf(r.Master.Raw, "wheels"))
	r.env, r.wheel = envOf(r.Session, reg), envOf(r.Session, wheels)
	own := r.client()
	execEnv.Host.Runner, execEnv.Host.Wheel, execEnv.Host.Local = own, own, own
}

// close closes the connections, for uses in which the process does not end with the tool.
func (r *runTool) close() {
	if err := errors.Join(r.wire.Close(), r.bus.Close()); err != nil {
		r.Log.Debug("connections of a run", "err", err)
	}
}

// envOf returns the environment for functions on the master.
func envOf(s *session.Session, reg *loader.Registry) *loader.Env {
	return &loader.Env{Registry: reg, ID: s.Master.ID, Opts: func() *payload.Map { return s.Master.Raw }}
}

// executionEnv returns the environment in which salt.cmd runs execution functions on the master.
func executionEnv(s *session.Session) *loader.Env {
	return execution.NewEnv(MachineOf(s.Master.ID, s.Master.Raw))
}

// MachineOf returns this machine as the functions of a daemon with these options see it.
func MachineOf(id string, opts *payload.Map) execution.Machine {
	return execution.Machine{ID: id, Opts: opts, Version: tool.SaltVersion, ZMQVersion: zmq.LibraryVersion()}
}

// manager returns a key manager that follows the configuration of the master.
func manager(s *session.Session) *keys.Manager {
	o := keys.Configured(s.Master)
	o.CheckKey = masterlink.ToldKeyCheck(s, o.CheckKey)
	return keys.NewManager(keys.OpenStore(s.Master), o)
}

// runPublisher publishes jobs for runner functions.
type runPublisher struct{ *runTool }

// Collect publishes a job and waits for its returns.
func (p runPublisher) Collect(ctx context.Context, job runners.Job) (*runners.Collected, error) {
	kw := job.KW
	if kw == nil {
		kw = payload.NewMap(0)
	}
	run, err := p.wire.Run(ctx, client.Job{Tgt: job.Tgt, TgtType: job.TgtType, Fun: job.Fun, Ret: job.Ret,
		Arg: args.Condition(job.Args, kw), Timeout: job.Timeout, GatherJobTimeout: job.Gather})
	var no *masterlink.Refusal
	if err = masterlink.ClientError(p.Session, err); errors.As(err, &no) {
		return nil, &loader.ClientError{Message: no.Text}
	}
	if err != nil {
		return nil, err
	}
	out := &runners.Collected{JID: run.JID, Minions: run.Minions, Returns: payload.NewMap(len(run.Minions))}
	if !masterlink.Published(p.Session, run.Published) {
		run.Close()
		return out, nil
	}
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, &loader.ClientError{Message: err.Error()}
		}
		if ret.Silence == client.Answered {
			out.Returns.Set(ret.ID, ret.Data.Map())
		}
	}
	return out, nil
}

// runBus shows the events that a function fires about its own progress.
type runBus struct {
	*masterlink.Bus
	tool *runTool
}

// Fire puts an event on the bus. It also shows an event whose tag is below that of the run.
func (b *runBus) Fire(ctx context.Context, tag string, data *payload.Map) error {
	suffix, own := strings.CutPrefix(tag, runners.Tag(runners.KindRunner, b.tool.jid)+"/")
	if own && !b.tool.Opt.Bool("quiet") {
		if err := display.Show(b.tool.Session, payload.M("suffix", suffix, "event", data), display.How{}); err != nil {
			return err
		}
	}
	return b.Bus.Fire(ctx, tag, data)
}

// makeToken asks the master for an eauth token. It is {} for an unknown user.
func (r *runTool) makeToken(fields *payload.Map) (*payload.Map, error) {
	tok, err := r.wire.MkToken(context.Background(), fields)
	if errors.Is(err, client.ErrAuthentication) {
		return payload.NewMap(0), nil
	}
	return tok, err
}
