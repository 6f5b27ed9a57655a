// Package files serves files to minions. Files owns the file server (modules/fileserver); the actor FileServer looks
// for changes, which the event bus hears of.
package files

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

// Options are what the configuration says of files.
type Options struct {
	// all of it: the file server has many options of its own, and minions may read some (masterOptKeys)
	Values *payload.Map
}

// Files is what this master serves to minions, and shows its runners. Any number of goroutines may use it.
type Files struct {
	Opt    Options
	Server atomic.Pointer[fileserver.Server] // of the FileServer that lives, or of the last one
	events *eventbus.Bus
	Log    *slog.Logger
}

// New reads the configuration once, so that what is wrong with it ends the start.
func New(opt Options, events *eventbus.Bus, log *slog.Logger) (*Files, error) {
	f := &Files{Opt: opt, events: events, Log: log}
	s, err := fileserver.Configured(opt.Values, gitfs.Kind())
	if s == nil {
		return nil, err
	}
	f.Server.Store(s)
	return f, nil
}

// Child is the FileServer as a child of the master.
func (f *Files) Child() supervisor.Spec {
	return supervisor.Spec{Name: "FileServer", New: func() supervisor.Actor { return &fileServer{opt: f.options()} }}
}

// options are those of the FileServer. Unlike Salt: files of roots are looked through from time to time only for who
// wants the events.
func (f *Files) options() fileServerOptions {
	o := fileServerOptions{publish: f.Server.Store, log: f.Log,
		open: func() (*fileserver.Server, error) { return fileserver.Configured(f.Opt.Values, gitfs.Kind()) }}
	if f.Opt.Values.Bool("fileserver_events") {
		o.updated = func(c *fileserver.Changes) { f.events.Fire(event.TagFileserver(c.Backend), c.Event()) }
	}
	return o
}

// Answer shows a runner function what a minion is answered.
func (f *Files) Answer(cmd string, load *payload.Map) (any, error) {
	v, _, err := f.Server.Load().Answer(cmd, load)
	return v, err
}

// Update looks for what has changed.
func (f *Files) Update(ctx context.Context, back, remotes []string) ([]*fileserver.Changes, error) {
	return f.Server.Load().Refresh(ctx, back, remotes)
}

// Do does a chore of backends that keep copies.
func (f *Files) Do(chore fileserver.Chore, back []string, remote string) (done, failed []string, err error) {
	done, failed = f.Server.Load().Do(chore, back, remote)
	return done, failed, nil
}

// Forget drops lists of environments.
func (f *Files) Forget(_ context.Context, envs, back []string) (*payload.Map, error) {
	return f.Server.Load().Forget(envs, back), nil
}
