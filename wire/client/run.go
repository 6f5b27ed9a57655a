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

// Return is what one minion had to say to a job: its return, or the reason why there is none.
type Return struct {
	ID      string          // the minion, or the resource that it manages
	Value   any             // the field return
	Retcode int64           // 0 when the minion sent none
	Out     string          // the outputter that the minion names, "" when none
	Data    *payload.Return // all fields of the event; nil when the minion is silent
	Silence Silence         // Answered when there is a return
}

// Run is a published job whose returns come in.
type Run struct {
	Published
	Asked, Told time.Time // when the publish request was sent, and answered

	c      *Client
	job    Job
	stream *stream
	track  tracker
	rounds chan round
	lost   chan []string // minions that did not get the job
	info   string        // jid of the last find_job, "" before the first
	held   [][]byte      // events of other jobs, while the jid of a find_job is not known yet
}

// round is what came of asking about silent minions.
type round struct {
	known Standing // by the master
	asked []string // by find_job, which is pub; empty: it was not published
	pub   Published
	err   error
}

// errRefused is in the place of an error event of the master: somebody may not see these returns.
var errRefused = &RemoteError{Name: "AuthorizationError", Message: "Authorization error occurred."}

// Run publishes a job with the ear already at the event bus, so that no return is missed. Errors are those of
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

// Close ends a Run whose Returns are not read.
func (r *Run) Close() { r.stream.close() }

// Returns gives the returns as they come, then the silent minions, sorted. It ends when nothing more can come
// (see cli.md 4: a minion that still runs the job is waited for without limit). It can be read once, and
// leaves nothing behind when the reader stops early. An error is the last thing it gives: the cause of ctx,
// or a refusal of the master.
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

// seekLost asks beside the wait for returns who did not get the job; the outcome comes by lost. The function that comes
// back waits for the end of that; ctx has ended then.
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

// report gives the silent minions.
func (r *Run) report(yield func(Return, error) bool) {
	for _, ret := range r.track.silences() {
		if !yield(ret, nil) {
			return
		}
	}
}

// sleep waits for events, for the outcome of find_job, or until a time.
func (r *Run) sleep(ctx context.Context, timer *time.Timer, until time.Time) error {
	var alarm <-chan time.Time
	if !until.IsZero() {
		timer.Reset(time.Until(until) + time.Millisecond) // the rules say later than, not at
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

// drain handles what has come in and reports whether the reader wants more.
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

// onEvent takes an event of the job. It may be a return. Each kind is believed under its own tag only: minions fire
// events under tags of a job as well, and a real master lets them say there what they want.
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

// onInfo takes an event of the last find_job.
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

// awaitRound waits for a find_job under way; its context has ended.
func (r *Run) awaitRound() {
	if r.track.asking {
		<-r.rounds
	}
}

// own are the ids for whose returns nobody else waits.
func (r *Run) own(ids []string) []string {
	if r.job.Others == nil {
		return ids
	}
	return slices.DeleteFunc(ids, r.job.Others)
}

// picker tells which events are those of the job that this Run waits for.
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

// isJobTag picks the events that may belong to a job.
func isJobTag(tag string) bool {
	return strings.HasPrefix(tag, "salt/job/") || strings.HasPrefix(tag, "syndic/")
}

// belongs reports whether a tag is one of a job: salt/job/JID/..., or what a syndic forwards of it: syndic/MASTER/JID,
// and syndic/MASTER/salt/job/JID/new.
func belongs(tag, jid string) bool {
	if rest, ok := strings.CutPrefix(tag, "salt/job/"); ok {
		return strings.HasPrefix(rest, jid) && (len(rest) == len(jid) || rest[len(jid)] == '/')
	}
	rest, ok := strings.CutPrefix(tag, "syndic/")
	return ok && (strings.HasSuffix(rest, "/"+jid) || strings.HasSuffix(rest, "/"+event.TagJobNew(jid)))
}
