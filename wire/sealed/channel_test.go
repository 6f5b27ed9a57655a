package sealed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/transport"
)

// script is a session and a master that answer by a list. The tests of minions, salt-call and fleets use real ones.
type script struct {
	replies  []error // of Exchange, in order; the last one repeats
	opens    []error // of Open
	seals    int
	frames   []string
	nonces   []string // with which answers were opened
	renewals []int64  // the session numbers that Renew received
	renew    error
	number   int64
}

var errOdd = errors.New("odd")

func turn(list []error, n int) error {
	if len(list) == 0 {
		return nil
	}
	return list[min(n, len(list)-1)]
}

func (s *script) Seal(*payload.Map) ([]byte, string, error) {
	s.seals++
	return []byte(fmt.Sprint("frame", s.seals)), fmt.Sprint("nonce", s.seals), nil
}

func (s *script) Open(_ []byte, nonce string) (any, error) {
	s.nonces = append(s.nonces, nonce)
	if err := turn(s.opens, len(s.nonces)-1); err != nil {
		return nil, err
	}
	return "answer", nil
}

func (s *script) OpenPillar([]byte, string) (*payload.Map, error) {
	return payload.M("a", "pillar"), nil
}

func (s *script) exchange(ctx context.Context, frame []byte) ([]byte, error) {
	s.frames = append(s.frames, string(frame))
	if ctx.Err() != nil {
		return nil, OutOfTime(ctx)
	}
	return nil, turn(s.replies, len(s.frames)-1)
}

func (s *script) channel() *Channel {
	return &Channel{Session: s, Exchange: s.exchange, Number: func() int64 {
		return s.number
	}, Clock: instant{}, Silence: errOdd,
		Renew: func(_ context.Context, after int64) error {
			s.renewals = append(s.renewals, after)
			s.number++
			return s.renew
		}}
}

// instant is a clock whose pauses end at once.
type instant struct{}

func (instant) AfterFunc(_ time.Duration, f func()) func() bool {
	go f()
	return func() bool { return false }
}

func TestAsk(t *testing.T) {
	lost, silent := fmt.Errorf("x: %w", transport.ErrLost), fmt.Errorf("x: %w", transport.ErrTimeout)
	reauth := fmt.Errorf("x: %w", auth.ErrReauth)
	all := Rules{Tries: 3, Renewals: 2, Insist: true}
	for _, tt := range []struct {
		name    string
		s       script
		rules   Rules
		cmd     string
		want    error // nil: the answer
		text    string
		tries   int
		renewed int
	}{
		{"at once", script{}, all, "_x", nil, "", 1, 0},
		{"at the third try", script{replies: []error{silent, silent, nil}}, all, "_x", nil, "", 3, 0},
		{"never", script{replies: []error{silent}}, all, "_x", errOdd, "request _x: odd: x: ", 3, 0},
		{"never, one try", script{replies: []error{silent}}, Rules{}, "_x", transport.ErrTimeout, "", 1, 0},
		{"another error", script{replies: []error{crypt.ErrBadMAC}}, all, "_x", crypt.ErrBadMAC, "request _x: ", 1, 0},
		{"another error that passes", script{replies: []error{errOdd, nil}}, Rules{Tries: 2, Pause: time.Hour,
			Again: func(err error) bool {
				return err == errOdd
			}}, "_x", nil, "", 2, 0},
		{"lost", script{replies: []error{lost, lost, lost, lost, nil}}, Rules{Insist: true}, "_x", nil, "", 5, 0},
		{"lost, not to be repeated", script{replies: []error{lost, nil}}, all, payload.CmdMinionPub, transport.ErrLost, "", 1,
			0},
		{"lost, nobody insists", script{replies: []error{lost, nil}}, Rules{Tries: 3}, "_x", transport.ErrLost, "", 1, 0},
		{"the session has ended", script{opens: []error{reauth, nil}}, Rules{Renewals: 1}, "_x", nil, "", 2, 1},
		{"there was none", script{replies: []error{auth.ErrNotSignedIn, nil}}, all, "_x", nil, "", 2, 1},
		{"it ends each time", script{opens: []error{reauth}}, all, "_x", auth.ErrReauth, "refuses the renewed session",
			3, 2},
		{"no new one", script{opens: []error{reauth}, renew: errOdd}, all, "_x", errOdd, "request _x: odd", 1, 1},
		{"an answer that cannot be read", script{opens: []error{auth.ErrBadReply}}, all, "_x", auth.ErrBadReply, "", 1,
			0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &tt.s
			v, err := s.channel().Ask(t.Context(), payload.M("cmd", tt.cmd), tt.rules)
			if !errors.Is(err, tt.want) || (err == nil) != (v == "answer") || err != nil &&
				!strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, %v, want %v with %q", v, err, tt.want, tt.text)
			}
			if len(s.frames) != tt.tries || len(s.renewals) != tt.renewed || s.seals != len(s.frames) {
				t.Errorf("%d frames, %d seals, %d sign-ins, want %d and %d", len(s.frames), s.seals, len(s.renewals),
					tt.tries, tt.renewed)
			}
			for i, n := range s.renewals {
				if n != int64(i) {
					t.Errorf("sign-ins after %v", s.renewals)
				}
			}
			if n := len(s.nonces); n > 0 && s.nonces[n-1] != fmt.Sprint("nonce", s.seals) {
				t.Errorf("the answer to frame %d was opened with %s", s.seals, s.nonces[n-1])
			}
		})
	}
}

// TestNoRenewal: without a Renew function the caller gets the error of an ended session.
func TestNoRenewal(t *testing.T) {
	s := &script{opens: []error{auth.ErrReauth}}
	c := s.channel()
	c.Renew, c.Number, c.Silence, c.Clock = nil, nil, nil, nil
	if _, err := c.Ask(t.Context(), payload.M("cmd", "_x"), Rules{Tries: 3, Renewals: 3}); !errors.Is(err,
		auth.ErrReauth) || len(s.frames) != 1 {
		t.Errorf("%v after %d tries", err, len(s.frames))
	}
	s = &script{replies: []error{transport.ErrTimeout}}
	c.Session, c.Exchange = s, s.exchange
	if _, err := c.Ask(t.Context(), payload.M("cmd", "_x"), Rules{}); !errors.Is(err, ErrSilence) {
		t.Errorf("a master that is silent: %v", err)
	}
}

// TestAskEnds: when the context ends, the tries and the pauses between them end too.
func TestAskEnds(t *testing.T) {
	cause := errors.New("the actor stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &script{}
	c := s.channel()
	c.Exchange = func(context.Context, []byte) ([]byte, error) {
		cancel(cause)
		return nil, transport.ErrTimeout
	}
	if _, err := c.Ask(ctx, payload.M("cmd", "_x"), Rules{Tries: 3}); err != cause || s.seals != 1 {
		t.Errorf("%v after %d tries", err, s.seals)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	clock, done := actortest.NewClock(), make(chan error, 1)
	s = &script{replies: []error{transport.ErrTimeout}}
	c = s.channel()
	c.Clock = clock
	go func() {
		_, err := c.Ask(ctx, payload.M("cmd", "_x"), Rules{Tries: 3, Pause: time.Hour})
		done <- err
	}()
	clock.WaitTimer(t, time.Hour)
	cancel(cause)
	if err := actortest.Wait(t, "end", done); err != cause || s.seals != 1 {
		t.Errorf("%v after %d tries", err, s.seals)
	}
}

// TestTimeout: each try has its own time.
func TestTimeout(t *testing.T) {
	s := &script{}
	c := s.channel()
	tries := 0
	c.Exchange = func(ctx context.Context, _ []byte) ([]byte, error) {
		tries++
		<-ctx.Done()
		return nil, OutOfTime(ctx)
	}
	if _, err := c.Ask(t.Context(), payload.M("cmd", "_x"), Rules{Tries: 2, Timeout: time.Millisecond}); !errors.Is(err,
		errOdd) || tries != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestAskPillar(t *testing.T) {
	s := &script{}
	if m, err := s.channel().AskPillar(t.Context(), payload.M("cmd", payload.CmdPillar), Rules{}); err != nil ||
		m.Str("a") != "pillar" {
		t.Errorf("%v, %v", m, err)
	}
	s = &script{replies: []error{errOdd}}
	if m, err := s.channel().AskPillar(t.Context(), payload.M("cmd", payload.CmdPillar), Rules{}); !errors.Is(err,
		errOdd) || m.Len() != 0 {
		t.Errorf("%v, %v", m, err)
	}
}
