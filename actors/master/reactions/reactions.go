// Package reactions makes the calls of the Reactor on a master. Reactions owns the Reactor's part (actors/reacting), if
// rules ask for one. It asks package run for runners, jobs and files.
package reactions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/eventbus"
	"brine/actors/master/files"
	"brine/actors/master/jobs"
	"brine/actors/master/machine"
	"brine/actors/master/run"
	"brine/actors/reacting"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/reactor"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
)

// BacklogFile holds, in the cache directory, the events that the Reactor has yet to react to.
const BacklogFile = "reactor.backlog"

// Reactions is what the Reactor stands on: it makes the calls of reactions, as Salt's clients do, and holds the
// Reactor's part where one is configured. Any number of goroutines may use it.
type Reactions struct {
	parts     Parts
	opt       Options
	env       *loader.Env                   // of execution functions
	part      atomic.Pointer[reacting.Part] // nil: there are no rules
	publisher atomic.Pointer[reactionClient]
	log       *slog.Logger
}

// Parts are the parts of the master that reactions act on.
type Parts struct {
	Rules     *atomic.Pointer[access.Rules]
	Events    *eventbus.Bus
	Files     *files.Files
	Functions *run.Functions
	Machine   *machine.Machine
	Jobs      *jobs.Jobs
}

// reactionClient speaks to this master until a time.
type reactionClient struct {
	*client.Client
	until time.Time
}

// Options are what the configuration says of reactions.
type Options struct {
	Refresh time.Duration // reactor_refresh_interval
	Threads int           // reactor_worker_threads
	Queue   int           // reactor_worker_hwm
	Path    string        // of the backlog
	ID      string        // of this master
	always  bool          // there is a Reactor without rules, too: it is among the engines
}

// New returns reactions whose functions find opts as their options. rules are those of the option reactor.
func New(opt Options, rules any, opts *payload.Map, parts Parts, log *slog.Logger) (*Reactions, error) {
	env := *parts.Machine.Env
	env.Opts = func() *payload.Map { return opts }
	r := &Reactions{parts: parts, opt: opt, env: &env, log: log}
	return r, r.start(rules)
}

// Part is the Reactor's part; nil: there are no rules.
func (r *Reactions) Part() *reacting.Part { return r.part.Load() }

// Tune takes the options of the engine reactor, of which those below zero are not given. Times are seconds.
func (o *Options) Tune(refresh, threads, queue int) {
	o.always = true
	if refresh >= 0 {
		o.Refresh = time.Duration(refresh) * time.Second
	}
	if threads >= 0 {
		o.Threads = threads
	}
	if queue >= 0 {
		o.Queue = queue
	}
}

// start makes the Reactor's part, if rules ask for one.
func (r *Reactions) start(rules any) error {
	if !r.opt.always && !reacting.Configured(rules) {
		return nil
	}
	part, err := reacting.New(reacting.Options{Rules: rules, Threads: r.opt.Threads, Queue: r.opt.Queue,
		Path: r.opt.Path, ID: r.opt.ID, Engine: r.Engine, Do: r, Fire: r.parts.Events.Fire,
		Subscribe: r.parts.Events.Hear,
		MasterKey: func(key string) bool { return key != "" && r.parts.Rules.Load().Eauth.MasterKey(key) }, Log: r.log})
	if err == nil {
		r.part.Store(part)
	}
	return err
}

// Reload takes the rules of a new configuration. Where they are the first ones, add starts the Reactor.
func (r *Reactions) Reload(rules any, add func(*reacting.Part) error) {
	if part := r.part.Load(); part != nil {
		part.SetRules(rules)
		return
	}
	err := r.start(rules)
	if err == nil {
		err = add(r.part.Load())
	}
	if err != nil {
		r.log.Error("the Reactor does not start", "err", err)
	}
}

// Halt is called before anything of the master stops.
func (r *Reactions) Halt() {
	if part := r.part.Load(); part != nil {
		part.Halt()
	}
}

// Close closes the backlog, when the actors have ended.
func (r *Reactions) Close() error {
	if part := r.part.Load(); part != nil {
		return part.Close()
	}
	return nil
}

// Engine works out what events mean. With dry, templates call no functions.
func (r *Reactions) Engine(dry bool, log func(level slog.Level, text string, err error)) *reactor.Reactor {
	env := r.env
	return reacting.Templates{Opts: env.Opts(), Grains: env.Grains, Registry: env.Registry, Files: r.find,
		Functions: r.parts.Functions,
		Call: func(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error) {
			return loader.NewCall(ctx, env, fun, payload.M("fun", fun)).Call(fun, pos, kw)
		}}.Engine(dry, log)
}

// find finds a file of the file server.
func (r *Reactions) find(_ context.Context, name string) (string, bool) {
	found, _, ok := r.parts.Files.Server.Load().Find(name, "base")
	return found.Path, ok
}

// NextJID is a new job id.
func (r *Reactions) NextJID() string { return r.parts.Jobs.IDs.Next(time.Now()) }

// Published tells whether there is a job of that id.
func (r *Reactions) Published(jid string) bool { return r.parts.Jobs.Knows(jid) }

// client speaks to this master. It is made anew after reactor_refresh_interval, as Salt's is.
func (r *Reactions) client() *client.Client {
	now := time.Now()
	if c := r.publisher.Load(); c != nil && now.Before(c.until) {
		return c.Client
	}
	c := &reactionClient{r.parts.Functions.Client(), now.Add(r.opt.Refresh)}
	r.publisher.Store(c)
	return c.Client
}

// ofLow are the keys of low data that do not go into a publication.
var ofLow = []string{"state", "name", "__id__", "__sls__", "__env__", "order", "tgt_type", "ret", "jid", "timeout"}

// Publish publishes the job of a reaction. That nobody is meant is no error, as in Salt.
func (r *Reactions) Publish(ctx context.Context, jid string, c reactor.Call) error {
	tgt, tgtType, err := r.aim(c.Tgt, c.More.Str("tgt_type"))
	if err != nil {
		return err
	}
	if own := c.More.Str("jid"); own != "" {
		jid = own
	}
	extra := c.More.Clone()
	for _, key := range ofLow {
		extra.Delete(key)
	}
	_, err = r.client().Publish(ctx, client.Job{Tgt: tgt, TgtType: tgtType, Fun: c.Fun, Arg: args.Condition(c.Args(),
		c.KW()), Ret: c.More.Str("ret"), JID: jid, Kwargs: extra})
	var refused *client.RemoteError
	if errors.As(err, &refused) && strings.HasPrefix(refused.Message, "Master could not resolve minions for target") {
		return nil
	}
	return err
}

// aim writes node groups out, as Salt's client does.
func (r *Reactions) aim(tgt any, tgtType string) (any, string, error) {
	groups := r.parts.Rules.Load().Nodegroups
	switch tgtType {
	case "nodegroup":
		words, err := matchers.Nodegroup(python.Str(tgt), groups)
		return strings.Join(words, " "), "compound", err
	case "compound":
		var words []string
		for _, word := range strings.Fields(python.Str(tgt)) {
			name, isGroup := strings.CutPrefix(word, "N@")
			if !isGroup || name == "" {
				words = append(words, word)
				continue
			}
			more, err := matchers.Nodegroup(name, groups)
			if err != nil {
				return nil, "", err
			}
			words = append(words, more...)
		}
		return strings.Join(words, " "), tgtType, nil
	}
	return tgt, tgtType, nil
}

// Run starts a runner or wheel function of the master, as one of the Reactor's. It has ended when what it returned is
// stored, so that reactions come no faster than the store can take.
func (r *Reactions) Run(jid string, c reactor.Call, done func(error)) error {
	return r.parts.Functions.Start(&run.RunRunner{
		Req: runners.Request{Kind: runners.Kind(c.Kind), Fun: c.Fun, Args: c.Args(), KW: c.KW(), JID: jid,
			User: reactor.User},
		Done: func(rec *payload.Map, err error) {
			r.parts.Jobs.Send(&jobs.AwaitJobs{Done: func() { done(errors.Join(err, wentWrong(rec.Value("return")))) }})
		}})
}

// wentWrong finds the words in which a run tells of an exception.
func wentWrong(v any) error {
	text, ok := v.(string)
	if !ok || !strings.HasPrefix(text, "Exception occurred in ") && !strings.HasPrefix(text,
		"\nPassed invalid arguments: ") {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if strings.HasPrefix(text, "\n") {
		return errors.New(lines[0])
	}
	return errors.New(lines[len(lines)-1])
}

// Execute calls an execution function on the machine of the master.
func (r *Reactions) Execute(ctx context.Context, c reactor.Call) (err error) {
	defer func() {
		if p := recover(); p != nil { // a function must not take the pool down
			err = fmt.Errorf("%s: %v", c.Fun, p)
		}
	}()
	env := r.env
	_, err = loader.NewCall(ctx, env, c.Fun, payload.M("fun", c.Fun)).Call(c.Fun, c.Args(), c.KW())
	return err
}

// Show tells an operator about the Reactor.
func (r *Reactions) Show() control.Reactor {
	if part := r.part.Load(); part != nil {
		return part.Show()
	}
	return control.Reactor{}
}

// Try tells what an event would set off. Nothing is run.
func (r *Reactions) Try(ctx context.Context, tag string, data *payload.Map) (control.ReactorTrial, error) {
	part := r.part.Load()
	if part == nil {
		return control.ReactorTrial{}, errors.New("there is no Reactor: the option reactor names no rules")
	}
	return part.Try(ctx, tag, data), nil
}
