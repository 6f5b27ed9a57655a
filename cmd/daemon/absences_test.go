package daemon

import (
	"slices"
	"strings"
	"testing"

	"brine/cmd/session"
	"brine/config"
	"brine/wire/payload"
)

// TestAbsences: a notice names everything that options ask for and brine lacks, once. Secrets are not shown.
func TestAbsences(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts *payload.Map
		want []string // parts of each notice
	}{
		{"nothing", payload.M("ext_pillar", []any{payload.M("cmd_yaml", "true"), payload.M("git", []any{})}, "schedule",
			payload.M("a", payload.M("function", "manage.up"))), nil},
		{"pillars", payload.M("ext_pillar", []any{payload.M("mongo", 1), payload.M("own", 1), payload.M("s3", 1),
			payload.M("mongo", 2)}),
			[]string{"external pillars mongo, s3 yet", "no external pillars own"}},
		{"schedule", payload.M("schedule", payload.M("a", payload.M("function", "state.orchestrate"), "b",
			payload.M("function", "queue.pop"), "enabled", true)),
			[]string{"runner module 'queue'", "runner function 'state.orchestrate'"}},
		{"pillar_opts", payload.M("pillar_opts", true, "mysql", payload.M("pass", "hunter2")),
			[]string{"secrets are in mysql"}},
		{"pillar_opts without secrets", payload.M("pillar_opts", true),
			[]string{"secrets are in none whose name says so"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &config.Master{}
			m.Raw = tt.opts
			said := absences(&session.Session{Common: &m.Common, Master: m})
			if len(said) != len(tt.want) {
				t.Fatalf("said %v, want %v", said, tt.want)
			}
			for i, part := range tt.want {
				if text := said[i].Text; !strings.Contains(text, part) || strings.Contains(text, "hunter2") {
					t.Errorf("said %q, want %q", text, part)
				}
			}
		})
	}
}

// TestFunctionsIn: functionsIn reads every form in which a schedule or a mine names functions.
func TestFunctionsIn(t *testing.T) {
	mine := payload.M("test.ping", []any{}, "ips", payload.M("mine_function", "network.ip_addrs"), "keys",
		[]any{payload.M("mine_function", "cmd.run"), "x"}, "grains.get", nil)
	if got, want := functionsIn("mine_functions", mine), []string{"cmd.run", "grains.get", "network.ip_addrs",
		"test.ping"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	jobs := payload.M("a", payload.M("function", "test.ping"), "enabled", true, "b", nil)
	if got, want := functionsIn("schedule", jobs), []string{"test.ping"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
