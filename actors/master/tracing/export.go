package tracing

import (
	"context"
	"errors"
	"slices"
	"time"

	"brine/wire/otlp"
)

// Bounds of an export; the numbers are those of OpenTelemetry's batch processor where it has them.
const (
	maxBatch    = 512 // spans in one request
	exportTries = 5
	exportPause = time.Second // before the second try; doubled with each
	lastExport  = 300 * time.Millisecond
)

// What became of spans.
const (
	Sent    = "sent"
	Dropped = "dropped"
)

// spanExport makes the spans of jobs and delivers them. It runs beside the Tracer.
type spanExport struct {
	opt    tracerOptions
	in     <-chan *tracedJob
	batch  []otlp.Resource
	failed bool // the last delivery did not succeed, which was said
}

// run delivers until ctx ends. What has been gathered by then gets one short try.
func (e *spanExport) run(ctx context.Context) error {
	for {
		select {
		case j := <-e.in:
			e.gather(j)
			e.deliver(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastExport)
			defer cancel()
			for len(e.in) > 0 && last.Err() == nil {
				e.gather(<-e.in)
			}
			for len(e.batch) > 0 {
				first, rest := cut(e.batch, maxBatch)
				e.settle(first, e.opt.post(last, first))
				e.batch = rest
			}
			return context.Cause(ctx)
		}
	}
}

// gather adds the spans of a job, and of those that wait as well, until there is a batch.
func (e *spanExport) gather(j *tracedJob) {
	for {
		rs := e.opt.spans(j)
		if rs == nil {
			e.opt.count(Dropped, 1)
		}
		if e.batch = append(e.batch, rs...); count(e.batch) >= maxBatch {
			return
		}
		select {
		case j = <-e.in:
		default:
			return
		}
	}
}

// count is the number of spans.
func count(rs []otlp.Resource) (n int) {
	for _, r := range rs {
		n += len(r.Spans)
	}
	return n
}

// cut splits what is to be delivered: first has most spans or fewer.
func cut(rs []otlp.Resource, most int) (first, rest []otlp.Resource) {
	for i, r := range rs {
		if len(r.Spans) <= most {
			most -= len(r.Spans)
			continue
		}
		first, rest = slices.Clone(rs[:i]), slices.Clone(rs[i:])
		if most > 0 {
			first = append(first, otlp.Resource{Attrs: r.Attrs, Spans: r.Spans[:most]})
			rest[0].Spans = r.Spans[most:]
		}
		return first, rest
	}
	return rs, nil
}

// deliver delivers everything, one batch after the other. One that ctx interrupts stays.
func (e *spanExport) deliver(ctx context.Context) {
	for len(e.batch) > 0 && ctx.Err() == nil {
		first, rest := cut(e.batch, maxBatch)
		err := e.try(ctx, first)
		if ctx.Err() != nil {
			return
		}
		e.settle(first, err)
		e.batch = rest
	}
}

// try sends a batch until it is taken, refused, or has failed too often.
func (e *spanExport) try(ctx context.Context, batch []otlp.Resource) error {
	pause := exportPause
	for n := 1; ; n++ {
		err := e.opt.post(ctx, batch)
		var retry *otlp.RetryError
		if err == nil || !errors.As(err, &retry) || n == exportTries {
			return err
		}
		e.complain(err)
		select {
		case <-time.After(max(pause, retry.After)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause *= 2
	}
}

// settle counts what became of a batch.
func (e *spanExport) settle(batch []otlp.Resource, err error) {
	result := Sent
	switch {
	case err != nil:
		result = Dropped
		e.complain(err)
	case e.failed:
		e.failed = false
		e.opt.log.Warn("traces are delivered again")
	}
	e.opt.count(result, count(batch))
}

// complain says once that traces cannot be delivered, until they can.
func (e *spanExport) complain(err error) {
	if !e.failed {
		e.failed = true
		e.opt.log.Error("traces cannot be delivered", "err", err)
	}
}
