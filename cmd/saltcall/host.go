package saltcall

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"brine/cmd/masterlink"
	"brine/config"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/wire/control"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// offer gives the functions access to the master: requests, events, the pillar.
func (t *callTool) offer(l *callLink, m config.MasterAddr) {
	t.link = l
	if _, several := t.Minion.Raw.Value("master").([]any); several {
		t.Minion.Raw.Set("master", m.Host)
	}
	t.Minion.Raw.Set("master_ip", l.ip).Set("master_uri", "tcp://"+net.JoinHostPort(l.ip, strconv.Itoa(m.Port)))
	t.env.Host.Master = callMaster{t}
	if !t.servesItself() {
		t.pillarFrom(callMaster{t})
	}
}

// callMaster is the master as the functions see it.
type callMaster struct{ *callTool }

// Request sends a request to the master.
func (c callMaster) Request(ctx context.Context, load *payload.Map) (any, error) {
	if !load.Has("id") {
		load = load.Clone().Set("id", c.Minion.ID)
	}
	return c.link.ask(ctx, load)
}

// Compile asks the master for a pillar (salt/pillar/__init__.py, RemotePillar.compile_pillar).
func (c callMaster) Compile(ctx context.Context, q loader.PillarQuery) (*payload.Map, error) {
	override := q.Override
	if override == nil {
		override = payload.NewMap(0)
	}
	load := payload.M("id", c.Minion.ID, "grains", c.env.Grains(), "saltenv", textOrNull(q.Saltenv), "pillarenv",
		textOrNull(q.Pillarenv), "pillar_override", override, "extra_minion_data", pillar.Passed(c.Minion.Raw), "ver",
		"2", "cmd", payload.CmdPillar)
	if q.Ext != nil {
		load.Set("ext", q.Ext)
	}
	return c.link.channel().AskPillar(ctx, load, c.link.rules())
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// callEvents fires events on the master's bus, and on the bus of the minion that runs here.
type callEvents struct{ *callTool }

// FireMaster sends an event to the master.
func (e callEvents) FireMaster(ctx context.Context, tag string, data any, preload *payload.Map) bool {
	if e.link == nil {
		return false
	}
	if err := event.CheckTag(tag); err != nil {
		e.Log.Error("event could not be sent to the master", "err", err)
		return false
	}
	load := payload.M("id", e.Minion.ID, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", data)
	load.Update(preload)
	v, err := e.link.ask(ctx, load)
	if err == nil {
		err = payload.Taken(v)
	}
	if err != nil {
		e.Log.Error("event could not be sent to the master", "tag", tag, "err", err)
		return false
	}
	return true
}

// FireLocal fires an event on the bus of the minion that runs here. It is false if none runs.
func (e callEvents) FireLocal(ctx context.Context, tag string, data any) bool {
	body, err := e.pack(tag, data)
	if err != nil {
		e.Log.Error("event cannot be packed", "tag", tag, "err", err)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, masterlink.FirePatience)
	defer cancel()
	pub, pull, err := e.sockets()
	if err == nil {
		bus := ipc.NewAskingPusher(pull, pub)
		err = errors.Join(bus.Push(ctx, body), bus.Close())
	}
	if err != nil {
		e.Log.Debug("event not sent", "tag", tag, "err", err)
	}
	return err == nil
}

// AwaitLocal fires an event and waits for its answer on the minion's bus.
func (e callEvents) AwaitLocal(ctx context.Context, tag string, data any, answer string) (*payload.Map, bool) {
	pub, _, err := e.sockets()
	if err != nil {
		return nil, false
	}
	stream, err := ipc.Subscribe(ctx, pub, ipc.FramingDetect)
	if err != nil {
		return nil, false
	}
	defer func() { _ = stream.Close() }() // it was only read
	if !e.FireLocal(ctx, tag, data) {
		return nil, false
	}
	for {
		got, answered, err := stream.Next(ctx)
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(got, answer) {
			return answered, true
		}
	}
}

func (e callEvents) pack(tag string, data any) ([]byte, error) {
	fields, ok := data.(*payload.Map)
	if !ok {
		fields = payload.M("data", data)
	}
	return event.Pack(tag, fields, e.Minion.MaxEventSize)
}

// sockets returns the addresses of the minion's bus.
func (e callEvents) sockets() (pub, pull string, err error) {
	if e.Minion.IPCMode == "tcp" {
		return masterlink.LoopbackAddr(e.Minion.TCPPubPort), masterlink.LoopbackAddr(e.Minion.TCPPullPort), nil
	}
	pub, pull, err = event.MinionSockets(e.Minion.ID, e.Minion.HashType)
	return filepath.Join(e.Minion.SockDir, pub), filepath.Join(e.Minion.SockDir, pull), err
}

// callDaemon asks the minion that runs here, on its control socket.
type callDaemon struct{ *callTool }

// Actors asks the minion for its actors.
func (c callDaemon) Actors(ctx context.Context, path string) (*payload.Map, error) {
	return control.Ask(ctx, c.minionHere(), control.GetTree{Name: path})
}

// JobList asks the minion for its jobs.
func (c callDaemon) JobList(ctx context.Context) (*payload.Map, error) {
	return control.Ask(ctx, c.minionHere(), control.GetJobList{})
}

// JobFacts asks the minion about one job.
func (c callDaemon) JobFacts(ctx context.Context, jid string) (*payload.Map, error) {
	return control.Ask(ctx, c.minionHere(), control.GetJobFacts{JID: jid})
}

func (c callDaemon) minionHere() *control.Daemon { return control.At(c.Minion.SockDir) }
