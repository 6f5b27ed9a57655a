package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"brine/actors/reacting"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/reactor"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/wire/bus"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
)

// backlogFile holds, in the cache directory, the events that the Reactor has yet to react to.
const backlogFile = "reactor.backlog"

// reactions is what the Reactor stands on: it makes the calls of reactions, as Salt's clients do, and holds the
// Reactor's part where one is configured. Any number of goroutines may use it.
type reactions struct {
	inside
	opt       reactionOptions
	functions *ownFunctions
	env       *loader.Env // of execution functions
	jobs      *jobs
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

// newReactions returns reactions whose functions find opts as their options.
func newReactions(opt reactionOptions, opts *payload.Map, in inside, functions *ownFunctions, jobs *jobs) *reactions {
	env := *functions.onMaster
	env.Opts = func() *payload.Map { return opts }
	return &reactions{inside: in, opt: opt, functions: functions, env: &env, jobs: jobs}
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
		Path: r.opt.path, ID: r.opt.id, Engine: r.engine, Do: r, Fire: r.events.fire,
		Subscribe: func(name string, sink bus.Sink) { r.events.ref.Send(&Subscribe{Name: name, Sink: sink}) },
		MasterKey: func(key string) bool { return key != "" && r.rules.Load().eauth.MasterKey(key) }, Log: r.log})
	if err == nil {
		r.part.Store(part)
	}
	return err
}

// rows are the Reactor as children of the master.
func (r *reactions) rows() []child {
	part := r.part.Load()
	if part == nil {
		return nil
	}
	return []child{{nil, part.Keeper()}, {nil, part.Child()}}
}

// reload takes the rules of a new configuration. Where they are the first ones, the Reactor starts.
func (r *reactions) reload(rules any, add func([]child) error) {
	if part := r.part.Load(); part != nil {
		part.SetRules(rules)
		return
	}
	err := r.start(rules)
	if err == nil {
		err = add(r.rows())
	}
	if err != nil {
		r.log.Error("the Reactor does not start", "err", err)
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
	found, _, ok := r.files.server.Load().Find(name, "base")
	return found.Path, ok
}

// NextJID is a new job id.
func (r *reactions) NextJID() string { return r.jobs.ids.Next(time.Now()) }

// Published tells whether there is a job of that id.
func (r *reactions) Published(jid string) bool { return r.jobs.knows(jid) }

// client speaks to this master. It is made anew after reactor_refresh_interval, as Salt's is.
func (r *reactions) client() *client.Client {
	now := time.Now()
	if c := r.publisher.Load(); c != nil && now.Before(c.until) {
		return c.Client
	}
	c := &reactionClient{r.inside.client(), now.Add(r.opt.refresh)}
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
	groups := r.rules.Load().nodegroups
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
func (r *reactions) Run(jid string, c reactor.Call, done func(error)) error {
	return r.functions.start(&RunRunner{
		Req: runners.Request{Kind: runners.Kind(c.Kind), Fun: c.Fun, Args: c.Args(), KW: c.KW(), JID: jid,
			User: reactor.User},
		Done: func(rec *payload.Map, err error) {
			r.jobs.writer.Send(&AwaitJobs{Done: func() { done(errors.Join(err, wentWrong(rec.Value("return")))) }})
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

// Reactor tells an operator about the Reactor.
func (m *Master) Reactor() control.Reactor {
	if part := m.core.reactions.part.Load(); part != nil {
		return part.Show()
	}
	return control.Reactor{}
}

// TryReactor tells what an event would set off. Nothing is run.
func (m *Master) TryReactor(ctx context.Context, tag string, data *payload.Map) (control.ReactorTrial, error) {
	part := m.core.reactions.part.Load()
	if part == nil {
		return control.ReactorTrial{}, errors.New("there is no Reactor: the option reactor names no rules")
	}
	return part.Try(ctx, tag, data), nil
}

// addChildren starts further children of a running master.
func (m *Master) addChildren(rows []child) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return m.add(ctx, rows)
}
