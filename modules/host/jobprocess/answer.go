package jobprocess

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"brine/modules/loader"
	"brine/wire/payload"
)

// method answers one kind of call.
type method func(ctx context.Context, h *loader.Host, args []any) (any, error)

// methods are the answers. The members of the host are there: the process calls only what was offered.
func methods() map[string]method {
	return map[string]method{
		callRequest:   answerRequest,
		callHasMaster: answerHasMaster,
		callMaster: func(ctx context.Context, h *loader.Host, a []any) (any, error) {
			return h.Events.FireMaster(ctx, field[string](a, 0), field[any](a, 1), field[*payload.Map](a, 2)), nil
		},
		callLocal: func(ctx context.Context, h *loader.Host, a []any) (any, error) {
			return h.Events.FireLocal(ctx, field[string](a, 0), field[any](a, 1)), nil
		},
		callAwait: func(ctx context.Context, h *loader.Host, a []any) (any, error) {
			m, ok := h.Events.AwaitLocal(ctx, field[string](a, 0), field[any](a, 1), field[string](a, 2))
			if !ok {
				return nil, nil
			}
			return m, nil
		},
		callRunning: func(_ context.Context, h *loader.Host, _ []any) (any, error) { return h.Jobs.Running(), nil },
		callSignal:  answerSignal,
		callReload:  func(_ context.Context, h *loader.Host, _ []any) (any, error) { return nil, h.Minion.Reload() },
		callCompile: func(ctx context.Context, h *loader.Host, a []any) (any, error) {
			return h.Secrets.Compile(ctx, loader.PillarQuery{Saltenv: field[string](a, 0), Pillarenv: field[string](a,
				1), Override: field[*payload.Map](a, 2), Ext: field[any](a, 3), Onto: field[bool](a, 4)})
		},
		callActors: func(ctx context.Context, h *loader.Host, a []any) (any, error) {
			return h.Daemon.Actors(ctx, field[string](a, 0))
		},
		callFacts: func(ctx context.Context, h *loader.Host, a []any) (any, error) {
			return h.Daemon.JobFacts(ctx, field[string](a, 0))
		},
		callJobs: func(ctx context.Context, h *loader.Host, _ []any) (any, error) { return h.Daemon.JobList(ctx) },
		callLog: func(_ context.Context, h *loader.Host, a []any) (any, error) {
			level, text := slog.Level(field[int64](a, 0)), field[string](a, 1)
			if name := field[string](a, 2); name != "" {
				h.Log.LogAs(name, level, text)
			} else {
				h.Log.Log(level, text)
			}
			return nil, nil
		},
	}
}

func answerRequest(ctx context.Context, h *loader.Host, a []any) (any, error) {
	master, name := h.Master, field[string](a, 1)
	if name != "" {
		if many, ok := master.(loader.MasterByHost); ok {
			if named, ok := many.MasterByHost(name); ok {
				master = named
			}
		}
	}
	return master.Request(ctx, field[*payload.Map](a, 0))
}

func answerHasMaster(_ context.Context, h *loader.Host, a []any) (any, error) {
	many, ok := h.Master.(loader.MasterByHost)
	if ok {
		_, ok = many.MasterByHost(field[string](a, 0))
	}
	return ok, nil
}

func answerSignal(_ context.Context, h *loader.Host, a []any) (any, error) {
	text, ok := h.Jobs.Signal(field[string](a, 0), int(field[int64](a, 1)))
	if !ok {
		return nil, nil
	}
	return text, nil
}

// callServer answers the calls of one process, each in a goroutine of its own.
type callServer struct {
	host    *loader.Host
	out     *stream
	methods map[string]method
	work    *sync.WaitGroup

	mu     sync.Mutex
	cancel map[int64]context.CancelFunc
}

func newCallServer(host *loader.Host, out *stream, work *sync.WaitGroup) *callServer {
	return &callServer{host: host, out: out, work: work, methods: methods(), cancel: map[int64]context.CancelFunc{}}
}

// take begins to answer a call. Lines of the log are written at once, in their order.
func (d *callServer) take(ctx context.Context, m []any) {
	id, name := field[int64](m, 0), field[string](m, 1)
	do := d.methods[name]
	if do == nil || len(m) < 2 {
		d.reply(id, nil, fmt.Errorf("%w: call of %q", errStream, name))
		return
	}
	if id == 0 {
		_, _ = d.do(ctx, do, m[2:]) // nobody waits for it
		return
	}
	ctx, stop := context.WithCancel(ctx)
	d.mu.Lock()
	d.cancel[id] = stop
	d.mu.Unlock()
	d.work.Go(func() {
		v, err := d.do(ctx, do, m[2:])
		d.drop(id)
		d.reply(id, v, err)
	})
}

// do calls a method. It never panics: the fault is the job's, and the minion lives on.
func (d *callServer) do(ctx context.Context, do method, args []any) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	return do(ctx, d.host, args)
}

// drop ends a call: it has its answer, or nobody waits for that any more.
func (d *callServer) drop(id int64) {
	d.mu.Lock()
	stop := d.cancel[id]
	delete(d.cancel, id)
	d.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// reply sends an answer. A process that has gone does not miss it.
func (d *callServer) reply(id int64, v any, err error) {
	text, kind := "", ""
	if err != nil {
		v, text, kind = nil, err.Error(), kindOf(err)
	}
	if sendErr := d.out.send(msgAnswer, id, v, text, kind); sendErr != nil {
		_ = d.out.send(msgAnswer, id, nil, sendErr.Error(), "") // the value could not be packed
	}
}
