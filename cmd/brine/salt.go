package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules/args"
	"brine/wire/client"
	"brine/wire/payload"
)

// saltTool is salt at work on one command line.
type saltTool struct {
	*session
	cmd   *saltCommand
	wire  *client.Client
	began time.Time

	untold bool // it was said that the master does not tell why minions are silent
}

// saltCmd is the tool salt: it publishes a job and shows what the minions return.
func saltCmd(c *call) error {
	began := time.Now()
	var cmd *saltCommand
	s, err := c.open(saltParser(c), opening{role: roleClient, check: func(s *session) (err error) {
		cmd, err = readCommand(s)
		return err
	}})
	if err != nil {
		return err
	}
	t := &saltTool{session: s, cmd: cmd, wire: s.masterClient(), began: began}
	err = t.run(context.Background())
	if errors.Is(err, errNoAuth) {
		return exit(exitNoReturn, "ERROR: Authentication failed")
	}
	return err
}

func (t *saltTool) run(ctx context.Context) error {
	switch {
	case t.opt.Bool("batch") || t.opt.Bool("static"):
		return t.runBatch(ctx)
	case t.opt.Bool("preview_target"):
		return t.preview()
	}
	if limit := t.opt.Int("batch_safe_limit"); limit > 1 {
		ids, err := t.expand()
		if err != nil {
			return err
		}
		if len(ids) >= limit {
			fmt.Fprintln(t.stdout, "\nNOTICE: Too many minions targeted, switching to batch execution.")
			t.opt.Default("batch", t.opt.Get("batch_safe_size"))
			return t.runBatch(ctx)
		}
	}
	if t.opt.Bool("async") {
		return t.start(ctx)
	}
	err := t.follow(ctx)
	var no *refusal
	switch {
	case errors.As(err, &no) && t.cmd.doc:
		return exit(exitNoReturn, "%s", no.text)
	case errors.As(err, &no):
		return t.plainText(no.text)
	}
	return err
}

// timeout is -t, or the configuration's where that is not above 0.
func (t *saltTool) timeout() time.Duration {
	if n := t.opt.Int("timeout"); n > 0 {
		return time.Duration(n) * time.Second
	}
	if n, ok := t.common.File.Int("timeout"); ok && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 5 * time.Second
}

// job is the publication that the command line asks for, with credentials.
func (t *saltTool) job(ctx context.Context) (client.Job, error) {
	cred, err := t.jobCredentials(ctx, t.wire)
	if err != nil {
		return client.Job{}, err
	}
	kwargs := payload.M("show_timeout", t.opt.Bool("show_timeout"), "show_jid", t.opt.Bool("show_jid"))
	if key, ok := cred.Get("key"); ok {
		kwargs.Set("key", key)
	}
	if token, ok := cred.Get("token"); ok {
		kwargs.Set("token", token)
	}
	kwargs.Set("delimiter", t.opt.Str("delimiter"))
	t.addJobOptions(kwargs)
	kwargs.Update(cred)
	tgt, tgtType, err := t.wireTarget()
	if err != nil {
		return client.Job{}, err
	}
	return client.Job{Tgt: tgt, TgtType: tgtType, Fun: t.cmd.fun, Arg: t.cmd.arg, Ret: t.returners(), Kwargs: kwargs, Timeout: t.timeout()}, nil
}

// addJobOptions adds the options that travel with a job.
func (t *saltTool) addJobOptions(kwargs *payload.Map) {
	if conf := t.opt.Str("return_config"); conf != "" {
		kwargs.Set("ret_config", conf)
	}
	for _, o := range []struct{ dest, key string }{{"return_kwargs", "ret_kwargs"}, {"module_executors", "module_executors"},
		{"executor_opts", "executor_opts"}, {"metadata", "metadata"}} {
		switch v := t.opt.Get(o.dest).(type) {
		case string:
			if v != "" {
				kwargs.Set(o.key, args.Yamlify(v))
			}
		case nil:
		default: // from a configuration file
			kwargs.Set(o.key, v)
		}
	}
	if t.opt.Bool("start_event") {
		kwargs.Set("start_event", true)
	}
}

// returners are those that --return and ext_job_cache name.
func (t *saltTool) returners() string {
	ret, ext := t.opt.Str("return"), t.master.ExtJobCache
	if ret != "" && ext != "" {
		return ret + "," + ext
	}
	return ret + ext
}

// start publishes without waiting for returns.
func (t *saltTool) start(ctx context.Context) error {
	job, err := t.job(ctx)
	var pub client.Published
	if err == nil {
		pub, err = t.wire.Publish(ctx, job)
		err = t.clientError(err)
	}
	var no *refusal
	if errors.As(err, &no) {
		return t.uncaught("SaltClientError", err)
	}
	if err != nil {
		return err
	}
	jid := pub.JID
	if !t.published(pub) {
		jid = "0"
	}
	fmt.Fprintln(t.stdout, "Executed command with job ID: "+jid)
	return nil
}

// noReturn ends salt when nothing came back.
func (t *saltTool) noReturn() error {
	if t.cmd.doc {
		return exit(exitNoReturn, "No minions found to gather docs from")
	}
	if err := t.display(payload.NewMap(0), show{}); err != nil {
		return err
	}
	return exit(exitNoReturn, "ERROR: No return received")
}
