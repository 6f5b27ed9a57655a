package minion

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"brine/config"
	"brine/wire/payload"
)

// A returner that disable_returners names is not called, whoever asks for it: the job, or the option return.
func TestDisabledReturners(t *testing.T) {
	var called []string
	m := &Minion{own: ownOptionsOf(&config.Minion{DisableReturners: []string{"mysql", "slack"}, Return: []string{"slack", "etcd"}}), log: slog.New(slog.DiscardHandler),
		opt: Options{Returner: func(_ context.Context, name string, _ *payload.Map) error {
			called = append(called, name)
			return nil
		}}}
	m.callReturners(t.Context(), payload.NewJob(payload.M("jid", "1", "ret", "mysql, local_cache")), payload.NewReturn(payload.M("return", true)))
	slices.Sort(called)
	if want := []string{"etcd", "local_cache"}; !slices.Equal(called, want) {
		t.Errorf("called %v, want %v", called, want)
	}
}
