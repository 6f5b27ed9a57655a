package daemon

import (
	"context"

	"brine/actors/engines"
	"brine/modules/loader"
	"brine/wire/payload"
)

// EngineRoom is a daemon as its engines see it. Any number of goroutines may use it.
type EngineRoom struct {
	bus  *Bus
	fire func(ctx context.Context, tag string, data *payload.Map) error
	call func(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error)
}

// NewEngineRoom makes it: engines listen to a bus, fire events and call functions as the daemon says.
func NewEngineRoom(bus *Bus, fire func(ctx context.Context, tag string, data *payload.Map) error,
	call func(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error)) *EngineRoom {
	return &EngineRoom{bus, fire, call}
}

// Listen shows the bus to an engine.
func (r *EngineRoom) Listen(ctx context.Context, sink func(tag string, body []byte)) (stop func(), err error) {
	return r.bus.Listen(ctx, "engine", sink)
}

// Fire sends an event.
func (r *EngineRoom) Fire(ctx context.Context, tag string, data *payload.Map) error {
	return r.fire(ctx, tag, data)
}

// Call runs a function of the daemon.
func (r *EngineRoom) Call(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error) {
	return r.call(ctx, client, fun, args, kw)
}

// CallIn runs an execution function for an engine in its surroundings.
func CallIn(ctx context.Context, env *loader.Env, fun string, args []any, kw *payload.Map) (any, error) {
	return loader.NewCall(ctx, env, fun, payload.M("fun", fun)).Call(fun, args, kw)
}

// EngineRows are the engines of a daemon as children.
func EngineRows(set *engines.Set) []Child {
	rows := make([]Child, 0, len(set.Children))
	for _, spec := range set.Children {
		rows = append(rows, Child{Spec: spec})
	}
	return rows
}
