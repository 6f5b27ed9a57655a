package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"brine/actors/master/jobs"
	"brine/actors/master/run"
	"brine/actors/reacting"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/reactor"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/modules/text/pytext"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/payload"
)

// backlogFile holds, in the cache directory, the events that the Reactor has yet to react to.
const backlogFile = "reactor.backlog"

// reactions is what the Reactor stands on: it makes the calls of reactions, as Salt's clients do, and holds the
// Reactor's part where one is configured. Any number of goroutines may use it.
type reactions struct {
	run.Inside
	opt       reactionOptions
	functions *run.Functions
	env       *loader.Env // of execution functions
	jobs      *jobs.Jobs
	part      atomic.Pointer[reacting.Part] // nil: there are no rules
	publisher atomic.Pointer[reactionClient]
}

// reactionClient speaks to this master until a time.
type reactionClient struct {
	*client.Client
	until time.Time
}

// reactionOptions are what the configuration says of reactions.
type reactionOptions struct {
	refresh time.Duration // reactor_refresh_interval
	threads int           // reactor_worker_threads
	queue   int           // reactor_worker_hwm
	path    string        // of the backlog
	id      string        // of this master
	always  bool          // there is a Reactor without rules, too: it is among the engines
}

// newReactions returns reactions whose functions find opts as their options. rules are those of the option reactor.
func newReactions(opt reactionOptions, rules any, opts *payload.Map, in run.Inside, functions *run.Functions,
	jobs *jobs.Jobs) (*reactions, error) {
	env := *functions.Machine.Env
	env.Opts = func() *payload.Map { return opts }
	r := &reactions{Inside: in, opt: opt, functions: functions, env: &env, jobs: jobs}
	return r, r.start(rules)
}

// tune takes the options of the engine reactor, of which those below zero are not given. Times are seconds.
func (o *reactionOptions) tune(refresh, threads, queue int) {
	o.always = true
	if refresh >= 0 {
		o.refresh = time.Duration(refresh) * time.Second
	}
	if threads >= 0 {
		o.threads = threads
	}
	if queue >= 0 {
		o.queue = queue
	}
}

// start makes the Reactor's part, if rules ask for one.
func (r *reactions) start(rules any) error {
	if !r.opt.always && !reacting.Configured(rules) {
		return nil
	}
	part, err := reacting.New(reacting.Options{Rules: rules, Threads: r.opt.threads, Queue: r.opt.queue,
		Path: r.opt.path, ID: r.opt.id, Engine: r.engine, Do: r, Fire: r.Events.Fire,
		Subscribe: r.Events.Hear,
		MasterKey: func(key string) bool { return key != "" && r.Rules.Load().Eauth.MasterKey(key) }, Log: r.Log})
	if err == nil {
		r.part.Store(part)
	}
	return err
}

// reload takes the rules of a new configuration. Where they are the first ones, add starts the Reactor.
func (r *reactions) reload(rules any, add func(*reacting.Part) error) {
	if part := r.part.Load(); part != nil {
		part.SetRules(rules)
		return
	}
	err := r.start(rules)
	if err == nil {
		err = add(r.part.Load())
	}
	if err != nil {
		r.Log.Error("the Reactor does not start", "err", err)
	}
}

// halt is called before anything of the master stops.
func (r *reactions) halt() {
	if part := r.part.Load(); part != nil {
		part.Halt()
	}
}

func (r *reactions) close() error {
	if part := r.part.Load(); part != nil {
		return part.Close()
	}
	return nil
}

// engine works out what events mean. With dry, templates call no functions.
func (r *reactions) engine(dry bool, log func(level slog.Level, text string, err error)) *reactor.Reactor {
	env := r.env
	return reacting.Templates{Opts: env.Opts(), Grains: env.Grains, Registry: env.Registry, Files: r.find,
		Functions: r.functions,
		Call: func(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error) {
			return loader.NewCall(ctx, env, fun, payload.M("fun", fun)).Call(fun, pos, kw)
		}}.Engine(dry, log)
}

// find finds a file of the file server.
func (r *reactions) find(_ context.Context, name string) (string, bool) {
	found, _, ok := r.Files.Server.Load().Find(name, "base")
	return found.Path, ok
}

// NextJID is a new job id.
func (r *reactions) NextJID() string { return r.jobs.IDs.Next(time.Now()) }

// Published tells whether there is a job of that id.
func (r *reactions) Published(jid string) bool { return r.jobs.Knows(jid) }

// client speaks to this master. It is made anew after reactor_refresh_interval, as Salt's is.
func (r *reactions) client() *client.Client {
	now := time.Now()
	if c := r.publisher.Load(); c != nil && now.Before(c.until) {
		return c.Client
	}
	c := &reactionClient{r.Inside.Client(), now.Add(r.opt.refresh)}
	r.publisher.Store(c)
	return c.Client
}

// ofLow are the keys of low data that do not go into a publication.
var ofLow = []string{"state", "name", "__id__", "__sls__", "__env__", "order", "tgt_type", "ret", "jid", "timeout"}

// Publish publishes the job of a reaction. That nobody is meant is no error, as in Salt.
func (r *reactions) Publish(ctx context.Context, jid string, c reactor.Call) error {
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
func (r *reactions) aim(tgt any, tgtType string) (any, string, error) {
	groups := r.Rules.Load().Nodegroups
	switch tgtType {
	case "nodegroup":
		words, err := matchers.Nodegroup(pytext.Str(tgt), groups)
		return strings.Join(words, " "), "compound", err
	case "compound":
		var words []string
		for _, word := range strings.Fields(pytext.Str(tgt)) {
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
func (r *reactions) Run(jid string, c reactor.Call, done func(error)) error {
	return r.functions.Start(&run.RunRunner{
		Req: runners.Request{Kind: runners.Kind(c.Kind), Fun: c.Fun, Args: c.Args(), KW: c.KW(), JID: jid,
			User: reactor.User},
		Done: func(rec *payload.Map, err error) {
			r.jobs.Send(&jobs.AwaitJobs{Done: func() { done(errors.Join(err, wentWrong(rec.Value("return")))) }})
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
func (r *reactions) Execute(ctx context.Context, c reactor.Call) (err error) {
	defer func() {
		if p := recover(); p != nil { // a function must not take the pool down
			err = fmt.Errorf("%s: %v", c.Fun, p)
		}
	}()
	env := r.env
	_, err = loader.NewCall(ctx, env, c.Fun, payload.M("fun", c.Fun)).Call(c.Fun, c.Args(), c.KW())
	return err
}

// show tells an operator about the Reactor.
func (r *reactions) show() control.Reactor {
	if part := r.part.Load(); part != nil {
		return part.Show()
	}
	return control.Reactor{}
}

// try tells what an event would set off. Nothing is run.
func (r *reactions) try(ctx context.Context, tag string, data *payload.Map) (control.ReactorTrial, error) {
	part := r.part.Load()
	if part == nil {
		return control.ReactorTrial{}, errors.New("there is no Reactor: the option reactor names no rules")
	}
	return part.Try(ctx, tag, data), nil
}
