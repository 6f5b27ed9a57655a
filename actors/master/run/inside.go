package run

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"

	"brine/actors/master/access"
	"brine/actors/master/eventbus"
	"brine/actors/master/files"
	"brine/actors/master/targets"
	"brine/modules/fleet/mine"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/supervisor"
	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// InsideOptions are what the configuration says of how this master is reached.
type InsideOptions struct {
	ID       string         // of this master
	HashType string         // hash_type: the sockets of a minion are named by it
	Client   client.Options // of every client, but for what a reload changes; its SockDir is that of this master
}

// Inside is the master as its own runner and wheel functions see it: what salt-run reaches through sockets, they
// reach through the mailboxes of this process.
type Inside struct {
	opt   InsideOptions
	parts InsideParts
	log   *slog.Logger
}

// InsideParts are the parts of the master that show it to its functions.
type InsideParts struct {
	Rules   *atomic.Pointer[access.Rules]
	Targets *targets.Targets
	Events  *eventbus.Bus
	Mines   *mine.Reader
	Files   *files.Files
	Gone    func(ctx context.Context, jid string, ids []string) []string // who certainly did not get a job
	// Exchange hands a request to the ReqServer as if it had come from the request port
	Exchange func(ctx context.Context, frame []byte) ([]byte, error)
	Tree     func() *supervisor.Supervisor // of the master, when the children start
}

// NewInside shows a master by its parts.
func NewInside(opt InsideOptions, parts InsideParts, log *slog.Logger) Inside {
	return Inside{opt, parts, log}
}

// Collect publishes a job and waits for its returns.
func (in Inside) Collect(ctx context.Context, job runners.Job) (*runners.Collected, error) {
	cl := in.Client()
	defer func() { _ = cl.Close() }() // nothing of the answer depends on it
	arg := job.Args
	if job.KW.Len() > 0 {
		arg = append(arg[:len(arg):len(arg)], job.KW.Clone().Set("__kwarg__", true))
	}
	run, err := cl.Run(ctx, client.Job{Tgt: job.Tgt, TgtType: job.TgtType, Fun: job.Fun, Ret: job.Ret, Arg: arg,
		Timeout: job.Timeout, GatherJobTimeout: job.Gather})
	if err != nil {
		return nil, &loader.ClientError{Message: err.Error()}
	}
	got := &runners.Collected{JID: run.JID, Minions: run.Minions, Returns: payload.NewMap(len(run.Minions))}
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, err
		}
		if ret.Silence == client.Answered {
			got.Returns.Set(ret.ID, ret.Data.Map())
		}
	}
	return got, nil
}

// Client speaks to this master as the command line does, without a socket.
func (in Inside) Client() *client.Client {
	opt, now := in.opt.Client, in.parts.Rules.Load()
	opt.Timeout, opt.GatherJobTimeout = now.Timeout, now.GatherTimeout
	opt.Bus, opt.Exchange, opt.Gone, opt.Logger = in, in.parts.Exchange, in.parts.Gone, in.log
	return client.New(opt)
}

// Fire puts an event on the bus.
func (in Inside) Fire(_ context.Context, tag string, data *payload.Map) error {
	in.parts.Events.Fire(tag, data)
	return nil
}

// Push puts a packed event on the bus.
func (in Inside) Push(_ context.Context, body []byte) error {
	in.parts.Events.Put(body)
	return nil
}

// MineGet reads mines as the master itself.
func (in Inside) MineGet(ctx context.Context, tgt, fun any, tgtType string) (any, error) {
	return in.parts.Mines.Get(ctx, mine.Question{Asker: in.opt.ID, Tgt: tgt, TgtType: tgtType, Fun: fun})
}

// Watch subscribes to the events of this master, or of the minion on this machine.
func (in Inside) Watch(ctx context.Context, node, sockDir string) (runners.Stream, error) {
	if node == "minion" || (sockDir != "" && sockDir != in.opt.Client.SockDir) {
		return in.watchSocket(ctx, node, sockDir)
	}
	s, err := in.parts.Events.Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// watchSocket subscribes at the socket of another daemon.
func (in Inside) watchSocket(ctx context.Context, node, sockDir string) (runners.Stream, error) {
	if sockDir == "" {
		sockDir = in.opt.Client.SockDir
	}
	name := event.MasterPubSocket
	if node == "minion" {
		var err error
		if name, _, err = event.MinionSockets(in.opt.ID, in.opt.HashType); err != nil {
			return nil, fmt.Errorf("watch events: %w", err)
		}
	}
	sub, err := ipc.Subscribe(ctx, filepath.Join(sockDir, name), ipc.FramingDetect)
	if err != nil {
		return nil, fmt.Errorf("watch events: %w", err)
	}
	return sub, nil
}

// Subscribe opens a stream of event bodies.
func (in Inside) Subscribe(ctx context.Context) (client.Events, error) {
	s, err := in.parts.Events.Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	return rawEvents{s}, nil
}

// rawEvents is a stream that is read body by body.
type rawEvents struct{ *eventbus.Stream }

func (r rawEvents) Next(ctx context.Context) ([]byte, error) { return r.Body(ctx) }
