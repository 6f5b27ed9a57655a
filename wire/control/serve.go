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

// Handler answers one command. Its argument is the whole request. It runs in the goroutine of the connection; several
// calls may run concurrently.
type Handler func(ctx context.Context, request *payload.Map) (any, error)

// Handlers are the commands of a daemon.
type Handlers map[string]Handler

// On registers the function that answers a question.
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

// Head is the common beginning of every request.
type Head struct {
	Command string
	Version int64
	Late    bool // the tool no longer waits, for example because the daemon was frozen
}

// ReadHead reads the head of a request.
func ReadHead(request *payload.Map) Head {
	h := Head{Command: request.Str(keyCommand)}
	h.Version, _ = request.Int(keyVersion)
	until, ok := request.Int(keyUntil)
	h.Late = ok && time.Now().UnixMicro() > until
	return h
}

// Check returns a *VersionError if this daemon does not speak the version of a request.
func (h Head) Check() error {
	if h.Version != Version {
		return &VersionError{Tool: h.Version, Daemon: Version}
	}
	return nil
}

// Reply is an answer as it is sent.
func Reply(result any) *payload.Map { return payload.M(keyVersion, int64(Version), keyResult, result) }

// Refusal is the reply to a request of another version: it only names the daemon's own version.
func Refusal() *payload.Map { return payload.M(keyVersion, int64(Version)) }
