//go:build interop

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"brine/actors/netapi/console"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// markup is a text with which an attacker would try to run code in the page.
const markup = `<img src=x onerror="window.taken=1"><script>window.taken=1</script>"'javascript:window.taken=1`

// TestStrange: text of minions and other users is shown as text, whatever it contains. A very long text neither
// hides the rest nor widens the page beyond the screen. Late hops are marked.
func TestStrange(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := json.Marshal(map[string]any{"name": markup, markup: []any{markup}, "path": "master/x",
			"state": markup, "note": markup, "in_hand": markup, "handling": map[string]any{},
			"waiting": map[string]any{}, "quarantine": []any{map[string]any{"message": markup, "reason": markup}},
			"deaths": []any{map[string]any{"reason": markup, "message": markup, "stack": markup, "time": markup}}})
		if strings.HasSuffix(r.URL.Path, "/actor") {
			reply(w, console.Actor{Node: text})
			return
		}
		reply(w, console.Grains{ID: "m", Grains: text})
	})
	s.open(1280, 800)
	long := strings.Repeat("long-", 50) + "id"
	after, late := int64(1000), int64(9000000)
	views := []struct {
		hash, view string
		feed       func()
	}{
		{"#/jobs", "jobs", func() {
			s.rows("jobs", map[string]any{"1": console.JobRow{JID: markup, Fun: markup, Tgt: markup, TgtType: markup,
				User: markup, State: markup, Minions: 1},
				"2": console.JobRow{JID: "2", Fun: long, Tgt: long, User: long, State: "silent", Minions: 2,
					Returned: 1}})
		}},
		{"#/fleet", "fleet", func() {
			s.rows("fleet", map[string]any{"a": console.Minion{ID: markup, Key: markup, Connected: markup,
				Version: markup, Fun: markup, JID: markup, Heard: markup},
				"b": console.Minion{ID: long, Key: "pending", Fun: long, JID: "1"}})
		}},
		{"#/actors", "actors", func() {
			s.rows("actors", map[string]any{"x": console.Node{Path: "x", Name: markup, State: markup, Note: markup,
				DiedAt: "2026-11-23T16:00:00Z", DiedOf: markup},
				"y": console.Node{Path: "y", Name: long, State: "running", DiedAt: "2026-11-23T16:00:00Z", DiedOf: long,
					Order: 1}})
		}},
		{"#/events", "events", func() {
			text, _ := json.Marshal(map[string]any{"_stamp": markup, "return": markup, markup: long})
			s.send("event", console.EventList{Events: []console.Event{{N: 1, Tag: long, Size: 1, Data: text},
				{N: 2, Tag: markup, Size: 1, Data: text}}})
		}},
		{"#/jobs/20261123163305316797", "job", func() {
			s.rows("job", map[string]any{"job": console.JobHead{Fun: markup, Arg: long + markup, Tgt: long,
				User: markup, Minions: 3, Returned: 1, Silent: 1}})
			s.rows("why", map[string]any{"a": console.Silence{Minion: long, Code: markup, Text: markup}})
			s.rows("output", map[string]any{"f": console.Fold{Minions: []string{markup, long}, Count: 2, Retcode: 1,
				Lines: [][]console.Span{{{Text: markup + long, Color: "red"}}}}})
			s.rows("ways", map[string]any{long: console.Way{Minion: long, State: "late",
				Hops: []console.Step{{Hop: "receive", State: "done", After: &after}, {Hop: "start", State: "late",
					After: &late}}},
				markup: console.Way{Minion: markup, State: markup, Hops: []console.Step{{Hop: markup, State: markup,
					After: &after}}}})
		}},
	}
	for _, width := range []int{1280, 360} {
		s.do(chromedp.EmulateViewport(int64(width), 800))
		for _, v := range views {
			s.show(v.hash, v.view)
			v.feed()
			s.sees("<img src=x")
			s.picture(fmt.Sprint(v.view, width))
			if w := js[int](s.site, "document.documentElement.scrollWidth"); w > width {
				t.Errorf("%s is %d pixels wide, the screen %d", v.hash, w, width)
			}
			if v.view == "job" {
				s.sees("9.0 s late")
				s.sees("2 failed")
			} else if v.view != "jobs" {
				s.click("tbody button")
				s.until("the panel is open", s.panelIsOpen)
				if w := js[int](s.site, "document.getElementById('panel').scrollWidth"); w > width {
					t.Errorf("the panel of %s is %d pixels wide, the screen %d", v.hash, w, width)
				}
				s.keys(kb.Escape)
			}
			if js[bool](s.site, "!!window.taken || !!document.querySelector('#main img, #main script, #panel img, "+
				"#panel script')") {
				t.Errorf("%s ran what it was to show", v.hash)
			}
		}
	}
}
