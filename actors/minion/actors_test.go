package minion

import (
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestActorsOfAMinion: a job reads the tree of the minion it runs on, itself included.
func TestActorsOfAMinion(t *testing.T) {
	r := newRig(t, "").up()
	ret := r.run("20240517120000000001", "brine.actors")
	tree, _ := ret.Value("return").(*payload.Map)
	names := map[string]*payload.Map{}
	for _, c := range tree.List("children") {
		child, _ := c.(*payload.Map)
		names[child.Str("name")] = child
	}
	if tree.Str("name") != "minion" || names["Dispatcher"].Str("state") != "running" {
		t.Fatalf("got %v", tree)
	}
	jobs := names["Jobs"].List("children")
	if len(jobs) != 1 || !strings.HasPrefix(jobs[0].(*payload.Map).Str("name"), "Job-20240517120000000001") {
		t.Errorf("jobs: got %v", jobs)
	}
	ret = r.run("20240517120000000002", "brine.actors", "Dispatcher")
	if one, _ := ret.Value("return").(*payload.Map); one.Str("path") != "minion/Dispatcher" ||
		one.Str("state") != "running" {
		t.Errorf("got %v", ret)
	}
	ret = r.run("20240517120000000003", "brine.actors", "nobody")
	if text := ret.Str("return"); !strings.Contains(text, "no such child") {
		t.Errorf("got %v", ret)
	}
}
