package files

import (
	"context"
	"log/slog"

	"brine/modules/fileserver"
	"brine/supervisor"
)

// Messages of the FileServer.
type (
	// UpdateFiles asks a backend for what has changed. One that comes while its update is under way changes nothing.
	UpdateFiles struct{ Backend string }
	// FilesUpdated tells what an update has found.
	FilesUpdated struct {
		Backend string
		Changes []*fileserver.Changes
		Err     error
	}
)

// fileServerOptions are what the FileServer needs of the master.
type fileServerOptions struct {
	// as the configuration wants it; the error beside a server names what is left out
	open    func() (*fileserver.Server, error)
	publish func(*fileserver.Server)  // makes it the one that workers ask
	updated func(*fileserver.Changes) // fires the event of an update; nil: nobody wants it
	log     *slog.Logger
}

// fileServer holds the files that minions ask for: one view of environments and lists for all workers, which read files
// themselves, each in its lane. A restart begins with a new view; meanwhile the old one answers.
type fileServer struct {
	opt   fileServerOptions
	files *fileserver.Server
	busy  map[string]bool // the backends of which an update is under way
}

func (f *fileServer) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		f.onStarted(ctx)
	case *UpdateFiles:
		f.onUpdateFiles(ctx, m)
	case *FilesUpdated:
		f.onFilesUpdated(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (f *fileServer) onStarted(ctx supervisor.Context) {
	files, err := f.opt.open()
	if files == nil {
		supervisor.Crash(err)
	}
	if err != nil && supervisor.Incarnation(ctx) == 1 {
		f.opt.log.Warn("the file server leaves something out", "err", err)
	}
	f.files, f.busy = files, map[string]bool{}
	f.opt.publish(files)
	self := supervisor.Self(ctx)
	for _, r := range files.Rhythms() {
		if !r.Needed && f.opt.updated == nil {
			continue
		}
		self.Send(&UpdateFiles{r.Backend})
		supervisor.Go(ctx, "timer of "+r.Backend, func(ctx context.Context) error {
			return self.SendEvery(ctx, r.Every, &UpdateFiles{r.Backend})
		})
	}
}

func (f *fileServer) onUpdateFiles(ctx supervisor.Context, m *UpdateFiles) {
	if f.busy[m.Backend] {
		return
	}
	f.busy[m.Backend] = true
	self, files := supervisor.Self(ctx), f.files
	supervisor.Go(ctx, "update of "+m.Backend, func(ctx context.Context) error {
		changes, err := files.Update(ctx, []string{m.Backend})
		self.Send(&FilesUpdated{m.Backend, changes, err})
		return nil
	})
}

func (f *fileServer) onFilesUpdated(ctx supervisor.Context, m *FilesUpdated) {
	delete(f.busy, m.Backend)
	if m.Err != nil {
		supervisor.Failed(ctx)
		f.opt.log.Error("files cannot be updated", "backend", m.Backend, "err", m.Err)
	}
	for _, c := range m.Changes {
		if f.opt.updated != nil {
			f.opt.updated(c)
		}
	}
}
