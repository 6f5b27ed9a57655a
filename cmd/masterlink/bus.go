package masterlink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/cmd/session"
	"brine/config"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/presence"
	"brine/modules/runners"
	"brine/wire/control"
	"brine/wire/disk/wholefile"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/python"
)

// FirePatience bounds how long a tool waits for a bus that takes no events.
const FirePatience = 5 * time.Second

// Bus is the event bus of a master on this machine, as its tools use it.
type Bus struct {
	conf *config.Master
	pull *ipc.Pusher
}

// NewBus is the event bus of the session's master. It ends with the process.
func NewBus(s *session.Session) *Bus {
	m := s.Master
	pull, pub := filepath.Join(m.SockDir, event.MasterPullSocket), filepath.Join(m.SockDir, event.MasterPubSocket)
	if m.IPCMode == "tcp" {
		pull, pub = LoopbackAddr(m.TCPMasterPullPort), LoopbackAddr(m.TCPMasterPubPort)
	}
	return &Bus{conf: m, pull: ipc.NewAskingPusher(pull, pub)}
}

// Fire puts an event on the bus.
func (b *Bus) Fire(ctx context.Context, tag string, data *payload.Map) error {
	body, err := event.Pack(tag, data, b.conf.MaxEventSize)
	if err != nil {
		return fmt.Errorf("fire %s: %w", tag, err)
	}
	ctx, cancel := context.WithTimeout(ctx, FirePatience)
	defer cancel()
	if err := b.pull.Push(ctx, body); err != nil {
		return fmt.Errorf("fire %s: %w", tag, err)
	}
	return nil
}

// Close gives the connection back.
func (b *Bus) Close() error { return b.pull.Close() }

// Watch subscribes to all events of the master, or of the minion whose socket lies in sockDir.
func (b *Bus) Watch(ctx context.Context, node, sockDir string) (runners.Stream, error) {
	addr, err := b.pubAddr(node, sockDir)
	if err != nil {
		return nil, err
	}
	return ipc.Subscribe(ctx, addr, ipc.FramingDetect)
}

// pubAddr is the address of a pub socket. node is "master", or "minion" for the minion of this host's id.
func (b *Bus) pubAddr(node, sockDir string) (string, error) {
	if sockDir == "" {
		sockDir = b.conf.SockDir
	}
	if node == "minion" {
		return minionPub(sockDir)
	}
	if b.conf.IPCMode == "tcp" {
		return LoopbackAddr(b.conf.TCPMasterPubPort), nil
	}
	return filepath.Join(sockDir, event.MasterPubSocket), nil
}

// minionPub finds the pub socket of the minion that has its sockets in sockDir.
func minionPub(sockDir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(sockDir, "minion_event_*_pub.ipc"))
	if err == nil && len(found) == 0 {
		err = os.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("find event socket of a minion in %s: %w", sockDir, err)
	}
	return found[0], nil
}

// Cache is the data cache of the session's master.
func Cache(s *session.Session) *datacache.Banks { return datacache.AttachBanks(s.Master.CacheDir) }

// ReplaceFile writes a file whole, readable by its owner.
func ReplaceFile(path string, content []byte) error {
	if err := wholefile.Write(path, content, wholefile.Options{}); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Presence tells which minions are connected to this master.
type Presence struct{ s *session.Session }

// Connected maps the id of each connected minion to the address it is connected from. A brine master that runs tells
// it, by its authenticated connections. When it does not answer, or is Salt's, connections of this machine and the
// addresses in cached grains are looked at, as Salt's tools do.
func (p Presence) Connected() (map[string]string, error) {
	if d := Daemon(p.s); d != nil {
		ctx, cancel := context.WithTimeout(context.Background(), control.AskTimeout)
		defer cancel()
		told, err := control.Ask(ctx, d, control.GetPresent{})
		if err == nil {
			found := make(map[string]string, told.Len())
			for id, addr := range told.All() {
				found[python.Str(id)] = python.Str(addr)
			}
			return found, nil
		}
		p.s.Log.Debug("the master does not tell who is connected: addresses are looked at", "err", err)
	}
	return finder(p.s).Connected()
}

// NewPresence is the presence of the session's master.
func NewPresence(s *session.Session) Presence { return Presence{s} }

// finder looks for the addresses of minions among the connections of this machine.
func finder(s *session.Session) *presence.Finder {
	f := &presence.Finder{Cache: Cache(s), Port: s.Master.PublishPort}
	if s.Master.DetectRemoteMinions {
		f.RemotePort = s.Master.RemoteMinionsPort
	}
	return f
}
