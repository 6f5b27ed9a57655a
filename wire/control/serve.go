package control

import (
	"context"
	"reflect"
	"time"

	"brine/wire/payload"
)

const (
	keyCommand = "cmd"
	keyVersion = "v"
	keyUntil   = "until"
	keyResult  = "result"
)

// Handler answers one command. Its argument is the whole request. It runs in the goroutine of the connection, several
// at once.
type Handler func(ctx context.Context, request *payload.Map) (any, error)

// Handlers are what a daemon answers, by command.
type Handlers map[string]Handler

// On adds what answers a question.
func On[A any, Q Question[A]](h Handlers, answer func(ctx context.Context, q Q) (A, error)) {
	var q Q
	h[q.Command()] = func(ctx context.Context, request *payload.Map) (any, error) {
		var q Q
		if err := decode(request, reflect.ValueOf(&q).Elem()); err != nil {
			return nil, err
		}
		a, err := answer(ctx, q)
		if err != nil {
			return nil, err
		}
		return Encode(a), nil
	}
}

// Head is what every request begins with.
type Head struct {
	Command string
	Version int64
	Late    bool // the one who asks does not wait any more: the daemon may have been frozen
}

// ReadHead reads it.
func ReadHead(request *payload.Map) Head {
	h := Head{Command: request.Str(keyCommand)}
	h.Version, _ = request.Int(keyVersion)
	until, ok := request.Int(keyUntil)
	h.Late = ok && time.Now().UnixMicro() > until
	return h
}

// Check is a *VersionError when this daemon does not speak the version of a request.
func (h Head) Check() error {
	if h.Version != Version {
		return &VersionError{Tool: h.Version, Daemon: Version}
	}
	return nil
}

// Reply is an answer as it travels.
func Reply(result any) *payload.Map { return payload.M(keyVersion, int64(Version), keyResult, result) }

// Refusal is the reply to a request of another version: it says which one this daemon speaks, and nothing else.
func Refusal() *payload.Map { return payload.M(keyVersion, int64(Version)) }
