package process_test

import (
	"os/exec"
	"testing"
	"time"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}

// TestAbsent: the processes with a text in their command lines end, and no others; test mode ends none.
func TestAbsent(t *testing.T) {
	t.Parallel()
	env, _ := statetest.Minion(t, nil, nil)
	ended := make(chan error, 2)
	start := func(seconds string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sleep", seconds)
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		return cmd
	}
	one, other := start("61.7315"), start("62.7315")
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	go func() { ended <- one.Wait() }()
	absent := func(test bool) *payload.Map {
		v, _, err := modtest.Call(t, env, "state.single", []any{"process.absent"},
			payload.M("name", "61.7315", "test", test))
		if err != nil {
			t.Fatal(err)
		}
		for _, ret := range v.(*payload.Map).All() {
			return ret.(*payload.Map)
		}
		return nil
	}
	if ret := absent(true); ret.Value("result") != nil || ret.Map("changes").Len() != 0 {
		t.Errorf("test mode: %v", ret)
	}
	ret := absent(false)
	if pids := ret.Map("changes").List("killed"); len(pids) != 1 || pids[0] != int64(one.Process.Pid) {
		t.Errorf("ended %v, not %d: %v", pids, one.Process.Pid, ret.Value("comment"))
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = one.Process.Kill()
		t.Error("the process runs on")
	}
}

// TestEmpty: an empty text would end every process.
func TestEmpty(t *testing.T) {
	env, _ := statetest.Minion(t, nil, nil)
	if v, _, err := modtest.Call(t, env, "ps.pkill", []any{""}, payload.M("signal", int64(0))); err == nil {
		t.Errorf("ps.pkill '': %v", v)
	}
}
