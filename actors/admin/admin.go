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

// These are the messages of the admin actor.
type (
	// Answered reports a request that a connection has answered. The actor logs it.
	Answered struct {
		Command string
		UID     int
		Changes bool // the command changes something
		Took    time.Duration
		Err     error
	}
)

// Aside makes a part of a bundle from the daemon's data. It runs in the goroutine of the connection.
type Aside func(ctx context.Context) (any, error)

// Options configure the admin actor.
type Options struct {
	Path     string                 // path of the control socket
	Mode     fs.FileMode            // mode of the socket file; 0 means 0600
	Tree     *supervisor.Supervisor // the daemon's root
	Queries  control.Handlers       // the daemon's commands that only read
	Private  control.Handlers       // commands that read data for root and the daemon's user only
	Commands control.Handlers       // commands that change something
	Bundle   map[string]Aside       // the daemon's parts of a bundle, by file name
	Version  string                 // version of the program
	Config   func() *payload.Map    // options without secrets; may be nil
	Crashes  func() []string        // paths of crash reports, oldest first; may be nil
	Logger   *slog.Logger           // for the socket

	since time.Time // start of the daemon
}

// Spec is the spec of the child for the daemon's tree.
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
		Allow: func(ipc.Peer) bool { return true }, // every peer that can open the socket may read, see handle
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

// trusted tells whether a peer may use private queries, and commands that change something.
func trusted(peer ipc.Peer) bool { return peer.UID == 0 || peer.UID == os.Geteuid() }
