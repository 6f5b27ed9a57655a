package admin

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"brine/supervisor"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// Messages of the admin actor.
type (
	// Answered is told by the connection that served a request; the actor logs it.
	Answered struct {
		Command string
		UID     int
		Changes bool // it was a command that changes something
		Took    time.Duration
		Err     error
	}
)

// Aside makes what of the daemon goes into a bundle. It runs in the goroutine of the connection.
type Aside func(ctx context.Context) (any, error)

// Options of the admin actor.
type Options struct {
	Path     string                 // of the control socket
	Mode     fs.FileMode            // of the socket file, 0600 when 0
	Tree     *supervisor.Supervisor // the daemon's root
	Queries  control.Handlers       // of the daemon, beside those of this package; they only read
	Private  control.Handlers       // those that read what is not for everybody who may open the socket
	Commands control.Handlers       // those that change something
	Bundle   map[string]Aside       // what of the daemon goes into a bundle, by the names of the files
	Version  string                 // of the program
	Config   func() *payload.Map    // the options, without secrets; may be nil
	Crashes  func() []string        // paths of the reports of processes that crashed, oldest first; may be nil
	Logger   *slog.Logger           // of the socket

	since time.Time // when the daemon started
}

// Spec is the child that a daemon adds to its tree.
func Spec(opt Options) supervisor.Spec {
	opt.since = time.Now()
	return supervisor.Spec{
		Name: "Admin", Component: true,
		New: func() supervisor.Actor { return &admin{opt: opt, table: newTable(opt)} },
	}
}

// admin owns the control socket.
type admin struct {
	opt   Options
	table table
}

func (a *admin) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		a.onStarted(ctx)
	case *Answered:
		a.onAnswered(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (a *admin) onStarted(ctx supervisor.Context) {
	server := ipc.NewControlServer(ipc.ControlOptions{
		Path: a.opt.Path, Mode: a.opt.Mode, Logger: a.opt.Logger,
		Allow: func(ipc.Peer) bool { return true }, // who can open the socket may read, see handle
	})
	if err := server.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("admin: %w", err))
	}
	self, table := supervisor.Self(ctx), a.table
	supervisor.Go(ctx, "control socket", func(ctx context.Context) error {
		return server.Serve(ctx, func(ctx context.Context, peer ipc.Peer, request *payload.Map) (*payload.Map, error) {
			result, done := table.handle(ctx, peer, request)
			self.Send(done)
			if result != nil {
				return result, nil
			}
			return nil, done.Err
		})
	})
}

func (a *admin) onAnswered(ctx supervisor.Context, m *Answered) {
	level := slog.LevelDebug
	if m.Changes {
		level = slog.LevelInfo
	}
	ctx.Logger().Log(supervisor.Lifetime(ctx), level, "operator asked", "command", m.Command, "uid", m.UID, "took",
		m.Took, "err", m.Err)
	if m.Err != nil {
		supervisor.Failed(ctx)
	}
}

// trusted says whether a peer may use private queries, and the commands that change something.
func trusted(peer ipc.Peer) bool { return peer.UID == 0 || peer.UID == os.Geteuid() }
