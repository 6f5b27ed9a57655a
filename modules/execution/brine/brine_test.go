package brine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/modules/execution/brine"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// daemon is a minion whose only actor is called path.
type daemon struct{}

func (daemon) JobFacts(_ context.Context, jid string) (*payload.Map, error) {
	return payload.M("outcome", "unknown", "of", jid), nil
}

func (daemon) Actors(_ context.Context, path string) (*payload.Map, error) {
	if path == "nobody" {
		return nil, errors.New("nobody: supervisor: no such child")
	}
	death := func() *payload.Map { return payload.M("reason", "x", "stack", "main.go:1") }
	spread := func() *payload.Map { return payload.M("count", 1, "buckets", []any{1}) }
	child := payload.M("name", path, "deaths", []any{death()}, "last_death", death(),
		"handling", spread(), "waiting", spread())
	return payload.M("name", "minion", "deaths", []any{}, "last_death", nil, "children", []any{child}), nil
}

func (daemon) JobList(context.Context) (*payload.Map, error) {
	return payload.M("running", []any{payload.M("jid", "1")}), nil
}

func noDaemon(err error) bool { return err != nil && strings.Contains(err.Error(), "No brine minion") }

func TestJobs(t *testing.T) {
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Listed{brine.Module()})
	if _, _, err := modtest.Call(t, env, brine.Jobs, nil, nil); !noDaemon(err) {
		t.Errorf("without a daemon: got %v", err)
	}
	env.Host.Daemon = daemon{}
	got, _, err := modtest.Call(t, env, brine.Jobs, nil, nil)
	if list, _ := got.(*payload.Map); err != nil || len(list.List("running")) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestActors(t *testing.T) {
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Listed{brine.Module()})
	if _, _, err := modtest.Call(t, env, brine.Actors, nil, nil); !noDaemon(err) {
		t.Errorf("without a daemon: got %v", err)
	}
	env.Host.Daemon = daemon{}
	for _, tt := range []struct {
		args []any
		kw   *payload.Map
		long bool
		err  string
	}{
		{[]any{"Jobs"}, nil, true, ""},
		{[]any{"Jobs"}, payload.M("brief", true), false, ""},
		{[]any{"nobody"}, nil, false, "no such child"},
	} {
		got, _, err := modtest.Call(t, env, brine.Actors, tt.args, tt.kw)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v: got %v", tt.args, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		tree, _ := got.(*payload.Map)
		child, _ := tree.List("children")[0].(*payload.Map)
		if child.Str("name") != "Jobs" || child.Map("last_death").Str("reason") != "x" ||
			child.Map("handling").Value("count") == nil {
			t.Errorf("%v: got %v", tt.kw, child)
		}
		if child.Has("deaths") != tt.long || child.Map("last_death").Has("stack") != tt.long ||
			child.Map("waiting").Has("buckets") != tt.long {
			t.Errorf("%v: got %v", tt.kw, child)
		}
	}
}

func TestJob(t *testing.T) {
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Listed{brine.Module()})
	if _, _, err := modtest.Call(t, env, brine.Job, []any{"1"}, nil); !noDaemon(err) {
		t.Errorf("without a daemon: got %v", err)
	}
	env.Host.Daemon = daemon{}
	got, _, err := modtest.Call(t, env, brine.Job, []any{"20260102030405060708"}, nil)
	if m, _ := got.(*payload.Map); err != nil || m.Str("of") != "20260102030405060708" {
		t.Errorf("got %v, %v", got, err)
	}
}
