package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/payload"
)

// Burst is the outcome of many requests sent at once. The requests are packed before the clock starts, and the
// replies are checked after it stops. The measured time is therefore the master's.
type Burst struct {
	Sent    int // requests with a reply
	Refused int // of these, requests with an unexpected reply
	Took    time.Duration
	Err     error // the first error
}

// Rate is the number of answered requests per second.
func (b Burst) Rate() float64 { return float64(b.Sent) / b.Took.Seconds() }

// shot is one request of a burst and its reply.
type shot struct {
	m     *emulated
	frame []byte
	nonce string
	reply []byte
	err   error
}

// Returns lets every minion return each of the jobs. At most atOnce requests are in progress at a time.
func (f *Fleet) Returns(ctx context.Context, jids []string, atOnce int) (Burst, error) {
	var shots []shot
	for _, jid := range jids {
		for _, m := range f.minions {
			frame, nonce, err := m.auth.Seal(m.ret(jid, "test.ping", []any{}, true))
			if err != nil {
				return Burst{}, fmt.Errorf("pack return of %s: %w", m.id, err)
			}
			shots = append(shots, shot{m: m, frame: frame, nonce: nonce})
		}
	}
	return f.fire(ctx, shots, atOnce, func(s *shot) error {
		answer, err := s.m.auth.Open(s.reply, s.nonce)
		if err != nil {
			return err
		}
		return payload.ReturnTaken(answer)
	})
}

// SignIns lets every minion sign in the given number of times. It checks that the replies contain keys, but
// does not decrypt them. The minions keep their old keys.
func (f *Fleet) SignIns(ctx context.Context, times, atOnce int) (Burst, error) {
	var shots []shot
	for range times {
		for _, m := range f.minions {
			frame, err := m.auth.Request()
			if err != nil {
				return Burst{}, fmt.Errorf("pack sign-in of %s: %w", m.id, err)
			}
			shots = append(shots, shot{m: m, frame: frame})
		}
	}
	return f.fire(ctx, shots, atOnce, func(s *shot) error { return accepted(s.reply) })
}

// accepted checks that the reply to a sign-in has the form of an acceptance.
func accepted(reply []byte) error {
	outer, err := payload.UnmarshalMap(reply)
	if err != nil {
		return fmt.Errorf("sign-in: %w", err)
	}
	inner, err := payload.UnmarshalMap(outer.Bytes("load"))
	if err != nil {
		return fmt.Errorf("sign-in: %w", err)
	}
	if !inner.Has("aes") || !inner.Has("pub_key") || len(outer.Bytes("sig")) == 0 {
		return errors.New("sign-in: the reply is no acceptance")
	}
	return nil
}

// fire sends the shots in order and checks the replies.
func (f *Fleet) fire(ctx context.Context, shots []shot, atOnce int, judge func(*shot) error) (Burst, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(shots)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				shots[i].reply, shots[i].err = f.do(shots[i].frame, patience)
			}
		})
	}
	wg.Wait()
	b := Burst{Took: time.Since(start)}
	if ctx.Err() != nil {
		return b, context.Cause(ctx)
	}
	for i := range shots {
		b.judge(&shots[i], judge)
	}
	return b, nil
}

func (b *Burst) judge(s *shot, judge func(*shot) error) {
	err := s.err
	if err == nil {
		b.Sent++
		if err = judge(s); err != nil {
			b.Refused++
		}
	}
	if err != nil && b.Err == nil {
		b.Err = err
	}
}
