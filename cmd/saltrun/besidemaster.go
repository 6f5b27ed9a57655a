package saltrun

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/wire/client"
	"brine/wire/payload"
)

// besideMaster is the master whose configuration lies beside a minion's, as saltutil.cmd, saltutil.runner and
// saltutil.wheel use it: from within the minion, with the master's files and sockets. Salt's do so on every minion;
// where there is no master they come to grief over what is missing, and so do these.
type besideMaster struct {
	dir string // of the configurations
	log *slog.Logger
}

// OfferMaster gives functions the master beside the minion.
func OfferMaster(log *slog.Logger) func(*modules.Env) {
	return func(env *modules.Env) {
		b := besideMaster{dir: filepath.Dir(env.Opts().Str("conf_file")), log: log}
		env.Host.Runner, env.Host.Wheel, env.Host.Local = b, b, b
	}
}

// tool is salt-run without a command line.
func (b besideMaster) tool() (*runTool, error) {
	s := &session.Session{Call: &tool.Call{Prog: "salt-run", Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}, Log: b.log}
	s.Parser = runParser(s.Call)
	err := s.ReadWords()
	if err == nil {
		err = s.LoadRole(session.RoleClient, b.dir, payload.NewMap(0))
	}
	if err != nil {
		return nil, err
	}
	r := &runTool{Session: s, jid: payload.NewUniqueJID(time.Now(), s.Master.UniqueJID)}
	return r, r.build()
}

// Run runs a runner function; its return is the one of the run, unless the full record of the run is wanted.
func (b besideMaster) Run(ctx context.Context, fun string, pos []any, kw *payload.Map, full bool) (any, error) {
	res, err := b.run(ctx, runners.Request{Kind: runners.KindRunner, Fun: fun, Args: pos, KW: kw})
	switch {
	case err != nil:
		return nil, err
	case full:
		return res.Data, nil
	}
	return res.Return, nil
}

// Wheel runs a wheel function and gives the full record of the run.
func (b besideMaster) Wheel(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error) {
	res, err := b.run(ctx, runners.Request{Kind: runners.KindWheel, Fun: fun, Args: pos, KW: kw})
	if err != nil {
		return nil, err
	}
	return res.Data, nil
}

// run runs a function in this process, as salt-run does.
func (b besideMaster) run(ctx context.Context, req runners.Request) (*runners.Result, error) {
	r, err := b.tool()
	if err != nil {
		return nil, err
	}
	defer r.close()
	env := r.env
	if req.Kind == runners.KindWheel {
		env = r.wheel
	}
	if _, ok := env.Registry.Lookup(req.Fun); !ok {
		return nil, &modules.NotAvailable{Name: req.Fun, Message: env.Registry.MissingText(req.Fun)}
	}
	req.JID = r.jid
	var forget func()
	req.Note = func() (err error) {
		forget, err = r.note(req)
		return err
	}
	res := runners.Run(ctx, env, req, func(tag string, data *payload.Map) { r.fire(ctx, tag, data) })
	if forget != nil {
		forget()
		r.keep(ctx, res.Data)
	}
	return res, nil
}

// Cmd publishes a job and gathers its returns: id to {ret, out, retcode, jid}.
func (b besideMaster) Cmd(ctx context.Context, cmd modules.LocalCmd) (*payload.Map, error) {
	r, err := b.tool()
	if err != nil {
		return nil, err
	}
	defer r.close()
	job := client.Job{Tgt: cmd.Tgt, TgtType: cmd.TgtType, Fun: cmd.Fun, Ret: cmd.Ret, Arg: args.Condition(cmd.Args, cmd.KW.Map("kwarg"))}
	if cmd.Timeout != nil {
		job.Timeout = time.Duration(*cmd.Timeout) * time.Second
	}
	run, err := r.wire.Run(ctx, job)
	var no *masterlink.Refusal
	if err = masterlink.ClientError(r.Session, err); errors.As(err, &no) {
		return nil, &modules.ClientError{Message: no.Text}
	}
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(len(run.Minions))
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, &modules.ClientError{Message: err.Error()}
		}
		if ret.Silence == client.Answered {
			out.Set(ret.ID, cmdReturn(ret))
		}
	}
	return out, nil
}

// cmdReturn is one return in the form of LocalClient.cmd_iter.
func cmdReturn(ret client.Return) *payload.Map {
	m := payload.M("ret", ret.Value)
	ret.Data.Pass(m, payload.FieldOut, payload.FieldRetcode, payload.FieldJID)
	return m
}
