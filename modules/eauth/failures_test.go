package eauth

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestFailures: failed log-ins are counted by address and user, for a minute, and nobody elsewhere is shut out.
func TestFailures(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := service(t, func(o *Options) { o.Now, o.FailuresMax = func() time.Time { return now }, 3 })
	try := func(user, password, from string) (ok, blocked bool) {
		_, err := s.Check(payload.M("eauth", "sharedsecret", "username", user, "password", password), from)
		var denied *Denied
		return err == nil, errors.As(err, &denied) && denied.Blocked
	}
	for range 3 {
		if _, blocked := try("saltdev", "wrong", "10.0.0.1"); blocked {
			t.Fatal("blocked too early")
		}
	}
	if ok, blocked := try("saltdev", "OpenSesame", "10.0.0.1"); ok || !blocked {
		t.Errorf("the right word after too many wrong ones: ok %v, blocked %v", ok, blocked)
	}
	for _, tt := range []struct{ user, from string }{{"saltdev", "10.0.0.2"}, {"zoe", "10.0.0.1"}} {
		if ok, _ := try(tt.user, "OpenSesame", tt.from); !ok {
			t.Errorf("%s at %s is shut out", tt.user, tt.from)
		}
	}
	for i := range 40 {
		try(fmt.Sprint("user", i), "wrong", "10.0.0.3")
	}
	if ok, blocked := try("zoe", "OpenSesame", "10.0.0.3"); ok || !blocked {
		t.Errorf("an address that tries many names: ok %v, blocked %v", ok, blocked)
	}
	now = now.Add(failureWindow)
	if ok, _ := try("saltdev", "OpenSesame", "10.0.0.1"); !ok {
		t.Error("shut out for more than a minute")
	}
	for i := range 2 * maxFailing {
		s.failed.add(fmt.Sprint("address", i), "x", now)
	}
	if n := len(s.failed.count); n > maxFailing+1 {
		t.Errorf("%d are counted apart", n)
	}
}

// TestHugeLogin: what no user has is no name and no password.
func TestHugeLogin(t *testing.T) {
	s := service(t, nil)
	for _, fields := range []*payload.Map{
		payload.M("eauth", "auto", "username", string(make([]byte, payload.MaxUser+1)), "password", "x"),
		payload.M("eauth", "auto", "username", "saltdev", "password", string(make([]byte, payload.MaxPassword+1))),
	} {
		_, err := s.Check(fields, "")
		var denied *Denied
		if !errors.As(err, &denied) || len(denied.Error()) > 1000 {
			t.Errorf("got %v", err)
		}
	}
}
