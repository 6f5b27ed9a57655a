package supervisor

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/extensions"
)

// NewSystem makes the one actor system of a process: no metrics library, quiet about what the supervisors log
// themselves, dead letters counted.
func NewSystem(logger *slog.Logger) *actor.ActorSystem {
	quiet := slog.New(quietHandler{logger.Handler()})
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	letters := &deadLetters{log: logger}
	system.Extensions.Register(letters)
	system.EventStream.Subscribe(letters.take)
	return system
}

// DeadLetters counts the messages sent to processes that were not there, since NewSystem made the system.
func DeadLetters(system *actor.ActorSystem) uint64 {
	if letters, ok := system.Extensions.Get(deadLettersID).(*deadLetters); ok {
		return letters.count.Load()
	}
	return 0
}

var deadLettersID = extensions.NextExtensionID()

// deadLetters is where messages to dead PIDs end. A message to a Ref never does.
type deadLetters struct {
	log   *slog.Logger
	count atomic.Uint64
}

func (d *deadLetters) ExtensionID() extensions.ExtensionID { return deadLettersID }

func (d *deadLetters) take(event any) {
	letter, ok := event.(*actor.DeadLetterEvent)
	if !ok || runtimeMessage(letter.Message) {
		return
	}
	d.count.Add(1)
	d.log.Debug("dead letter", "actor", letter.PID.GetId(), "type", typeName(letter.Message))
	if loser, ok := letter.Message.(Loser); ok {
		loser.Lost(ErrGone)
	}
}

// quietHandler drops protoactor's own records: the supervisors tell the same with names and reasons.
type quietHandler struct{ slog.Handler }

func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "[ACTOR]") || strings.HasPrefix(r.Message, "[SUPERVISION]") ||
		strings.HasPrefix(r.Message, "[DeadLetter]") || r.Message == "actor system started" {
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
