package jobprocess

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Methods of the minion that a function in the process may call.
const (
	callRequest   = "request"     // load, host ("": the master of the job) → answer
	callHasMaster = "has_master"  // host → bool
	callMaster    = "fire_master" // tag, data, preload → bool
	callLocal     = "fire_local"  // tag, data → bool
	callAwait     = "await_local" // tag, data, answer → map, or nil
	callRunning   = "running"     // → list of maps
	callSignal    = "signal"      // jid, number → text, or nil
	callReload    = "reload"      //
	callCompile   = "compile"     // saltenv, pillarenv, override, external pillar → map
	callActors    = "actors"      // path → map
	callJobs      = "job_list"    // → map
	callFacts     = "job_facts"   // jid → map
	callLog       = "log"         // level, text, name of the logger ("": the minion's); no answer
)

// Members of loader.Host that can be offered to the process.
const (
	offerMaster  = "master"
	offerEvents  = "events"
	offerJobs    = "jobs"
	offerMinion  = "minion"
	offerLog     = "log"
	offerSecrets = "secrets"
	offerDaemon  = "daemon"
)

// Kinds of errors that a function tells apart.
const (
	kindTimeout  = "timeout"  // loader.ErrRequestTimeout
	kindClient   = "client"   // loader.ClientError
	kindDeadline = "deadline" // context.DeadlineExceeded
)

// kindOf is the kind of an error on its way to the process.
func kindOf(err error) string {
	var no *loader.ClientError
	switch {
	case errors.As(err, &no):
		return kindClient
	case errors.Is(err, loader.ErrRequestTimeout):
		return kindTimeout
	case errors.Is(err, context.DeadlineExceeded):
		return kindDeadline
	}
	return ""
}

// remoteError is an error of the minion in the process.
type remoteError struct{ text, kind string }

func (e *remoteError) Error() string { return e.text }

// Is knows the errors that functions ask for.
func (e *remoteError) Is(target error) bool {
	switch e.kind {
	case kindTimeout:
		return target == loader.ErrRequestTimeout
	case kindDeadline:
		return target == context.DeadlineExceeded
	}
	return false
}

// errorOf is the error of a kind.
func errorOf(text, kind string) error {
	if kind == kindClient {
		return &loader.ClientError{Message: text}
	}
	return &remoteError{text: text, kind: kind}
}

// answer is what the minion says to a call.
type answer struct {
	value any
	err   error
}

// remote is the minion as the process sees it. It may be used by many goroutines.
type remote struct {
	out *stream

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan answer
	gone    error // set when no answer will come any more
}

func newRemote(out *stream) *remote { return &remote{out: out, waiting: map[int64]chan answer{}} }

// call asks the minion and waits for its answer. When ctx ends first the minion is told.
func (r *remote) call(ctx context.Context, method string, args ...any) (any, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	id, got, err := r.expect()
	if err != nil {
		return nil, err
	}
	if err := r.out.send(msgCall, append([]any{id, method}, args...)...); err != nil {
		r.forget(id)
		return nil, err
	}
	select {
	case a := <-got:
		return a.value, a.err
	case <-ctx.Done():
		r.forget(id)
		return nil, errors.Join(context.Cause(ctx), r.out.send(msgCancel, id))
	}
}

func (r *remote) expect() (int64, <-chan answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone != nil {
		return 0, nil, r.gone
	}
	r.last++
	got := make(chan answer, 1)
	r.waiting[r.last] = got
	return r.last, got, nil
}

func (r *remote) forget(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, id)
}

// take hands an answer to the call that waits for it.
func (r *remote) take(m []any) {
	a := answer{value: field[any](m, 1)}
	if text := field[string](m, 2); text != "" {
		a.err = errorOf(text, field[string](m, 3))
	}
	id := field[int64](m, 0)
	r.mu.Lock()
	got := r.waiting[id]
	delete(r.waiting, id)
	r.mu.Unlock()
	if got != nil {
		got <- a
	}
}

// lost ends all calls: the minion has gone.
func (r *remote) lost(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = fmt.Errorf("the minion has gone: %w", why)
	for id, got := range r.waiting {
		delete(r.waiting, id)
		got <- answer{err: r.gone}
	}
}

// host is the minion as the functions see it, with the members it has.
func (r *remote) host(offers []string) (h loader.Host) {
	has := func(name string) bool { return slices.Contains(offers, name) }
	if has(offerMaster) {
		h.Master = remoteMaster{r, ""}
	}
	if has(offerEvents) {
		h.Events = remoteEvents{r}
	}
	if has(offerJobs) {
		h.Jobs = remoteJobs{r}
	}
	if has(offerMinion) {
		h.Minion = remoteControl{r}
	}
	if has(offerLog) {
		h.Log = remoteLog{r}
	}
	if has(offerSecrets) {
		h.Secrets = remoteControl{r}
	}
	if has(offerDaemon) {
		h.Daemon = remoteControl{r}
	}
	return h
}

// offers lists the members of a host.
func offers(h *loader.Host) (names []string) {
	for _, o := range []struct {
		name string
		has  bool
	}{
		{offerMaster, h.Master != nil}, {offerEvents, h.Events != nil}, {offerJobs, h.Jobs != nil},
		{offerMinion, h.Minion != nil}, {offerLog, h.Log != nil}, {offerSecrets, h.Secrets != nil},
		{offerDaemon, h.Daemon != nil},
	} {
		if o.has {
			names = append(names, o.name)
		}
	}
	return names
}

// remoteMaster is a master; the one of the job when it has no name.
type remoteMaster struct {
	*remote
	host string
}

func (m remoteMaster) Request(ctx context.Context, load *payload.Map) (any, error) {
	return m.call(ctx, callRequest, load, m.host)
}

func (m remoteMaster) MasterByHost(host string) (loader.MasterChannel, bool) {
	v, err := m.call(context.Background(), callHasMaster, host)
	return remoteMaster{m.remote, host}, err == nil && v == true
}

// remoteEvents are the two buses.
type remoteEvents struct{ *remote }

func (e remoteEvents) FireMaster(ctx context.Context, tag string, data any, preload *payload.Map) bool {
	v, err := e.call(ctx, callMaster, tag, data, preload)
	return err == nil && v == true
}

func (e remoteEvents) FireLocal(ctx context.Context, tag string, data any) bool {
	v, err := e.call(ctx, callLocal, tag, data)
	return err == nil && v == true
}

func (e remoteEvents) AwaitLocal(ctx context.Context, tag string, data any, answer string) (*payload.Map, bool) {
	v, err := e.call(ctx, callAwait, tag, data, answer)
	m, ok := v.(*payload.Map)
	return m, ok && err == nil
}

// remoteJobs are the jobs of the minion.
type remoteJobs struct{ *remote }

func (j remoteJobs) Running() []*payload.Map {
	v, _ := j.call(context.Background(), callRunning) // without the minion there are none to be known
	list, _ := v.([]any)
	jobs := make([]*payload.Map, 0, len(list))
	for _, one := range list {
		if m, ok := one.(*payload.Map); ok {
			jobs = append(jobs, m)
		}
	}
	return jobs
}

func (j remoteJobs) Signal(jid string, sig int) (string, bool) {
	v, err := j.call(context.Background(), callSignal, jid, int64(sig))
	text, ok := v.(string)
	return text, ok && err == nil
}

// remoteControl is the rest of the minion.
type remoteControl struct{ *remote }

func (c remoteControl) Reload() error {
	_, err := c.call(context.Background(), callReload)
	return err
}

func (c remoteControl) Compile(ctx context.Context, q loader.PillarQuery) (*payload.Map, error) {
	v, err := c.call(ctx, callCompile, q.Saltenv, q.Pillarenv, q.Override, q.Ext, q.Onto)
	m, _ := v.(*payload.Map)
	return m, err
}

func (c remoteControl) Actors(ctx context.Context, path string) (*payload.Map, error) {
	v, err := c.call(ctx, callActors, path)
	m, _ := v.(*payload.Map)
	return m, err
}

func (c remoteControl) JobList(ctx context.Context) (*payload.Map, error) {
	v, err := c.call(ctx, callJobs)
	m, _ := v.(*payload.Map)
	return m, err
}

// remoteLog is the log of the minion.
type remoteLog struct{ *remote }

func (l remoteLog) Log(level slog.Level, text string) { l.LogAs("", level, text) }

func (l remoteLog) LogAs(name string, level slog.Level, text string) {
	_ = l.out.send(msgCall, int64(0), callLog, int64(level), text, name) // without the minion there is no log
}

// JobFacts asks what became of a job.
func (c remoteControl) JobFacts(ctx context.Context, jid string) (*payload.Map, error) {
	v, err := c.call(ctx, callFacts, jid)
	m, _ := v.(*payload.Map)
	return m, err
}
