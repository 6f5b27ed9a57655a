package daemon

import (
	"context"
	"testing"
	"time"
)

func TestWatchdogTime(t *testing.T) {
	for _, tt := range []struct {
		usec, who, socket string
		parent            bool
		want              time.Duration
	}{
		{"30000000", "10", "/run/notify", false, 30 * time.Second},
		{"30000000", "", "/run/notify", false, 30 * time.Second},
		{"30000000", "9", "/run/notify", true, 30 * time.Second},
		{"30000000", "9", "/run/notify", false, 0}, // meant for another process
		{"30000000", "8", "/run/notify", true, 0},
		{"30000000", "10", "", false, 0},
		{"", "10", "/run/notify", false, 0},
		{"-5", "10", "/run/notify", false, 0},
		{"soon", "10", "/run/notify", false, 0},
	} {
		env := map[string]string{"WATCHDOG_USEC": tt.usec, "WATCHDOG_PID": tt.who, "NOTIFY_SOCKET": tt.socket}
		if got := watchdogTime(func(name string) string { return env[name] }, 10, 9, tt.parent); got != tt.want {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
}

// TestWatchdogWaits: each answer leads to one report, and no answer leads to none.
func TestWatchdogWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked, let := make(chan struct{}), make(chan struct{})
	said := make(chan struct{}, 10)
	over := make(chan struct{})
	go func() {
		defer close(over)
		watch(ctx, time.Microsecond, func(ctx context.Context) error {
			select {
			case asked <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case <-let:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, func() { said <- struct{}{} })
	}()
	for range 3 {
		<-asked
		if len(said) != 0 {
			t.Error("said before the answer")
		}
		let <- struct{}{}
		<-said
	}
	<-asked
	cancel()
	<-over
	if len(said) != 0 {
		t.Error("said without an answer")
	}
}
