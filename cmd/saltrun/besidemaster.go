package saltrun

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// besideMaster is a master whose configuration lies beside that of the minion. saltutil.cmd, saltutil.runner
// and saltutil.wheel use it inside the minion, with the master's files and sockets. Salt does the same on every
// minion. On a host without a master these functions fail because files are missing, as they do in Salt.
type besideMaster struct {
	dir string // of the configurations
	cli string // the program that runs here
	log *slog.Logger
}

// OfferMaster gives functions the master beside the minion.
func OfferMaster(log *slog.Logger) func(*loader.Env) {
	return func(env *loader.Env) {
		opts := env.Opts()
		b := besideMaster{dir: filepath.Dir(opts.Str("conf_file")), cli: opts.Str("__cli"), log: log}
		env.Host.Runner, env.Host.Wheel, env.Host.Local = b, b, b
	}
}

// with calls do with the functions of the master. It reads the configuration anew each time, as Salt does.
func (b besideMaster) with(do func(runners.Client) (any, error)) (any, error) {
	s := &session.Session{Call: &tool.Call{Prog: "salt-run", Stdin: strings.NewReader(""), Stdout: io.Discard,
		Stderr: io.Discard}, Log: b.log}
	s.Parser = runParser(s.Call)
	err := s.ReadWords()
	if err == nil {
		err = s.LoadRole(session.RoleClient, b.dir, payload.NewMap(0))
	}
	if err != nil {
		return nil, err
	}
	s.Common.Raw.Set("__cli", b.cli)
	r := &runTool{Session: s}
	r.build()
	defer r.close()
	return do(r.client())
}

// Run runs a runner function.
func (b besideMaster) Run(ctx context.Context, run loader.MasterRun, full bool) (any, error) {
	return b.with(func(c runners.Client) (any, error) { return c.Run(ctx, run, full) })
}

// Wheel runs a wheel function.
func (b besideMaster) Wheel(ctx context.Context, run loader.MasterRun) (any, error) {
	return b.with(func(c runners.Client) (any, error) { return c.Wheel(ctx, run) })
}

// Cmd publishes a job and gathers its returns.
func (b besideMaster) Cmd(ctx context.Context, cmd loader.LocalCmd) (*payload.Map, error) {
	v, err := b.with(func(c runners.Client) (any, error) { return c.Cmd(ctx, cmd) })
	out, _ := v.(*payload.Map)
	return out, err
}

// client runs functions of the master in this process on behalf of other functions, the same way salt-run runs
// its own.
func (r *runTool) client() runners.Client {
	envs := map[runners.Kind]*loader.Env{runners.KindRunner: r.env, runners.KindWheel: r.wheel}
	return runners.Client{Env: func(kind runners.Kind) *loader.Env { return envs[kind] }, Publisher: runPublisher{r},
		Do: func(ctx context.Context, req runners.Request) (*payload.Map, error) {
			return r.inside(ctx, envs[req.Kind], req), nil
		}}
}

// inside runs a function under a job id of its own.
func (r *runTool) inside(ctx context.Context, env *loader.Env, req runners.Request) *payload.Map {
	of := *r
	of.jid = payload.NewUniqueJID(time.Now(), r.Master.UniqueJID)
	req.JID = of.jid
	var forget func()
	req.Note = func() (err error) {
		forget, err = of.note(req)
		return err
	}
	res := runners.Run(ctx, env, req, func(tag string, data *payload.Map) { of.fire(ctx, tag, data) })
	if forget != nil {
		forget()
		of.keep(ctx, res.Data)
	}
	return res.Data
}
