package steps

import (
	"fmt"
	"slices"
	"testing"

	"brine/modules/states/run/low"
	"brine/wire/payload"

	"pgregory.net/rapid"
)

// anySteps draws chunks in an order in which each waits for earlier ones only.
func anySteps(t *rapid.T) (all []*low.Step) {
	kinds := []string{"require", "watch", "onchanges", "onfail", "require_any", "watch_any", "onchanges_any",
		"onfail_any", "onfail_all"}
	for i := range rapid.IntRange(1, 10).Draw(t, "chunks") {
		id := fmt.Sprintf("s%d", i)
		s := &low.Step{Chunk: payload.M("state", "test", "fun", "nop", "name", id, "__id__", id, "__sls__", "t")}
		if rapid.Bool().Draw(t, "parallel") {
			s.Chunk.Set("parallel", true)
		}
		if rapid.IntRange(0, 5).Draw(t, "failhard") == 0 {
			s.Chunk.Set("failhard", true)
		}
		for range rapid.IntRange(0, min(2, i)).Draw(t, "needs") {
			on := all[rapid.IntRange(0, i-1).Draw(t, "on")]
			s.Needs = append(s.Needs, low.Need{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Chunk: on.Chunk})
		}
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "listens") == 0 {
			s.Chunk.Set("listen", []any{payload.M("test", all[0].Chunk.Str("__id__"))})
		}
		all = append(all, s)
	}
	return all
}

// outcome draws what a call comes to.
func outcome(t *rapid.T, call *Call) Ended {
	changes := payload.NewMap(0)
	if rapid.Bool().Draw(t, "changes") {
		changes.Set("a", "b")
	}
	return Ended{Call: call.ID, Start: "now", Ret: payload.M("name", call.Chunk.Value("name"), "changes", changes,
		"result", rapid.SampledFrom([]any{true, true, false, nil}).Draw(t, "result"), "comment", "")}
}

// TestEveryRun drives runs with any outcomes, parallel chunks ending in any order: nothing begins before all that it
// waits for has its return, no chunk is called twice but for its mod_watch, each run ends, and each chunk has a return
// unless the run was ended. The same events have the same effects.
func TestEveryRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anySteps(t)
		most := rapid.IntRange(0, 2).Draw(t, "max_parallel")
		r, twin := New(all, Options{MaxParallel: most}), New(all, Options{MaxParallel: most})
		called, hard := map[string]int{}, false
		var flying []*Call
		var event any = Began{}
		for turns := 0; ; turns++ {
			if turns > 200 {
				t.Fatal("the run does not end")
			}
			effects, same := r.Next(event), twin.Next(event)
			if shown(effects) != shown(same) {
				t.Fatalf("the same events lead to\n%s\nand to\n%s", shown(effects), shown(same))
			}
			over := false
			for _, effect := range effects {
				switch effect := effect.(type) {
				case *Call:
					checkCall(t, r, effect, called, hard)
					flying = append(flying, effect)
				case *Result:
					hard = hard || effect.Chunk.Bool("failhard") && effect.Ret.Value("result") == false
				case *Finished:
					over = true
				}
			}
			if beside := besides(flying); most > 0 && beside > most {
				t.Fatalf("%d run beside each other", beside)
			}
			if over {
				break
			}
			if len(flying) == 0 {
				t.Fatal("nothing is in flight, and the run has not ended")
			}
			at := rapid.IntRange(0, len(flying)-1).Draw(t, "ends")
			event = outcome(t, flying[at])
			flying = slices.Delete(flying, at, at+1)
		}
		for _, s := range all {
			if !hard && !r.Answer().Has(low.Tag(s.Chunk)) {
				t.Fatalf("%s has no return", low.Tag(s.Chunk))
			}
		}
	})
}

// checkCall looks whether a call may be made.
func checkCall(t *rapid.T, r *Run, call *Call, called map[string]int, hard bool) {
	tag, fun := low.Tag(call.Step.Chunk), call.Chunk.Str("fun")
	if called[tag+fun]++; called[tag+fun] > 1 {
		t.Fatalf("%s is called twice", tag)
	}
	if hard && r.phase == ofChunks && fun != "mod_watch" {
		t.Fatalf("%s is called after a failhard", tag)
	}
	for _, need := range call.Step.Needs {
		if !r.Results().Has(low.Tag(need.Chunk)) {
			t.Fatalf("%s is called before %s has its return", tag, low.Tag(need.Chunk))
		}
	}
}

func besides(calls []*Call) (n int) {
	for _, call := range calls {
		if call.Beside {
			n++
		}
	}
	return n
}

func shown(effects []any) (text string) {
	for _, effect := range effects {
		switch effect := effect.(type) {
		case *Call:
			text += fmt.Sprintln("call", effect.ID, low.Tag(effect.Chunk), effect.Beside)
		case *Result:
			text += fmt.Sprintln("result", effect.Tag, effect.Ret.Value("result"), effect.Ret.Value("__run_num__"))
		default:
			text += fmt.Sprintf("%T\n", effect)
		}
	}
	return text
}

// TestStopped: a run that is ended calls nothing more, and its listeners still run.
func TestStopped(t *testing.T) {
	a := &low.Step{Chunk: payload.M("state", "test", "fun", "nop", "name", "a", "__id__", "a")}
	b := &low.Step{Chunk: payload.M("state", "test", "fun", "nop", "name", "b", "__id__", "b", "listen",
		[]any{payload.M("test", "a")})}
	r := New([]*low.Step{a, b}, Options{})
	first := r.Next(Began{})[0].(*Call)
	r.Next(Ended{Call: first.ID, Ret: payload.M("name", "a", "changes", payload.M("x", "y"), "result", true, "comment",
		"")})
	r.Drop(2)
	effects := r.Next(Stopped{})
	if call, ok := effects[0].(*Call); len(effects) != 1 || !ok || call.Chunk.Str("__id__") != "listener_b" {
		t.Fatalf("got %s", shown(effects))
	}
	if effects = r.Next(Ended{Call: 3, Ret: payload.M("name", "b", "changes", payload.NewMap(0), "result", true,
		"comment", "")}); len(effects) != 2 || r.Answer().Has(low.Tag(b.Chunk)) {
		t.Errorf("got %s and %v", shown(effects), r.Answer())
	}
}
