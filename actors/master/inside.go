package master

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"

	"brine/actors/master/access"
	"brine/actors/master/eventbus"
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

// insideOptions are what the configuration says of how this master is reached.
type insideOptions struct {
	id       string         // of this master
	hashType string         // hash_type: the sockets of a minion are named by it
	client   client.Options // of every client, but for what a reload changes; its SockDir is that of this master
}

// inside is the master as its own runner and wheel functions see it: what salt-run reaches through sockets, they
// reach through the mailboxes of this process.
type inside struct {
	opt     insideOptions
	rules   *atomic.Pointer[access.Rules]
	targets *targets.Targets
	events  *eventbus.Bus
	mines   *mine.Reader
	files   *files
	gone    func(ctx context.Context, jid string, ids []string) []string // who certainly did not get a job
	// exchange hands a request to the ReqServer as if it had come from the request port
	exchange func(ctx context.Context, frame []byte) ([]byte, error)
	tree     func() *supervisor.Supervisor // of the master, when the children start
	log      *slog.Logger
}

// Collect publishes a job and waits for its returns.
func (in inside) Collect(ctx context.Context, job runners.Job) (*runners.Collected, error) {
	cl := in.client()
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

// client speaks to this master as the command line does, without a socket.
func (in inside) client() *client.Client {
	opt, now := in.opt.client, in.rules.Load()
	opt.Timeout, opt.GatherJobTimeout = now.Timeout, now.GatherTimeout
	opt.Bus, opt.Exchange, opt.Gone, opt.Logger = in, in.exchange, in.gone, in.log
	return client.New(opt)
}

// Fire puts an event on the bus.
func (in inside) Fire(_ context.Context, tag string, data *payload.Map) error {
	in.events.Fire(tag, data)
	return nil
}

// Push puts a packed event on the bus.
func (in inside) Push(_ context.Context, body []byte) error {
	in.events.Put(body)
	return nil
}

// MineGet reads mines as the master itself.
func (in inside) MineGet(ctx context.Context, tgt, fun any, tgtType string) (any, error) {
	return in.mines.Get(ctx, mine.Question{Asker: in.opt.id, Tgt: tgt, TgtType: tgtType, Fun: fun})
}

// Watch subscribes to the events of this master, or of the minion on this machine.
func (in inside) Watch(ctx context.Context, node, sockDir string) (runners.Stream, error) {
	if node == "minion" || (sockDir != "" && sockDir != in.opt.client.SockDir) {
		return in.watchSocket(ctx, node, sockDir)
	}
	s, err := in.events.Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// watchSocket subscribes at the socket of another daemon.
func (in inside) watchSocket(ctx context.Context, node, sockDir string) (runners.Stream, error) {
	if sockDir == "" {
		sockDir = in.opt.client.SockDir
	}
	name := event.MasterPubSocket
	if node == "minion" {
		var err error
		if name, _, err = event.MinionSockets(in.opt.id, in.opt.hashType); err != nil {
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
func (in inside) Subscribe(ctx context.Context) (client.Events, error) {
	s, err := in.events.Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	return rawEvents{s}, nil
}

// rawEvents is a stream that is read body by body.
type rawEvents struct{ *eventbus.Stream }

func (r rawEvents) Next(ctx context.Context) ([]byte, error) { return r.Body(ctx) }
