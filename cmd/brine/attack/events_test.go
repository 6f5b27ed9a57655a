package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/client"
	"brine/wire/payload"
)

// forged is the text in events that a thief must not fire.
const forged = "forged by a thief"

func isForged(_ string, data *payload.Map) bool { return strings.Contains(fmt.Sprint(data), forged) }

// forms returns the requests with which a minion can try to fire an event with a tag.
func forms(tag string, data *payload.Map) []*payload.Map {
	first, rest, _ := strings.Cut(tag, "/")
	load := func(kv ...any) *payload.Map {
		m := payload.M("cmd", payload.CmdMinionEvent)
		m.Update(payload.M(kv...))
		return m
	}
	single := load("tag", tag)
	single.Update(data)
	single.Set("data", data.Clone())
	return []*payload.Map{
		single,
		load("events", []any{payload.M("tag", tag, "data", data.Clone())}),
		load("events", []any{data.Clone().Set("tag", tag)}),
		load("events", []any{payload.M("tag", tag, "data", data.Clone())}, "pretag", ""),
		load("events", []any{payload.M("tag", rest, "data", data.Clone())}, "pretag", first),
		load("events", []any{payload.M("tag", "", "data", data.Clone())}, "pretag", tag),
		load("tag", rest, "data", data.Clone(), "pretag", first),
	}
}

// TestThiefEvents: in no form can a thief fire the events of masters, tools or other minions.
func TestThiefEvents(t *testing.T) {
	s := newSite(t, "order_masters: True\n")
	th := s.thief("thief", nil)
	th.must(payload.M("cmd", payload.CmdMinionEvent, "tag", "salt/minion/thief/start", "data", "started", "pretag",
		nil))
	e := s.listen()
	const jid = "20260101000000000001"
	tags := []string{"salt/key", "salt/auth", "salt/run/" + jid + "/ret", "salt/wheel/" + jid + "/ret",
		"salt/job/" + jid + "/ret/" + honest, "salt/job/" + jid + "/new", "salt/job/" + jid + "/error",
		"salt/job/" + jid + "/prog/" + honest + "/0", "salt/job/" + jid + "/start/" + honest,
		"salt/minion/" + honest + "/start", "salt/beacon/" + honest + "/load/", "salt/batch/" + jid + "/halted",
		"salt/event/exit", "salt/presence/change", "salt/stats/MWorker-0", "salt/cloud/x/created", "salt/netapi/hook/x",
		"salt/cluster/x", "salt/reactors/manage/add", "salt/fileserver/roots/update",
		"salt/syndic/" + honest + "/start", "syndic/thief/salt/job/" + jid + "/new", "syndic/x/" + jid,
		"minion/refresh/" + honest, "resource/refresh/" + honest,
		jid, "key", "brine/minion/refused", "brine/returner/dropped", "__schedule_return", "salt//key", "/salt/key",
		"salt/key/", "cluster/peer/join"}
	for _, tag := range tags {
		for _, load := range forms(tag, payload.M("id", honest, "jid", jid, "return", forged, "error", forged,
			"minions", []any{honest}, "act", "accept")) {
			th.must(load)
		}
	}
	// failed states have tags made from the names of states
	states := payload.NewMap(0)
	for _, tag := range tags {
		states.Set(tag+"_|-x_|-y_|-z", payload.M("result", false, "comment", forged, "error", forged, "minions",
			[]any{honest}))
	}
	th.must(payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", jid, "fun", "state.sls", "return", states,
		"retcode", 2))
	s.good()
	for _, h := range e.all() {
		tag := strings.Trim(h.tag, "/")
		if strings.HasPrefix(tag, "salt/job/"+jid+"/sub/thief/") || tag == "salt/job/"+jid+"/ret/thief" ||
			tag == "brine/minion/refused" && h.data.Str("id") == "thief" {
			if h.data.Has("error") || h.data.Has("minions") {
				t.Errorf("%s: %v", h.tag, h.data)
			}
			continue
		}
		if (strings.HasPrefix(tag, "salt") || strings.HasPrefix(tag, "syndic") || slices.Contains(tags, h.tag)) &&
			isForged(h.tag, h.data) {
			t.Errorf("fired: %s %v", h.tag, h.data)
		}
	}
	if !e.has(func(tag string, data *payload.Map) bool {
		return tag == "brine/minion/refused" && data.Str("id") == "thief"
	}) {
		t.Error("no event tells of what was refused")
	}
	if r := s.tool("brine", "minions"); !strings.Contains(r.stdout, "REFUSED") || !strings.Contains(r.stdout, "tag ") {
		t.Errorf("brine minions: %+v", r)
	}
}

// TestThiefEndsTools: while an operator waits for a job, a thief who knows its id can neither end the tool nor
// appear as another minion.
func TestThiefEndsTools(t *testing.T) {
	s := newSite(t, "")
	th := s.thief("thief", nil)
	e := s.listen()
	type outcome struct {
		got map[string]*payload.Map
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		got, err := s.run(patience, client.Job{Tgt: honest, Fun: "test.sleep", Arg: []any{3},
			Timeout: 10 * time.Second})
		done <- outcome{got, err}
	}()
	jid := ""
	s.eventually("the job", func() error {
		for _, h := range e.all() {
			if strings.HasSuffix(h.tag, "/new") && h.data.Str("fun") == "test.sleep" {
				jid = h.data.Str("jid")
				return nil
			}
		}
		return fmt.Errorf("not there")
	})
	lie := payload.M("id", honest, "jid", jid, "return", forged, "error", forged, "minions", []any{"nobody"}, "missing",
		[]any{"nobody"}, "retcode", 0)
	for _, tag := range []string{"salt/job/" + jid + "/prog/thief/0", "salt/job/" + jid + "/start/thief",
		"salt/job/" + jid + "/ret/" + honest, "salt/job/" + jid + "/error", "salt/job/" + jid + "/new",
		"syndic/thief/" + jid} {
		for _, load := range forms(tag, lie) {
			th.must(load)
		}
	}
	th.must(payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", jid, "fun", "test.sleep", "return", true,
		"retcode", 0, "error", forged, "minions", []any{"nobody"}, "missing", []any{"nobody"}))
	out := <-done
	if out.err != nil || out.got[honest].Value("return") != true || out.got["nobody"] != nil {
		t.Errorf("got %v, %v", out.got, out.err)
	}
	s.good()
}
