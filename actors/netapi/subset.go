package netapi

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"brine/actors/netapi/aside"
	"brine/modules/fleet/batch"
	"brine/modules/netapi"
	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// localSubset runs a job on some of the minions that have the function: subset, 3, which sub may name too.
func (s *Server) localSubset(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
	job, err := s.job(low)
	if err != nil {
		return nil, err
	}
	most, err := whole(low, 3, "sub", "subset")
	if err != nil {
		return nil, err
	}
	ask := job
	ask.Fun, ask.Arg, ask.Ret, ask.JID = "sys.list_functions", nil, "", ""
	have, err := s.gather(ctx, ask, false, note)
	if err != nil {
		return nil, err
	}
	ids := have.Keys()
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	var chosen []any
	for _, id := range ids {
		if hasFunction(have.Value(id), job.Fun) {
			chosen = append(chosen, id)
		}
		if len(chosen) >= most { // Salt looks only now, so that there is one at least
			break
		}
	}
	if len(chosen) == 0 {
		return payload.NewMap(0), nil
	}
	job.Tgt, job.TgtType = chosen, "list"
	return s.gather(ctx, job, low.Value("full_return"), note)
}

func hasFunction(functions, fun any) bool {
	list, _ := functions.([]any)
	for _, f := range list {
		if f == fun {
			return true
		}
	}
	return false
}

// whole reads a whole number under the first of some names that stands there.
func whole(low *payload.Map, std int, names ...string) (int, error) {
	for _, name := range names {
		switch v := low.Value(name).(type) {
		case nil:
			continue
		case int64:
			return int(min(v, 1<<30)), nil
		case string:
			if n, err := strconv.Atoi(v); err == nil {
				return n, nil
			}
		}
		return 0, netapi.ErrUnexpected
	}
	return std, nil
}

// batchRun is a batch that a request waits for.
type batchRun struct {
	*Server
	job   client.Job
	state *batch.State
	raw   bool
	news  chan batchNews
	out   Several
}

// batchNews is a return, or the end of a publication.
type batchNews struct {
	ret *client.Return
	err error
}

// localBatch runs a job on so many minions at a time: one result for each that returns, in that order.
func (s *Server) localBatch(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
	job, err := s.job(low)
	if err != nil {
		return nil, err
	}
	size := low.Value("batch")
	if size == nil {
		size = "10%"
	}
	wait, err := seconds(low, "batch_wait")
	if err != nil {
		return nil, err
	}
	ping := job
	ping.Fun, ping.Arg, ping.Ret, ping.JID = "test.ping", nil, "", ""
	up, err := s.answering(ctx, ping)
	if err != nil || len(up) == 0 {
		return Several{}, err
	}
	if job.JID == "" {
		job.JID = payload.NewUniqueJID(time.Now(), s.opt.Master.UniqueJID)
	}
	note("batch " + job.JID + " " + python.Str(job.Fun))
	state, err := batch.New(batch.Spec{JID: job.JID, Fun: job.Fun, Arg: job.Arg, Size: size, Wait: wait,
		Failhard: python.Truth(low.Value("failhard"))}, up, time.Now())
	if err != nil {
		return nil, netapi.BadRequest(err.Error())
	}
	b := &batchRun{Server: s, job: job, state: state, raw: python.Truth(low.Value("raw")), news: make(chan batchNews),
		out: Several{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return b.work(ctx)
}

// answering are the minions of a target that answer a ping.
func (s *Server) answering(ctx context.Context, ping client.Job) ([]string, error) {
	run, err := s.opt.Client.Run(ctx, ping)
	if err != nil {
		return nil, err
	}
	var up []string
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, err
		}
		if ret.Silence == client.Answered {
			up = append(up, ret.ID)
		}
	}
	return up, nil
}

// work goes through the batch.
func (b *batchRun) work(ctx context.Context) (any, error) {
	var returns []batch.Return
	var silent []string
	for {
		next, _ := b.state.Step(time.Now(), returns, silent)
		if len(next) > 0 {
			aside.Go(b.opt.Logger, "batch", func(err error) {
				b.tell(ctx, batchNews{err: err})
			}, func() { b.publish(ctx, next) })
		}
		if b.state.Finished() {
			return b.out, nil
		}
		returns, silent = nil, nil
		var alarm <-chan time.Time
		if at := b.state.Wake(); !at.IsZero() {
			timer := time.NewTimer(time.Until(at))
			defer timer.Stop()
			alarm = timer.C
		}
		select {
		case n := <-b.news:
			if n.err != nil {
				return nil, n.err
			}
			if n.ret.Silence != client.Answered {
				silent = []string{n.ret.ID}
				b.out = append(b.out, payload.M(n.ret.ID, payload.NewMap(0)))
				continue
			}
			returns = []batch.Return{{ID: n.ret.ID, Data: payload.M("ret", n.ret.Value), Retcode: int(n.ret.Retcode)}}
			b.out = append(b.out, b.element(n.ret))
		case <-alarm:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (b *batchRun) element(ret *client.Return) any {
	if b.raw {
		return payload.M("data", ret.Data.Map(), "tag", event.TagJobReturn(ret.Data.JID(), ret.ID))
	}
	return payload.M(ret.ID, ret.Value)
}

// publish sends the job to some minions and tells of each of them once.
func (b *batchRun) publish(ctx context.Context, ids []string) {
	left := make(map[string]bool, len(ids))
	for _, id := range ids {
		left[id] = true
	}
	mine := make(map[string]bool, len(ids))
	for _, id := range ids {
		mine[id] = true
	}
	job := b.job
	job.Tgt, job.TgtType = payload.AnyList(ids), "list"
	job.Others = func(id string) bool { return !mine[id] }
	run, err := b.opt.Client.Run(ctx, job)
	if err == nil {
		for ret, bad := range run.Returns(ctx) {
			if err = bad; err != nil {
				break
			}
			if left[ret.ID] {
				delete(left, ret.ID)
				b.tell(ctx, batchNews{ret: &ret})
			}
		}
	}
	if err != nil {
		b.tell(ctx, batchNews{err: err})
		return
	}
	for id := range left {
		b.tell(ctx, batchNews{ret: &client.Return{ID: id, Silence: client.NoResponse}})
	}
}

func (b *batchRun) tell(ctx context.Context, n batchNews) {
	select {
	case b.news <- n:
	case <-ctx.Done():
	}
}
