package state_test

import (
	"context"
	"testing"

	"brine/modules/fileclient"
	"brine/modules/fileserver"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// master answers a minion: its files, its options for states, and what master_tops gives.
type master struct {
	files      func(context.Context, *payload.Map) (any, error)
	opts, tops *payload.Map
}

func (m master) Request(ctx context.Context, load *payload.Map) (any, error) {
	switch load.Str("cmd") {
	case payload.CmdMasterOpts:
		return m.opts, nil
	case payload.CmdMasterTops:
		return m.tops, nil
	}
	return m.files(ctx, load)
}

// TestBehindMaster: files, options of states and master_tops are those of the master.
func TestBehindMaster(t *testing.T) {
	files := payload.M("base/top.sls", "base: {'*': [not]}\n", "base/other.sls", "base: {'*': [u]}\n", "base/u.sls",
		"b: test.nop\na: test.nop\n", "base/v.sls", "v: test.nop\n", "base/not.sls", "n: test.nop\n")
	env, _ := minionOf(t, files, nil)
	opts := env.Opts().Clone()
	server, err := fileserver.Configured(opts)
	if err != nil {
		t.Fatal(err)
	}
	remote := opts.Clone().Set("file_client", "remote")
	env.Opts = func() *payload.Map { return remote }
	env.Host.Master = master{fileclient.Local(server), payload.M("renderer", "jinja|yaml", "state_top", "other.sls",
		"state_auto_order", false, "file_roots", payload.M("base", []any{})), payload.M("base", []any{"u", "v"})}
	v, _, err := modtest.Call(t, env, "state.show_top", nil, nil)
	if err != nil || !payload.Equal(v, payload.M("base", []any{"u", "v"})) {
		t.Errorf("got %v, %v", v, err)
	}
	v, _, err = modtest.Call(t, env, "state.show_lowstate", nil, nil)
	list, _ := v.([]any)
	if err != nil || len(list) != 3 || list[0].(*payload.Map).Str("__id__") != "a" {
		t.Errorf("without state_auto_order: got %v, %v", v, err)
	}
}

// TestConflict: while another function of states runs, nothing is shown, unless the call may run beside it.
func TestConflict(t *testing.T) {
	env, _ := minionOf(t, payload.M("base/t.sls", "a: test.nop\n"), nil)
	host := &modtest.Host{Jobs: []*payload.Map{payload.M("fun", "state.apply", "pid", int64(7), "jid",
		"20240101100000123456"), payload.M("fun", "test.ping", "jid", "20240101100000123457")}}
	env.Host.Jobs = host
	want := []any{`The function "state.apply" is running as PID 7 and was started at 2024, Jan 01 10:00:00.123456 ` +
		"with jid 20240101100000123456"}
	for _, fun := range []string{"state.show_top", "state.show_highstate", "state.show_lowstate", "state.show_states",
		"state.show_state_usage"} {
		if v, code, err := modtest.Call(t, env, fun, nil, nil); err != nil || code != 1 || !payload.Equal(v, want) {
			t.Errorf("%s: got %v, %d, %v", fun, v, code, err)
		}
	}
	if v, code, err := modtest.Call(t, env, "state.show_sls", []any{"t"}, nil); code != 1 || !payload.Equal(v, want) {
		t.Errorf("got %v, %d, %v", v, code, err)
	}
	v, _, err := modtest.Call(t, env, "state.show_sls", []any{"t"}, payload.M("concurrent", true))
	if m, ok := v.(*payload.Map); err != nil || !ok || !m.Has("a") {
		t.Errorf("concurrent: got %v, %v", v, err)
	}
}
