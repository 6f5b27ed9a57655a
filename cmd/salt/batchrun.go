package salt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/modules/fleet/batch"
	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// batchRun drives a batch from this tool.
type batchRun struct {
	*saltTool
	bus    *masterlink.Bus
	state  *batch.State
	cred   *payload.Map
	quiet  bool // --static: salt prints nothing until the end
	news   chan batchNews
	next   *batchNews      // arrived with the last news, and is handled after it
	merged *payload.Map    // id → return, for --static
	code   int             // the highest exit code of a return
	whole  *batch.Whole    // a target for all minions of the batch at once; nil: only a list of their ids is
	taken  map[string]bool // minions that have returned
	in     map[string]bool // the minions of the batch, once there are several publications
	pace   batch.Pace      // of the progress events

	way  *hops         // facts of the job; nil before it is published
	down chan []string // delivers the reasons why minions did not answer the ping; nil: no reasons are expected
}

// batchNews is something that happened while a batch runs.
type batchNews struct {
	ret    *client.Return // may be the silence of a minion
	silent []string       // ids whose publication ended without their return
	halt   string         // why a user stopped the batch
	err    error          // the returns of a publication cannot be read any more
}

// runBatch runs the command line as a batch. With --static it shows all results at the end.
func (t *saltTool) runBatch(ctx context.Context) error {
	cred, err := masterlink.JobCredentials(ctx, t.Session, t.wire)
	if err != nil {
		return err
	}
	b := &batchRun{saltTool: t, bus: masterlink.NewBus(t.Session), cred: cred, quiet: t.Opt.Bool("static"),
		news: make(chan batchNews, batchTogether), taken: map[string]bool{}, merged: payload.NewMap(0)}
	if t.Opt.Bool("async") && t.Opt.Bool("batch") && b.masterRunsBatches(ctx) {
		err = b.handOver(ctx)
	} else {
		err = b.run(ctx)
	}
	var no *masterlink.Refusal
	if errors.As(err, &no) {
		return masterlink.Uncaught(t.Session, "salt.exceptions.SaltClientError", err)
	}
	return err
}

// spec returns the batch that the options describe.
func (b *batchRun) spec(driver string) batch.Spec {
	size := b.Opt.Get("batch")
	if !b.Opt.Bool("batch") {
		size = "100%"
	}
	wait, _ := b.Opt.Get("batch_wait").(float64)
	if n, ok := b.Opt.Get("batch_wait").(int64); ok {
		wait = float64(n)
	}
	return batch.Spec{JID: payload.NewUniqueJID(time.Now(), b.Master.UniqueJID), Fun: b.cmd.fun, Arg: b.cmd.arg,
		Tgt: b.cmd.tgt, TgtType: b.cmd.tgtType, Ret: b.Opt.Str("return"), User: b.Master.User, Driver: driver,
		Size: size, Failhard: b.Opt.Bool("failhard"), Wait: time.Duration(wait * float64(time.Second)),
		Timeout: b.timeout(), Gather: b.Master.GatherJobTimeout}
}

// run pings the target, works through the minions that answer, and ends the tool.
func (b *batchRun) run(ctx context.Context) error {
	up, down, err := b.ping(ctx)
	if err != nil {
		return err
	}
	if len(up) == 0 {
		b.explain(ctx)
		return b.noReturn()
	}
	if b.state, err = batch.New(b.spec(batch.ByCLI), up, time.Now()); err != nil {
		return masterlink.Uncaught(b.Session, "salt.exceptions.SaltInvocationError", err)
	}
	b.tell(ctx, "new")
	words := masterlink.InterruptText(b.state.JID)
	b.LastWords.Store(&words)
	b.sayDown(down)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go b.watchHalt(ctx)
	err = b.work(ctx)
	if _, halted := b.state.Halted(); halted {
		b.tell(ctx, "halted")
	} else {
		b.tell(ctx, "complete")
	}
	if err != nil {
		return err
	}
	defer b.way.tell()()
	err = b.end()
	b.explain(ctx)
	return err
}

// noReturn ends a batch without minions.
func (b *batchRun) noReturn() error {
	if b.quiet {
		return b.saltTool.noReturn()
	}
	return tool.Exit(tool.ExitNoReturn, "ERROR: No return received")
}

// end shows the results that --static has gathered, or ends with the highest exit code.
func (b *batchRun) end() error {
	if b.quiet {
		fun := ""
		if f, ok := b.cmd.fun.(string); ok {
			fun = f
		}
		if b.cmd.doc {
			return b.showDocs(b.merged)
		}
		return display.Show(b.Session, b.merged, display.How{Fun: fun, Minions: true})
	}
	if b.code != 0 {
		return tool.Exit(b.code, "")
	}
	return nil
}

// ping finds out which of the target's minions answer.
func (b *batchRun) ping(ctx context.Context) (up, down []string, err error) {
	tgt, tgtType, err := b.wireTarget()
	if err != nil {
		return nil, nil, err
	}
	job := client.Job{Tgt: tgt, TgtType: tgtType, Fun: "test.ping", Kwargs: b.cred, Timeout: b.timeout()}
	run, err := b.wire.Run(ctx, job)
	if err != nil {
		return nil, nil, masterlink.ClientError(b.Session, err)
	}
	if !masterlink.Published(b.Session, run.Published) {
		run.Close()
		b.explainNobody(ctx, job)
		if !b.quiet {
			fmt.Fprintln(b.Stdout, "No minions matched the target.")
		}
		return nil, nil, nil
	}
	way := b.hops(run)
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, nil, masterlink.ClientError(b.Session, err)
		}
		way.see(ret)
		switch ret.Silence {
		case client.Answered:
			up = append(up, ret.ID)
		case client.Unknown:
		default:
			down = append(down, ret.ID)
		}
	}
	defer way.tell()()
	b.askDown(ctx, way)
	b.whole = batch.WholeOf(tgt, tgtType, run.Minions, up, down)
	return up, down, nil
}

// work publishes jobs and takes returns until the batch is finished.
func (b *batchRun) work(ctx context.Context) error {
	var returns []batch.Return
	var silent []string
	for {
		publish, changed := b.state.Step(time.Now(), returns, silent)
		if b.pace.Due(changed) {
			b.pace.Tell(func() { b.tell(ctx, "progress") })
		}
		if len(publish) > 0 {
			if err := b.publish(ctx, publish); err != nil {
				return err
			}
		}
		if err := b.showReturns(ctx, returns); err != nil {
			return err
		}
		b.addEmpty(silent)
		if b.state.Finished() {
			return nil
		}
		var err error
		if returns, silent, err = b.await(ctx); err != nil {
			return err
		}
	}
}

// publish sends the job to the next minions and follows their returns.
func (b *batchRun) publish(ctx context.Context, ids []string) error {
	if !b.quiet {
		fmt.Fprintf(b.Stdout, "\nExecuting run on %s\n\n",
			python.Repr(payload.AnyList(slices.Sorted(slices.Values(ids)))))
	}
	job := b.turn(ids)
	run, err := b.wire.Run(ctx, job)
	if err != nil {
		return masterlink.ClientError(b.Session, err)
	}
	if job.TgtType != "list" {
		ids = append(ids, b.state.Adopt(time.Now(), run.Minions)...)
	}
	ok := masterlink.Published(b.Session, run.Published)
	if !ok {
		b.explainNobody(ctx, job)
	} else if b.way == nil {
		b.way = b.hops(run)
		b.way.takeTurns(b.state.All())
	}
	go func() {
		defer b.send(ctx, batchNews{silent: ids})
		if !ok {
			run.Close()
			return
		}
		for ret, err := range run.Returns(ctx) {
			if err != nil {
				b.send(ctx, batchNews{err: err})
				return
			}
			b.send(ctx, batchNews{ret: &ret})
		}
	}()
	return nil
}

// turn returns the job for the next minions.
func (b *batchRun) turn(ids []string) client.Job {
	job := client.Job{Tgt: payload.AnyList(ids), TgtType: "list", Fun: b.state.Fun, Arg: b.state.Arg, Ret: b.state.Ret,
		JID: b.state.JID, Kwargs: b.cred, Timeout: b.state.Timeout}
	if b.whole != nil && len(ids) == len(b.state.All()) {
		job.Tgt, job.TgtType = b.whole.Tgt, b.whole.Kind
		return job
	}
	job.Others = b.others(ids)
	return job
}

// others returns a function that tells whether a minion of the batch gets the job by another publication.
func (b *batchRun) others(ids []string) func(id string) bool {
	if b.in == nil {
		b.in = setOf(b.state.All())
	}
	all, own := b.in, setOf(ids)
	return func(id string) bool { return all[id] && !own[id] }
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func (b *batchRun) send(ctx context.Context, n batchNews) {
	select {
	case b.news <- n:
	case <-ctx.Done():
	}
}

// watchHalt waits for an event that stops the batch (batch.stop).
func (b *batchRun) watchHalt(ctx context.Context) {
	events, err := b.wire.Watch(ctx, event.TagBatch(b.state.JID, "halted"))
	if err != nil {
		b.Log.Debug("batch cannot be stopped from outside", "err", err)
		return
	}
	defer func() { _ = events.Close() }()
	for {
		body, err := events.Next(ctx)
		if err != nil {
			return
		}
		_, data, err := event.Unpack(body)
		if halt := event.ReadBatchHalt(data); err == nil && halt.JID == b.state.JID {
			b.send(ctx, batchNews{halt: halt.Reason})
			return
		}
	}
}
