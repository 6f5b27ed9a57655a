package supervisor

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/eventstream"
	"github.com/asynkron/protoactor-go/extensions"
	cmap "github.com/orcaman/concurrent-map"
)

// NewSystem makes the one actor system of a process. It uses no metrics library, does not log what the supervisors log
// themselves, and counts dead letters.
func NewSystem(logger *slog.Logger) *System {
	oneShard()
	quiet := slog.New(quietHandler{logger.Handler()})
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*System) *slog.Logger { return quiet }))
	letters := &deadLetters{system: system, log: logger}
	system.Extensions.Register(letters)
	// protoactor's own subscribers log whole messages, and keep a goroutine for a second after each dead letter
	system.EventStream = eventstream.NewEventStream()
	system.EventStream.Subscribe(letters.take)
	return system
}

// oneShard makes the maps of a process registry small, before the first registry is made. A registry is an array of
// 1024 maps, each of 32 shards by default: 2.8 MB and 67,000 objects before the first actor. No system may be made
// without NewSystem in the same process.
var oneShard = sync.OnceFunc(func() { cmap.SHARD_COUNT = 1 })

// DeadLetters counts the messages to missing processes since NewSystem made the system.
func DeadLetters(system *System) uint64 {
	if letters, ok := system.Extensions.Get(deadLettersID).(*deadLetters); ok {
		return letters.count.Load()
	}
	return 0
}

var deadLettersID = extensions.NextExtensionID()

// deadLetters receives messages to dead PIDs. A message to a Ref never gets here.
type deadLetters struct {
	system *System
	log    *slog.Logger
	count  atomic.Uint64
}

func (d *deadLetters) ExtensionID() extensions.ExtensionID { return deadLettersID }

func (d *deadLetters) take(event any) {
	letter, ok := event.(*actor.DeadLetterEvent)
	if !ok {
		return
	}
	if watch, ok := letter.Message.(*actor.Watch); ok { // an actor that watches a dead one is told that it is dead
		watcher, _ := d.system.ProcessRegistry.Get(watch.Watcher)
		watcher.SendSystemMessage(watch.Watcher, &actor.Terminated{Who: letter.PID,
			Why: actor.TerminatedReason_NotFound})
	}
	if RuntimeMessage(letter.Message) {
		return
	}
	d.count.Add(1)
	d.log.Debug("dead letter", "actor", letter.PID.GetId(), "type", typeName(letter.Message))
	if loser, ok := letter.Message.(Loser); ok {
		loser.Lost(ErrGone)
	}
	if letter.Sender != nil {
		d.system.Root.Send(letter.Sender, &actor.DeadLetterResponse{Target: letter.PID})
	}
}

// quietHandler drops protoactor's own records: the supervisors log the same with names and reasons.
type quietHandler struct{ slog.Handler }

func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "[ACTOR]") || r.Message == "actor system started" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}
