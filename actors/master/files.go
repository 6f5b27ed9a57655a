package master

import (
	"context"
	"log/slog"
	"sync/atomic"

	"brine/actors/master/eventbus"
	"brine/modules/fileserver"
	"brine/modules/fileserver/gitfs"
	"brine/supervisor"
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
	events *eventbus.Bus
	log    *slog.Logger
}

// newFiles reads the configuration once, so that what is wrong with it ends the start.
func newFiles(opt fileOptions, events *eventbus.Bus, log *slog.Logger) (*files, error) {
	f := &files{opt: opt, events: events, log: log}
	s, err := fileserver.Configured(opt.values, gitfs.Kind())
	if s == nil {
		return nil, err
	}
	f.server.Store(s)
	return f, nil
}

// child is the FileServer as a child of the master.
func (f *files) child() supervisor.Spec {
	return supervisor.Spec{Name: "FileServer", New: func() supervisor.Actor { return &fileServer{opt: f.options()} }}
}

// options are those of the FileServer. Unlike Salt: files of roots are looked through from time to time only for who
// wants the events.
func (f *files) options() fileServerOptions {
	o := fileServerOptions{publish: f.server.Store, log: f.log,
		open: func() (*fileserver.Server, error) { return fileserver.Configured(f.opt.values, gitfs.Kind()) }}
	if f.opt.values.Bool("fileserver_events") {
		o.updated = func(c *fileserver.Changes) { f.events.Fire(event.TagFileserver(c.Backend), c.Event()) }
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
