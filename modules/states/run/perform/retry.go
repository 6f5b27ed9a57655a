package perform

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// again says how a chunk is tried again.
type again struct {
	until                     bool
	attempts, interval, splay int64 // interval and splay are seconds
}

// againOf reads the argument retry; what is of a wrong type counts as the default (State.verify_retry_data).
func againOf(v any) again {
	out := again{until: true, attempts: 2, interval: 30}
	switch v := v.(type) {
	case bool:
		if !v {
			out.attempts = 0
		}
	case *payload.Map:
		if until, ok := v.Value("until").(bool); ok {
			out.until = until
		}
		for key, to := range map[string]*int64{"attempts": &out.attempts, "interval": &out.interval, "splay": &out.splay} {
			if n, ok := v.Int(key); ok {
				*to = n
			}
		}
	}
	return out
}

// pause is how long to wait before the next attempt.
func (a again) pause() time.Duration {
	seconds := a.interval
	if a.splay > 0 {
		seconds += rand.Int64N(a.splay + 1)
	}
	return time.Duration(seconds) * time.Second
}

// retry tries a chunk again until its result is as wanted.
func (p *Performer) retry(ctx context.Context, chunk *payload.Map, test, beside bool, first Outcome) Outcome {
	a := againOf(chunk.Value("retry"))
	if test {
		first.Ret.Set("comment", fmt.Sprintf("%sThe state would be retried every %d seconds (with a splay of up to %d "+
			"seconds) a maximum of %d times or until a result of %s is returned", first.Ret.Str("comment")+"  ",
			a.interval, a.splay, a.attempts, python.Str(a.until)))
		return first
	}
	told, waited, last := "", time.Duration(0), first
	for last.Ret.Value("result") != any(a.until) && int64(last.Runs) < a.attempts && ctx.Err() == nil {
		pause := a.pause()
		p.sleep(ctx, pause)
		if ctx.Err() != nil {
			break
		}
		told += fmt.Sprintf("Attempt %d: Returned a result of \"%s\", with the following comment: \"%s\"\n", last.Runs,
			python.Str(last.Ret.Value("result")), last.Ret.Str("comment"))
		next := p.attempt(ctx, chunk, test, beside)
		next.Runs = last.Runs + 1
		waited += pause + time.Duration(last.Duration*1e6)
		last = next
	}
	if last.Runs > 1 {
		last.Ret.Set("comment", told+last.Ret.Str("comment"))
		last.Start, last.Duration = first.Start, last.Duration+milliseconds(waited)
	}
	return last
}

func (p *Performer) sleep(ctx context.Context, d time.Duration) {
	if p.Sleep != nil {
		p.Sleep(ctx, d)
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
