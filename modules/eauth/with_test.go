package eauth

import (
	"testing"
	"time"

	"brine/wire/payload"
)

// TestWith: new rules hold at once, and failed log-ins stay counted.
func TestWith(t *testing.T) {
	now := time.Now()
	opt := Options{External: payload.M("sharedsecret", payload.M("ann", []any{"test.ping"})), SharedSecret: "right",
		FailuresMax: 2, Now: func() time.Time {
			return now
		}}
	s := New(opt)
	try := func(s *Service, password string) error {
		_, err := s.Check(payload.M("eauth", "sharedsecret", "username", "ann", "password", password), "10.0.0.1")
		return err
	}
	if err := try(s, "right"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_ = try(s, "wrong")
	}
	next := s.With(opt)
	if d, _ := try(next, "right").(*Denied); d == nil || !d.Blocked {
		t.Errorf("new rules forget what failed: %v", d)
	}
	opt.FailuresMax = 3
	if err := try(s.With(opt), "right"); err != nil {
		t.Errorf("a limit that was raised does not hold: %v", err)
	}
	opt.FailuresMax = 1
	if d, _ := try(s.With(opt), "right").(*Denied); d == nil || !d.Blocked {
		t.Errorf("a limit that was lowered does not hold: %v", d)
	}
	opt.External = payload.NewMap(0)
	now = now.Add(time.Hour)
	if err := try(s.With(opt), "right"); err == nil {
		t.Error("a backend that is not configured any more lets users in")
	}
}
