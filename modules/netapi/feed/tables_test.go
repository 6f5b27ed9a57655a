package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// told is what tables show of an event, and who is fresh.
func told(t *testing.T, tables *Tables, tag string, data *payload.Map) (texts, fresh []string) {
	t.Helper()
	changed, fresh := tables.Take(newEvent(pack(t, tag, data.Set("_stamp", "now")), time.Now()))
	for _, kind := range changed {
		texts = append(texts, tables.Text(kind))
	}
	return texts, fresh
}

const someJID = "20261123120000000000"

func jobNew(jid, fun string, minions ...any) *payload.Map {
	return payload.M("jid", jid, "tgt_type", "glob", "tgt", "m*", "user", "admin", "fun", fun, "arg", []any{},
		"minions", minions, "missing", []any{})
}

func jobRet(jid, id, fun string, value any, ok bool) *payload.Map {
	return payload.M("cmd", "_return", "id", id, "success", ok, "return", value, "retcode", 0, "jid", jid, "fun", fun)
}

// The texts are those of vectors/api cherrypy_ws and tornado_events_ws, with other ids.
func TestJobsOfAReader(t *testing.T) {
	for _, tornado := range []bool{false, true} {
		end := map[bool]string{true: "\n\n"}[tornado]
		tables := NewTables(tornado)
		for _, step := range []struct {
			tag  string
			data *payload.Map
			want []string
		}{
			{someJID, payload.M("minions", []any{"m1"}), nil},
			{"salt/job/" + someJID + "/new", jobNew(someJID, "test.ping", "m1", "m2"),
				[]string{`{"jobs": {"` + someJID + `": {"jid": "` + someJID +
					`", "start_time": "now", "minions": {"m1": {"success": false}, "m2": {"success": false}}, "fun": "test.ping", "tgt": "m*", "tgt_type": "glob", "state": "running"}}}`}},
			{"salt/job/" + someJID + "/publish", payload.M("fun", "test.ping"), nil},
			{"salt/job/" + someJID + "/ret/m1", jobRet(someJID, "m1", "test.ping", true, true),
				[]string{`{"jobs": {"` + someJID + `": {"jid": "` + someJID +
					`", "start_time": "now", "minions": {"m1": {"success": true, "return": true, "retcode": 0}, "m2": {"success": false}}, "fun": "test.ping", "tgt": "m*", "tgt_type": "glob", "state": "running"}}}`}},
			{"salt/job/" + someJID + "/ret/m2", jobRet(someJID, "m2", "test.ping", "x", true),
				[]string{`{"jobs": {"` + someJID + `": {"jid": "` + someJID +
					`", "start_time": "now", "minions": {"m1": {"success": true, "return": true, "retcode": 0}, "m2": {"success": true, "return": "x", "retcode": 0}}, "fun": "test.ping", "tgt": "m*", "tgt_type": "glob", "state": "complete"}}}`}},
		} {
			got, _ := told(t, tables, step.tag, step.data)
			for i := range step.want {
				step.want[i] += end
			}
			if !slices.Equal(got, step.want) {
				t.Errorf("tornado %v, %s:\ngot  %q\nwant %q", tornado, step.tag, got, step.want)
			}
		}
	}
}

func TestAReturnOfAJobBeforeTheReader(t *testing.T) {
	got, _ := told(t, NewTables(true), "salt/job/1/ret/m1", jobRet("1", "m1", "test.ping", true, true))
	want := `{"jobs": {"1": {"minions": {"m1": {"return": true, "retcode": 0, "success": true}}, "state": "complete"}}}` + "\n\n"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestMinionsOfAReader(t *testing.T) {
	cherry, tornado := NewTables(false), NewTables(true)
	for _, step := range []struct {
		tag             string
		data            *payload.Map
		cherry, tornado string
		fresh           []string
	}{
		{"salt/key", payload.M("act", "accept", "id", "m1", "result", true), `{"minions": [{"id": "m1"}]}`,
			`{"minions": {"m1": {"id": "m1"}}}`, nil},
		{"salt/presence/present", payload.M("present", []any{"m1", "m2"}), `{"minions": [{"id": "m1"}]}`,
			`{"minions": {"m1": {"id": "m1"}, "m2": {"id": "m2"}}}`, []string{"m2"}},
		{"salt/job/1/ret/m2", jobRet("1", "m2", "grains.items", payload.M("os", "Debian"), true),
			`{"minions": [{"id": "m1"}, {"grains": {"os": "Debian"}, "id": "m2"}]}`,
			`{"minions": {"m1": {"id": "m1"}, "m2": {"grains": {"os": "Debian"}, "id": "m2"}}}`, nil},
		{"salt/key", payload.M("act", "delete", "id", "m1", "result", true),
			`{"minions": [{"grains": {"os": "Debian"}, "id": "m2"}]}`,
			`{"minions": {"m2": {"grains": {"os": "Debian"}, "id": "m2"}}}`, nil},
		{"salt/presence/present", payload.M("present", []any{}), `{"minions": []}`, `{"minions": {}}`, nil},
	} {
		for tables, want := range map[*Tables]string{cherry: step.cherry, tornado: step.tornado + "\n\n"} {
			got, fresh := told(t, tables, step.tag, step.data.Clone())
			if len(got) == 0 || got[len(got)-1] != want || !slices.Equal(fresh, step.fresh) {
				t.Errorf("%s:\ngot  %q, fresh %v\nwant %q", step.tag, got, fresh, want)
			}
		}
	}
	if got, _ := told(t, cherry, "salt/job/2/new", jobNew("2", "grains.items", "m1")); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestPresenceChange(t *testing.T) {
	tables := NewTables(true)
	told(t, tables, "salt/key", payload.M("act", "accept", "id", "old"))
	got, fresh := told(t, tables, "salt/presence/change", payload.M("new", []any{"m9"}, "lost", []any{"old"}))
	if want := `{"minions": {"m9": {"id": "m9"}}}` + "\n\n"; len(got) != 1 || got[0] != want ||
		!slices.Equal(fresh, []string{"m9"}) {
		t.Errorf("got %q, %v", got, fresh)
	}
	if got, _ := told(t, NewTables(false), "salt/presence/change", payload.M("new", []any{"m9"}, "lost",
		[]any{})); got != nil {
		t.Errorf("rest_cherrypy looks at those present only: %q", got)
	}
}

// Anybody with a minion's key may put such events on the bus.
func TestOddEventsChangeNothing(t *testing.T) {
	for _, tornado := range []bool{false, true} {
		tables := NewTables(tornado)
		for _, tag := range []string{"x", "salt/job", "salt/job/error", "salt/job/1", "salt/job/1/new",
			"salt/job/1/ret/m1", "salt/job/1/ret/a/b",
			"salt/key", "salt/presence/present", "salt/presence/change", "x/job/1/new/y", "//"} {
			for _, data := range []*payload.Map{payload.M(), payload.M("minions", 5, "id", 7, "jid", nil, "present",
				"m1", "return2", 1), payload.M("jid", []any{}, "minions", []any{1, nil})} {
				if got, fresh := told(t, tables, tag, data); len(got) > 0 || len(fresh) > 0 {
					t.Errorf("%s %v: got %q, %v", tag, data, got, fresh)
				}
			}
		}
		if changed, _ := tables.Take(newEvent([]byte("salt/job/1/new\n\n\xc1"), time.Now())); len(changed) > 0 {
			t.Errorf("an event without data: %v", changed)
		}
	}
}

func TestTablesAreBounded(t *testing.T) {
	tables := NewTables(true)
	for i := range 500 {
		told(t, tables, "salt/job/x/new", jobNew(fmt.Sprint(i), "test.ping", "m1"))
	}
	if n := tables.jobs.m.Len(); n != jobsMost || tables.jobs.m.Has("399") || !tables.jobs.m.Has("400") {
		t.Errorf("%d jobs are kept, the oldest is %v", n, tables.jobs.m.Keys()[0])
	}
	big := strings.Repeat("x", 1<<20)
	for i := range 20 {
		told(t, tables, "salt/job/499/ret/m"+fmt.Sprint(i), jobRet("499", "m1", "grains.items", big, true))
	}
	if tables.jobs.total > jobBytes || tables.minions.total > minionBytes {
		t.Errorf("jobs of %d bytes, minions of %d", tables.jobs.total, tables.minions.total)
	}
	for i := range 2 * minionsMost {
		tables.addMinion(fmt.Sprint("id", i))
	}
	if n := tables.minions.m.Len(); n > minionsMost {
		t.Errorf("%d minions", n)
	}
	if _, fresh := told(t, tables, "salt/presence/present", payload.M("present", manyIDs(5000))); len(
		fresh) > freshMost {
		t.Errorf("%d minions would be asked at once", len(fresh))
	}
}

func manyIDs(n int) (ids []any) {
	for i := range n {
		ids = append(ids, fmt.Sprint("new", i))
	}
	return ids
}
