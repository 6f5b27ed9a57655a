package master

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"

	"brine/modules/fileserver"
	"brine/modules/fileserver/gitfs"
	"brine/wire/event"
	"brine/wire/payload"
)

// fileOptions are what the configuration says of files.
type fileOptions struct {
	// all of it: the file server has many options of its own, and minions may read some (masterOptKeys)
	values *payload.Map
}

// files is what this master serves to minions, and shows its runners. Any number of goroutines may use it.
type files struct {
	opt    fileOptions
	server atomic.Pointer[fileserver.Server] // of the FileServer that lives, or of the last one
	events *events
	log    *slog.Logger
}

// newFiles reads the configuration once, so that what is wrong with it ends the start.
func newFiles(opt fileOptions, events *events, log *slog.Logger) (*files, error) {
	f := &files{opt: opt, events: events, log: log}
	s, err := fileserver.Configured(opt.values, gitfs.Kind())
	if s == nil {
		return nil, err
	}
	f.server.Store(s)
	return f, nil
}

// options are those of the FileServer. Unlike Salt: files of roots are looked through from time to time only for who
// wants the events.
func (f *files) options() fileServerOptions {
	o := fileServerOptions{publish: f.server.Store, log: f.log,
		open: func() (*fileserver.Server, error) { return fileserver.Configured(f.opt.values, gitfs.Kind()) }}
	if f.opt.values.Bool("fileserver_events") {
		o.updated = func(c *fileserver.Changes) { f.events.fire(event.TagFileserver(c.Backend), c.Event()) }
	}
	return o
}

// Answer shows a runner function what a minion is answered.
func (f *files) Answer(cmd string, load *payload.Map) (any, error) {
	v, _, err := f.server.Load().Answer(cmd, load)
	return v, err
}

// Update looks for what has changed.
func (f *files) Update(ctx context.Context, back, remotes []string) ([]*fileserver.Changes, error) {
	return f.server.Load().Refresh(ctx, back, remotes)
}

// Do does a chore of backends that keep copies.
func (f *files) Do(chore fileserver.Chore, back []string, remote string) (done, failed []string, err error) {
	done, failed = f.server.Load().Do(chore, back, remote)
	return done, failed, nil
}

// Forget drops lists of environments.
func (f *files) Forget(_ context.Context, envs, back []string) (*payload.Map, error) {
	return f.server.Load().Forget(envs, back), nil
}

// ForgetFileLists drops the lists that are remembered of some environments and backends, nil for all, and returns
// which.
func (m *Master) ForgetFileLists(envs, back []string) *payload.Map {
	return m.core.files.server.Load().Forget(envs, back)
}

// fileDesk answers minions that ask for files.
type fileDesk struct {
	files *files
	turns *turns
}

// answer answers all commands about files. What takes long is done beside the worker, which others wait for.
func (d *fileDesk) answer(r *call) (any, error) {
	if d.files.server.Load().Long(payload.Command(r.load), r.load) {
		return d.turns.inTurn(r, "hash of a file", func(context.Context) (any, error) { return d.answerNow(r) })
	}
	return d.answerNow(r)
}

func (d *fileDesk) answerNow(r *call) (any, error) {
	v, _, err := d.files.server.Load().AnswerToPack(payload.Command(r.load), r.load)
	if os.IsPermission(err) || os.IsNotExist(err) {
		d.files.log.Debug("file cannot be served", "minion", r.id, "path", payload.Show(r.load.Str("path")), "err", err)
	}
	return v, err
}

// masterOptKeys are the options a minion's state compiler asks for (salt/master.py, _master_opts).
var masterOptKeys = []string{"renderer", "failhard", "state_top", "state_top_saltenv", "nodegroups", "state_auto_order",
	"state_events", "state_aggregate", "jinja_env", "jinja_sls_env", "jinja_lstrip_blocks", "jinja_trim_blocks"}

func (d *fileDesk) masterOpts(r *call) (any, error) {
	opt, roots := d.files.opt.values, payload.NewMap(1)
	for _, env := range d.files.server.Load().Envs(nil) {
		roots.Set(env, []any{})
	}
	opts := payload.M("file_roots", roots)
	for _, k := range []string{"top_file_merging_strategy", "env_order", "default_top"} {
		opts.Set(k, opt.Value(k))
	}
	if payload.EnvOnly(r.load) {
		return opts, nil
	}
	for _, k := range masterOptKeys {
		opts.Set(k, opt.Value(k))
	}
	return opts.Set("nodegroups", r.rules.nodegroups), nil
}
