package client

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"brine/wire/event"
	"brine/wire/payload"
)

// Return is the outcome of a job on one minion: its return, or the reason why there is none.
type Return struct {
	ID      string          // the minion, or the resource that it manages
	Value   any             // the field return
	Retcode int64           // 0 if the minion sent none
	Out     string          // the minion's outputter, "" if it names none
	Data    *payload.Return // all fields of the event; nil if the minion is silent
	Silence Silence         // Answered if there is a return
}

// Run is a published job that is collecting its returns.
type Run struct {
	Published
	Asked, Told time.Time // the times of the publish request and of its answer

	c      *Client
	job    Job
	stream *stream
	track  tracker
	rounds chan round
	lost   chan []string // minions that did not get the job
	info   string        // jid of the last find_job, "" before the first
	held   [][]byte      // events of other jobs, while the jid of find_job is unknown
}

// round is the result of asking about silent minions.
type round struct {
	known Standing // from the master
	asked []string // minions of find_job, which is pub; empty: it was not published
	pub   Published
	err   error
}

// errRefused replaces an error event of the master: the user may not see these returns.
var errRefused = &RemoteError{Name: "AuthorizationError", Message: "Authorization error occurred."}

// Run publishes a job. It subscribes to the event bus before that, so that it misses no return. Errors are those of
// Publish and ErrNoBus. The caller reads Returns or calls Close.
func (c *Client) Run(ctx context.Context, job Job) (*Run, error) {
	if err := c.MasterHere(); err != nil {
		return nil, err
	}
	stream, err := c.listen(ctx, isJobTag) // the jid is not known yet
	if err != nil {
		return nil, err
	}
	asked := time.Now()
	pub, err := c.Publish(ctx, job)
	if err != nil {
		stream.close()
		return nil, err
	}
	r := &Run{Published: pub, Asked: asked, Told: time.Now(), c: c, job: job, stream: stream, rounds: make(chan round,
		1), lost: make(chan []string, 1)}
	r.narrow()
	r.track = tracker{
		timeout: c.opt.Timeout, gather: c.opt.GatherJobTimeout, grace: unknownGrace,
		syndicWait: c.opt.SyndicWait, ordered: c.opt.OrderMasters,
	}
	if job.Timeout > 0 {
		r.track.timeout = job.Timeout
	}
	if job.GatherJobTimeout > 0 {
		r.track.gather = job.GatherJobTimeout
	}
	now := time.Now()
	r.track.start(now, pub.Minions)
	r.track.missing = append(r.track.missing, pub.Missing...)
	return r, nil
}

// Close ends a Run if the caller does not read its Returns.
func (r *Run) Close() { r.stream.close() }

// Returns yields the returns as they arrive, then the silent minions, sorted. It ends when no more returns can come
// (see cli.md 4: it waits without limit for a minion that still runs the job). It can be read once. If the reader stops
// early, no goroutine remains. An error is the last element: the cause of ctx, or a refusal of the master.
func (r *Run) Returns(ctx context.Context) iter.Seq2[Return, error] {
	return func(yield func(Return, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer r.stream.close()
		defer r.awaitRound()
		defer r.seekLost(ctx)()
		defer cancel()
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			if more := r.drain(yield); !more {
				return
			}
			what, until := r.track.next(time.Now())
			switch what {
			case done:
				r.report(yield)
				return
			case ask:
				r.ask(ctx)
			}
			if err := r.sleep(ctx, timer, until); err != nil {
				yield(Return{}, err)
				return
			}
		}
	}
}

// seekLost finds out which minions did not get the job, while Returns waits for returns, and sends them to lost. The
// returned function waits for its end, after the end of ctx.
func (r *Run) seekLost(ctx context.Context) (wait func()) {
	if r.c.opt.Gone == nil || len(r.Minions) == 0 {
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.lost <- r.c.opt.Gone(ctx, r.JID, r.Minions)
	}()
	return func() { <-ended }
}

// report yields the silent minions.
func (r *Run) report(yield func(Return, error) bool) {
	for _, ret := range r.track.silences() {
		if !yield(ret, nil) {
			return
		}
	}
}

// sleep waits for events, for the result of find_job, or until a time.
func (r *Run) sleep(ctx context.Context, timer *time.Timer, until time.Time) error {
	var alarm <-chan time.Time
	if !until.IsZero() {
		timer.Reset(time.Until(until) + time.Millisecond) // the rules say later than that time, not at it
		alarm = timer.C
	}
	select {
	case <-r.stream.more:
	case <-alarm:
	case round := <-r.rounds:
		r.onRound(round)
	case ids := <-r.lost:
		r.track.gone(time.Now(), NotConnected, ids...)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// drain handles the events that have arrived, and reports whether the reader wants more.
func (r *Run) drain(yield func(Return, error) bool) bool {
	bodies := r.stream.take()
	if !r.track.asking {
		bodies, r.held = append(r.held, bodies...), nil
	}
	picked := r.picker()
	for _, body := range bodies {
		tag := event.Tag(body)
		mine, info := picked(tag), r.info != "" && belongs(tag, r.info)
		if !mine && r.track.asking {
			r.held = append(r.held, body)
			continue
		}
		if !mine && !info {
			continue
		}
		_, data, err := event.Unpack(body)
		if err != nil {
			r.c.log.Warn("event not readable", "tag", tag, "err", err)
			continue
		}
		if info {
			r.onInfo(tag, data)
			continue
		}
		ret, ok, err := r.onEvent(tag, data)
		if err != nil {
			yield(Return{}, err)
			return false
		}
		if ok && !yield(ret, nil) {
			return false
		}
	}
	return true
}

// onEvent handles an event of the job, which may be a return. It accepts each kind only under the right tag: minions
// can also fire events under tags of a job, and a real master lets them use any data.
func (r *Run) onEvent(tag string, data *payload.Map) (Return, bool, error) {
	if event.ByMinion(data) {
		return Return{}, false, nil
	}
	switch {
	case tag == event.TagJobError(r.JID) && event.Refuses(data):
		return Return{}, false, errRefused
	case tag == event.TagJobNew(r.JID), r.track.ordered && strings.HasPrefix(tag, "syndic/"):
		expect := r.track.expect
		if tag != event.TagJobNew(r.JID) {
			expect = r.track.expectBelow
		}
		job := event.ReadJob(data)
		expect(r.own(job.Minions))
		r.track.missing = append(r.track.missing, r.own(job.Missing)...)
		return Return{}, false, nil
	}
	ret := readReturn(payload.NewReturn(data))
	if tag != event.TagJobReturn(r.JID, ret.ID) || !ret.Data.HasValue() {
		return Return{}, false, nil
	}
	if ret.ID == "" || !r.track.returned(time.Now(), ret.ID) {
		r.c.log.Debug("return is not the first or names nobody", "jid", r.JID, "minion", ret.ID)
		return Return{}, false, nil
	}
	return ret, true, nil
}

func readReturn(ret *payload.Return) Return {
	id, _ := ret.Resource()
	if id == "" {
		id = ret.ID()
	}
	return Return{ID: id, Value: ret.Value(), Retcode: ret.Code(), Out: ret.Out(), Data: ret}
}

// onInfo handles an event of the last find_job.
func (r *Run) onInfo(tag string, data *payload.Map) {
	ret := payload.NewReturn(data)
	now, id := time.Now(), ret.ID()
	if tag != event.TagJobReturn(r.info, id) || event.ByMinion(data) {
		return
	}
	if ret.Code() > 0 {
		r.c.log.Error("saltutil returning errors on minion", "minion", id)
		r.track.gone(now, FindJobError, id)
		return
	}
	switch v := ret.Value().(type) {
	case *payload.Map:
		if inner, ok := payload.NewReturn(v).Value().(*payload.Map); v.Len() == 0 || ok && inner.Len() == 0 {
			r.track.foundIdle(now, id)
		} else {
			r.track.foundRunning(now, id)
		}
	default:
		r.c.log.Error("unexpected return of find_job", "minion", id, "jid", r.info)
	}
}

// awaitRound waits for a running find_job; its context has ended.
func (r *Run) awaitRound() {
	if r.track.asking {
		<-r.rounds
	}
}

// own returns the ids for which no other Run waits.
func (r *Run) own(ids []string) []string {
	if r.job.Others == nil {
		return ids
	}
	return slices.DeleteFunc(ids, r.job.Others)
}

// picker returns a function that recognizes the events of this Run's job.
func (r *Run) picker() func(tag string) bool {
	jid, others, returns := r.JID, r.job.Others, event.TagJobReturn(r.JID, "")
	return func(tag string) bool {
		if id, ok := strings.CutPrefix(tag, returns); ok && others != nil && others(id) {
			return false
		}
		return belongs(tag, jid)
	}
}

func (r *Run) narrow() {
	mine, info := r.picker(), r.info
	r.stream.narrow(func(tag string) bool { return mine(tag) || info != "" && belongs(tag, info) })
}

// isJobTag recognizes events that may belong to a job.
func isJobTag(tag string) bool {
	return strings.HasPrefix(tag, "salt/job/") || strings.HasPrefix(tag, "syndic/")
}

// belongs reports whether a tag belongs to a job: salt/job/JID/..., or an event that a syndic forwards:
// syndic/MASTER/JID, and syndic/MASTER/salt/job/JID/new.
func belongs(tag, jid string) bool {
	if rest, ok := strings.CutPrefix(tag, "salt/job/"); ok {
		return strings.HasPrefix(rest, jid) && (len(rest) == len(jid) || rest[len(jid)] == '/')
	}
	rest, ok := strings.CutPrefix(tag, "syndic/")
	return ok && (strings.HasSuffix(rest, "/"+jid) || strings.HasSuffix(rest, "/"+event.TagJobNew(jid)))
}
