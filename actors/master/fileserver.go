package master

import (
	"context"
	"log/slog"
	"time"

	"brine/modules/fileserver"
	"brine/supervisor"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the FileServer.
type (
	// UpdateFiles asks the backends for what has changed. One that comes while an update is under way changes nothing.
	UpdateFiles struct{}
	// FilesUpdated tells what an update has found.
	FilesUpdated struct {
		Changes []*fileserver.Changes
		Err     error
	}
)

// fileServerOptions are what the FileServer needs of the master.
type fileServerOptions struct {
	open     func() (*fileserver.Server, error) // as the configuration wants it; the error beside a server names bad patterns
	publish  func(*fileserver.Server)           // makes it the one that workers ask
	interval time.Duration                      // fileserver_interval; 0: no updates but by hand
	updated  func(*fileserver.Changes)          // fires the event of an update
	log      *slog.Logger
}

// fileServer holds the files that minions ask for: one view of environments and lists for all workers, which read files
// themselves, each in its lane. A restart begins with a new view; meanwhile the old one answers.
type fileServer struct {
	opt   fileServerOptions
	files *fileserver.Server
	busy  bool
}

func (f *fileServer) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		f.onStarted(ctx)
	case *UpdateFiles:
		f.onUpdateFiles(ctx)
	case *FilesUpdated:
		f.onFilesUpdated(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (f *fileServer) onStarted(ctx actor.Context) {
	files, err := f.opt.open()
	if files == nil {
		supervisor.Crash(err)
	}
	if err != nil && supervisor.Incarnation(ctx) == 1 {
		f.opt.log.Warn("patterns of files that are not served are no patterns", "err", err)
	}
	f.files = files
	f.opt.publish(files)
	if f.opt.interval <= 0 || f.opt.updated == nil {
		return
	}
	self, every := supervisor.Self(ctx), f.opt.interval
	self.Send(&UpdateFiles{})
	supervisor.Go(ctx, "timer", func(ctx context.Context) error { return self.SendEvery(ctx, every, &UpdateFiles{}) })
}

func (f *fileServer) onUpdateFiles(ctx actor.Context) {
	if f.busy {
		return
	}
	f.busy = true
	self, files := supervisor.Self(ctx), f.files
	supervisor.Go(ctx, "update", func(ctx context.Context) error {
		changes, err := files.Update(ctx, nil)
		self.Send(&FilesUpdated{changes, err})
		return nil
	})
}

func (f *fileServer) onFilesUpdated(ctx actor.Context, m *FilesUpdated) {
	f.busy = false
	if m.Err != nil {
		supervisor.Failed(ctx)
		f.opt.log.Error("files cannot be looked through", "err", m.Err)
	}
	for _, c := range m.Changes {
		f.opt.updated(c)
	}
}
