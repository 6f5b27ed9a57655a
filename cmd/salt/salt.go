// Package salt is the tool salt: it runs functions on minions, also in batches, and shows their returns. It
// answers to salt/cli/salt.py, salt/cli/batch.py and salt/client/__init__.py.
package salt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/text/args"
	"brine/wire/client"
	"brine/wire/payload"
)

// saltTool is one run of salt.
type saltTool struct {
	*session.Session
	cmd   *saltCommand
	wire  *client.Client
	began time.Time

	untold bool // the user has read that the master does not tell why minions are silent
}

// Run is the tool salt: it publishes a job and shows what the minions return.
func Run(c *tool.Call) error {
	began := time.Now()
	var cmd *saltCommand
	s, err := session.Open(c, saltParser(c), session.Opening{Role: session.RoleClient,
		Check: func(s *session.Session) (err error) {
			cmd, err = readCommand(s)
			return err
		}})
	if err != nil {
		return err
	}
	t := &saltTool{Session: s, cmd: cmd, wire: masterlink.NewClient(s), began: began}
	err = t.run(context.Background())
	if errors.Is(err, masterlink.ErrNoAuth) {
		return tool.Exit(tool.ExitNoReturn, "ERROR: Authentication failed")
	}
	return err
}

func (t *saltTool) run(ctx context.Context) error {
	switch {
	case t.Opt.Bool("batch") || t.Opt.Bool("static"):
		return t.runBatch(ctx)
	case t.Opt.Bool("preview_target"):
		return t.preview()
	}
	if limit := t.Opt.Int("batch_safe_limit"); limit > 1 {
		ids, err := t.expand()
		if err != nil {
			return err
		}
		if len(ids) >= limit {
			fmt.Fprintln(t.Stdout, "\nNOTICE: Too many minions targeted, switching to batch execution.")
			t.Opt.Default("batch", t.Opt.Get("batch_safe_size"))
			return t.runBatch(ctx)
		}
	}
	if t.Opt.Bool("async") {
		return t.start(ctx)
	}
	err := t.follow(ctx)
	var no *masterlink.Refusal
	switch {
	case errors.As(err, &no) && t.cmd.doc:
		return tool.Exit(tool.ExitNoReturn, "%s", no.Text)
	case errors.As(err, &no):
		return masterlink.PlainText(t.Session, no.Text)
	}
	return err
}

// timeout is the value of -t if it is above 0, otherwise that of the configuration.
func (t *saltTool) timeout() time.Duration {
	if n := t.Opt.Int("timeout"); n > 0 {
		return time.Duration(n) * time.Second
	}
	if n, ok := t.Common.File.Int("timeout"); ok && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 5 * time.Second
}

// job returns the job that the command line describes, with credentials.
func (t *saltTool) job(ctx context.Context) (client.Job, error) {
	cred, err := masterlink.JobCredentials(ctx, t.Session, t.wire)
	if err != nil {
		return client.Job{}, err
	}
	kwargs := payload.M("show_timeout", t.Opt.Bool("show_timeout"), "show_jid", t.Opt.Bool("show_jid"))
	if key, ok := cred.Get("key"); ok {
		kwargs.Set("key", key)
	}
	if token, ok := cred.Get("token"); ok {
		kwargs.Set("token", token)
	}
	kwargs.Set("delimiter", t.Opt.Str("delimiter"))
	t.addJobOptions(kwargs)
	kwargs.Update(cred)
	tgt, tgtType, err := t.wireTarget()
	if err != nil {
		return client.Job{}, err
	}
	return client.Job{Tgt: tgt, TgtType: tgtType, Fun: t.cmd.fun, Arg: t.cmd.arg, Ret: t.Opt.Str("return"),
		Kwargs: kwargs, Timeout: t.timeout()}, nil
}

// addJobOptions adds the options that travel with a job.
func (t *saltTool) addJobOptions(kwargs *payload.Map) {
	if conf := t.Opt.Str("return_config"); conf != "" {
		kwargs.Set("ret_config", conf)
	}
	for _, o := range []struct{ dest, key string }{{"return_kwargs", "ret_kwargs"},
		{"module_executors", "module_executors"}, {"executor_opts", "executor_opts"}, {"metadata", "metadata"}} {
		switch v := t.Opt.Get(o.dest).(type) {
		case string:
			if v != "" {
				kwargs.Set(o.key, args.Yamlify(v))
			}
		case nil:
		default: // from a configuration file
			kwargs.Set(o.key, v)
		}
	}
	if t.Opt.Bool("start_event") {
		kwargs.Set("start_event", true)
	}
}

// start publishes without waiting for returns.
func (t *saltTool) start(ctx context.Context) error {
	job, err := t.job(ctx)
	var pub client.Published
	if err == nil {
		pub, err = t.wire.Publish(ctx, job)
		err = masterlink.ClientError(t.Session, err)
	}
	var no *masterlink.Refusal
	if errors.As(err, &no) {
		return masterlink.Uncaught(t.Session, "SaltClientError", err)
	}
	if err != nil {
		return err
	}
	jid := pub.JID
	if !masterlink.Published(t.Session, pub) {
		jid = "0"
	}
	fmt.Fprintln(t.Stdout, "Executed command with job ID: "+jid)
	return nil
}

// noReturn ends salt when nothing came back.
func (t *saltTool) noReturn() error {
	if t.cmd.doc {
		return tool.Exit(tool.ExitNoReturn, "No minions found to gather docs from")
	}
	if err := display.Show(t.Session, payload.NewMap(0), display.How{}); err != nil {
		return err
	}
	return tool.Exit(tool.ExitNoReturn, "ERROR: No return received")
}
