// Package saltrun is the tool salt-run. A minion's functions also use it when a master runs on the same host.
// It answers to salt/cli/run.py and salt/runner.py.
package saltrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/wire/client"
	"brine/wire/payload"
)

// runTool is one run of salt-run.
type runTool struct {
	*session.Session
	wire  *client.Client
	bus   *masterlink.Bus
	jobs  jobCache
	env   *loader.Env
	wheel *loader.Env // of the wheel functions
	fun   string
	words []any // typed arguments of the function; a map at the end holds keywords
	jid   string
}

// Run is the tool salt-run: it runs a function of the master, in this process.
func Run(c *tool.Call) error {
	s, err := session.Open(c, runParser(c), session.Opening{Role: session.RoleClient, Check: checkRunWords})
	if err != nil {
		return err
	}
	s.TellCall()
	r := &runTool{Session: s, jid: s.Opt.Str("jid")}
	if len(s.Opt.Args) > 0 {
		r.fun, r.words = s.Opt.Args[0], args.Parse(s.Opt.Args[1:], s.NoParse())
	}
	if r.jid == "" {
		r.jid = payload.NewUniqueJID(time.Now(), s.Master.UniqueJID)
	}
	r.build()
	if s.Opt.Bool("doc") {
		return r.printDocs()
	}
	if ok, err := s.BecomeUser(s.Master.User); !ok {
		return err
	}
	return r.run(context.Background())
}

// runParser declares the options of salt-run.
func runParser(c *tool.Call) *optparse.Parser {
	p := options.NewParser(c, "%prog [options] <function> [arguments]",
		"salt-run is the frontend command for executing Salt Runners. Salt Runners are modules used to execute "+
			"convenience functions on the Salt Master")
	options.AddConfigDir(p)
	options.AddHardCrash(p)
	options.AddNoParse(p)
	options.AddArgsStdin(p)
	options.AddTimeout(p, 1)
	options.AddJID(p)
	p.Add(
		options.FlagOption("doc", "Show the help of a function, of a module, or of all functions.", "-d", "--doc",
			"--documentation"),
		options.FlagOption("async", "Start the function and do not wait for its end.", "--async"),
		options.FlagOption("skip_grains", "Accepted for Salt's sake, without effect: grains are read when something "+
			"needs them.", "--skip-grains"))
	options.AddEauth(p, true)
	options.AddOutput(p, false)
	p.Group("Output Options", "", options.FlagOption("quiet", "Do not show the result.", "--quiet"))
	options.AddProfiling(p)
	options.AddLogging(p, true, "log_file", "/var/log/salt/master")
	return p
}

// checkRunWords refuses command lines that Salt refuses before it touches a file.
func checkRunWords(s *session.Session) error {
	if jid, ok := s.Opt.Get("jid").(string); ok && !payload.IsJID(jid) {
		return s.Parser.Errorf("'%s' is not a valid JID", jid)
	}
	if s.Opt.Bool("doc") && len(s.Opt.Args) > 1 {
		return s.Parser.Errorf("You can only get documentation for one method at one time")
	}
	return nil
}

// printDocs shows the help texts of all functions, of a module, or of one function.
func (r *runTool) printDocs() error {
	docs := r.env.Registry.Docs(r.Opt.Args...)
	for name, doc := range docs.All() {
		fmt.Fprintf(r.Stdout, "%s:\n%s\n", name, doc)
	}
	return nil
}

// run runs the function on the master, in a separate process or here, as the options say.
func (r *runTool) run(ctx context.Context) error {
	f, pos, kw, err := r.bind()
	if err != nil {
		return r.refuse(ctx, err)
	}
	switch {
	case r.Opt.Str("eauth") != "":
		return r.runOnMaster(ctx, pos, kw)
	case r.Opt.Bool("async"):
		return r.detach()
	}
	if r.Master.ShowJID {
		fmt.Fprintln(r.Stdout, "jid: "+r.jid)
	}
	return r.runHere(ctx, runners.Request{Kind: runners.KindRunner, Fun: f.Name, Args: pos, KW: kw, JID: r.jid,
		User: session.LoginName()})
}

// bind finds the function and binds its arguments.
func (r *runTool) bind() (*loader.Func, []any, *payload.Map, error) {
	if r.fun == "" {
		return nil, nil, nil, loader.InvocErr("Must specify a function to run!\nex: manage.up")
	}
	f, ok := r.env.Registry.Lookup(r.fun)
	if !ok {
		return nil, nil, nil, loader.ExecErr("%s", r.env.Registry.MissingText(r.fun))
	}
	pos, kw, err := loader.LoadArgs(f, r.words, nil)
	return f, pos, kw, err
}

// refuse answers a call that cannot be made. The answer is the help of the functions whose name begins like the
// given one, or the reason why.
func (r *runTool) refuse(ctx context.Context, why error) error {
	r.fire(ctx, runners.Tag(runners.KindRunner, r.jid)+"/ret", payload.M("success", false, "return", why.Error(),
		"retcode", 254, "fun", r.fun, "fun_args", r.words, "jid", r.jid))
	if r.Opt.Bool("quiet") {
		return nil
	}
	if docs := r.env.Registry.Docs(r.fun + "*"); docs.Len() > 0 {
		return display.Show(r.Session, docs, display.How{Out: "nested"})
	}
	return display.Show(r.Session, why.Error(), display.How{Out: "nested"})
}

// fire puts an event on the master's bus. The run goes on even without a master.
func (r *runTool) fire(ctx context.Context, tag string, data *payload.Map) {
	if err := r.bus.Fire(ctx, tag, data); err != nil {
		r.Log.Debug("event not sent", "tag", tag, "err", err)
	}
}

// runHere runs the function in this process, fires its events and stores it in the job cache.
func (r *runTool) runHere(ctx context.Context, req runners.Request) error {
	forget, err := r.note(req)
	if err != nil {
		r.Log.Debug("run not noted", "jid", req.JID, "err", err)
	}
	defer forget()
	res := runners.Run(ctx, r.env, req, func(tag string, data *payload.Map) {
		if strings.HasSuffix(tag, "/ret") {
			r.keep(ctx, data)
		}
		r.fire(ctx, tag, data)
	})
	r.Log.Info("Runner completed: " + req.JID)
	data, outputter, code := res.Outputter()
	if !r.Opt.Bool("quiet") {
		if err := display.Show(r.Session, data, display.How{Out: outputter}); err != nil {
			return err
		}
	}
	if code != 0 {
		return tool.Exit(code, "")
	}
	return nil
}

// keep stores the run in the job cache (runner_returns).
func (r *runTool) keep(ctx context.Context, data *payload.Map) {
	if !r.Master.RunnerReturns || !r.Master.JobCache || r.Master.ExtJobCache != "" {
		return
	}
	id := r.Master.ID
	load := payload.M("id", id, "tgt", id, "jid", r.jid, "return", data)
	payload.NewReturn(data).Pass(load, payload.FieldFun, payload.FieldUser)
	err := r.jobs.keep(ctx, r.jid, id, load)
	var large *tooLargeToKeep
	switch {
	case errors.As(err, &large):
		r.Log.Warn(large.Error())
	case err != nil:
		r.Log.Error("Could not store job cache info. Job details for this run may be unavailable.")
		r.Log.Debug("run not stored", "jid", r.jid, "err", err)
	}
}

// runnerPatience bounds the time that salt-run waits for a runner on the master (rest_timeout).
const runnerPatience = 300 * time.Second

// runOnMaster asks the master to run the function, by external authentication.
func (r *runTool) runOnMaster(ctx context.Context, pos []any, kw *payload.Map) error {
	cred, err := masterlink.JobCredentials(ctx, r.Session, r.wire)
	if errors.Is(err, masterlink.ErrNoAuth) {
		r.Log.Error("Authentication failed")
		return nil
	}
	if err != nil {
		return err
	}
	cred.Delete("key") // the client adds it itself
	ask := client.Call{Fun: r.fun, Arg: pos, KWArg: kw, Credentials: cred}
	if r.Opt.Bool("async") {
		started, err := r.wire.Runner(ctx, ask)
		if err == nil {
			r.sayAsync(started.Tag)
		}
		return r.answer(err)
	}
	ctx, cancel := context.WithTimeout(ctx, runnerPatience)
	defer cancel()
	started, ret, err := r.wire.RunRunner(ctx, ask)
	if errors.Is(err, context.DeadlineExceeded) && started.JID != "" {
		return masterlink.PlainText(r.Session, fmt.Sprintf("RunnerClient job '%s' timed out", started.JID))
	}
	if err != nil {
		return r.answer(err)
	}
	value, outputter, code := (&runners.Result{Data: payload.NewMap(0), Return: ret.Value()}).Outputter()
	if err := display.Show(r.Session, value, display.How{Out: outputter}); err != nil {
		return err
	}
	if code != 0 {
		return tool.Exit(code, "")
	}
	return nil
}

// answer shows why the master did not run the function.
func (r *runTool) answer(err error) error {
	var no *masterlink.Refusal
	if err = masterlink.ClientError(r.Session, err); errors.As(err, &no) {
		return masterlink.PlainText(r.Session, no.Text)
	}
	return err
}
