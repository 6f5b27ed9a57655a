package state

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/states/file/accumulator"
	"brine/modules/states/run"
	"brine/modules/states/run/journal"
	"brine/modules/states/run/low"
	"brine/modules/states/run/perform"
	"brine/modules/states/run/steps"
	"brine/modules/states/run/work"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// how says how a run is carried out.
type how struct {
	mock  bool
	orchJ any          // jid of the orchestration that the run is of; nil: none
	done  *payload.Map // returns of the run that this one goes on with; nil: none
}

// carryOut applies high data, which it changes: the returns by tag, or a list of errors.
func (s *session) carryOut(c *loader.Call, data *payload.Map, h how) (any, error) {
	steps, left, errs := s.Steps(data, nil)
	if len(errs) > 0 {
		return payload.AnyList(errs), nil
	}
	if h.orchJ != nil {
		for _, step := range steps {
			step.Chunk.Set("__orchestration_jid__", h.orchJ)
		}
	}
	return s.carry(c, steps, left, h)
}

// carry runs steps.
func (s *session) carry(c *loader.Call, all []*low.Step, left []run.Disabled, h how) (any, error) {
	test := python.Truth(s.opts.Value("test"))
	parallel, _ := s.opts.Int("state_max_parallel")
	id := c.JID
	if id == "" {
		id = payload.NewJID(nowTime())
	}
	p := s.performer(c)
	p.Mocked = h.mock
	o := &observer{call: c, opts: s.opts, jid: id, length: len(all)}
	if past := before(c); past != nil && !states.Inside(c) {
		h.done = past.Results
	}
	if !test && !h.mock && !states.Inside(c) {
		o.open(all)
	}
	w := work.New(work.Options{ID: id, Steps: all, How: steps.Options{Test: test,
		Done: h.done, Failhard: python.Truth(s.opts.Value("failhard")), MaxParallel: int(parallel),
		Disabled: disabledReturns(left)},
		Performer: p, Observer: o})
	results, err := w.Carry(c.Ctx)
	if !states.Inside(c) { // an inner run has the ID of the one around it
		if err := accumulator.Forget(s.opts.Str("cachedir"), id); err != nil {
			c.LogAs("salt.state", slog.LevelError, "accumulators: "+loader.Message(err))
		}
	}
	removePause(c, id)
	o.close(err)
	if err != nil {
		return nil, err
	}
	return results, nil
}

// performer performs chunks within the session.
func (s *session) performer(c *loader.Call) *perform.Performer {
	inner := *s.call
	inner.Ctx = c.Ctx
	return &perform.Performer{Call: &inner, States: statesOf(c),
		Reload: func(what perform.Fresh) { s.reload(c, what) }}
}

// disabledReturns are the returns of chunks that somebody has disabled.
func disabledReturns(left []run.Disabled) *payload.Map {
	out := payload.NewMap(len(left))
	for i, d := range left {
		fun := d.Chunk.Str("state") + "." + python.Str(d.Chunk.Value("fun"))
		out.Set(low.Tag(d.Chunk), payload.M("changes", payload.NewMap(0), "result", false, "comment",
			`The state function "`+fun+`" is currently disabled by "`+d.Pattern+`", to re-enable, run state.enable `+
				d.Pattern+".", "__run_num__", int64(i), "__sls__", d.Chunk.Value("__sls__")))
	}
	return out
}

// reload has read anew what a chunk wants.
func (s *session) reload(c *loader.Call, what perform.Fresh) {
	if what.Grains {
		if _, err := c.Call("saltutil.refresh_grains", nil, payload.M("refresh_pillar", false)); err != nil {
			c.LogAs("salt.state", slog.LevelError, "reload_grains: "+loader.Message(err))
		}
	}
	if source := c.Host().Secrets; what.Pillar && source != nil {
		pillar, err := source.Compile(c.Ctx, s.query)
		if err != nil {
			c.LogAs("salt.state", slog.LevelError, "reload_pillar: "+loader.Message(err))
		} else {
			s.pillar.Store(pillar)
		}
	}
	if what.Modules {
		c.Registry().Reload()
		statesOf(c).Reload()
	}
}

// observer fires the events of a run, and looks whether it is paused.
type observer struct {
	call   *loader.Call
	opts   *payload.Map
	jid    string
	length int

	mu   sync.Mutex
	kept *journal.Journal // nil: there is none
}

// open makes the journal of a run. A run whose journal cannot be written goes on: it may be what frees the disk.
func (o *observer) open(all []*low.Step) {
	chunks := make([]*payload.Map, 0, len(all))
	for _, s := range all {
		if !s.Test {
			chunks = append(chunks, s.Chunk)
		}
	}
	load := o.call.Load()
	job := payload.M("fun", o.call.Fun, "arg", load.Value("arg"), "user", load.Value("user"))
	done := payload.NewMap(0)
	if past := before(o.call); past != nil {
		job, done = past.Job, past.Results
	}
	var err error
	o.kept, err = journal.Begin(o.opts.Str("cachedir"), o.jid, job, chunks)
	o.unkept(err)
	for tag, ret := range done.All() {
		o.note(func(j *journal.Journal) error { return j.Ended(tag.(string), ret.(*payload.Map)) })
	}
}

// note writes into the journal, where there is one.
func (o *observer) note(write func(*journal.Journal) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept != nil {
		o.unkept(write(o.kept))
	}
}

// unkept tells that the journal cannot be written, and does without it from then on.
func (o *observer) unkept(err error) {
	if err == nil {
		return
	}
	o.call.LogAs("salt.state", slog.LevelError, "the run of states "+o.jid+
		" has no journal: should it be interrupted, nobody will know how far it came: "+err.Error())
	if o.kept != nil {
		_ = o.kept.Remove() // a journal with a gap would tell wrong things
		o.kept = nil
	}
}

// close ends the journal. The minion removes it when the return of the job is safe; a command line has nobody who does.
func (o *observer) close(err error) {
	if o.kept == nil {
		return
	}
	if err == nil {
		err = o.kept.Finished()
	}
	if err == nil && o.opts.Str("__cli") == "salt-call" {
		err = o.kept.Remove()
	} else {
		err = o.kept.Close()
	}
	if err != nil {
		o.call.LogAs("salt.state", slog.LevelError, "close the journal of the run "+o.jid+": "+err.Error())
	}
}

// Begins notes that a chunk is about to be called.
func (o *observer) Begins(call *steps.Call) error {
	if !call.Test {
		o.note(func(j *journal.Journal) error { return j.Started(low.Tag(call.Step.Chunk)) })
	}
	return nil
}

// Holds waits while somebody has paused the run.
func (o *observer) Holds(ctx context.Context, chunk *payload.Map) bool {
	return held(ctx, pausePath(o.call, o.jid), python.Str(chunk.Value("__id__")))
}

// Ends fires the event of a return: the chunk's own (fire_event), or that of all (state_events). Source: State.event.
func (o *observer) Ends(r *steps.Result) {
	o.note(func(j *journal.Journal) error { return j.Ended(r.Tag, r.Ret) })
	own := r.Chunk.Value("fire_event")
	if python.Truth(o.opts.Value("local")) || !python.Truth(o.opts.Value("state_events")) && !python.Truth(own) ||
		o.call.Host().Events == nil {
		return
	}
	id := o.call.ID
	data := payload.M("ret", r.Ret)
	tag := ""
	switch own := own.(type) {
	case string:
		tag = "salt/state_result/" + o.jid + "/" + id + "/" + own
	default:
		if python.Truth(own) {
			tag = "salt/state_result/" + o.jid + "/" + id + "/" + python.Str(r.Ret.Value("name"))
			break
		}
		tag = "salt/job/" + o.jid + "/prog/" + id + "/" + python.Str(r.Ret.Value("__run_num__"))
		data.Set("len", int64(o.length))
	}
	o.call.Host().Events.FireMaster(o.call.Ctx, tag, data, payload.M("jid", o.jid))
}

// keep writes a file of the minion's cache for Salt's tools. What goes wrong is logged, as in Salt.
func keep(c *loader.Call, name string, v any) {
	path := filepath.Join(c.Opts().Str("cachedir"), name)
	b, err := payload.MarshalBin(v)
	if err == nil {
		err = wholefile.Write(path, b, wholefile.Options{Mode: 0o600})
	}
	if err != nil {
		c.LogAs("salt.loaded.int.module.state", slog.LevelError, "Unable to write to SLS cache file "+path+": "+
			err.Error())
	}
}
