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

// What a return names as not called: what the minion does not have, and what it has and may not call.
func TestUncalledReturners(t *testing.T) {
	m := &Minion{own: ownOptions{disabled: []string{"mysql"}, returners: []string{"slack", "etcd"}}}
	job := payload.NewJob(payload.M("jid", "1", "ret", "mysql, local_cache,mysql"))
	if got, want := m.uncalled(job), []string{"mysql", "local_cache", "slack", "etcd"}; !slices.Equal(got, want) {
		t.Errorf("without any: got %v, want %v", got, want)
	}
	m.opt.HasReturner = func(name string) bool { return name != "etcd" }
	if got, want := m.uncalled(job), []string{"mysql", "etcd"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	scheduled := payload.NewJob(payload.M("jid", "1", "schedule", "x", "ret", "local_cache"))
	if got := m.uncalled(scheduled); len(got) != 0 {
		t.Errorf("of a schedule: %v", got)
	}
}
