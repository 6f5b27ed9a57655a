//go:build interop

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/netapi/console"
	"brine/wire/payload"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const stackOfADeath = `goroutine 81 [running]:
brine/supervisor.Crash(...)
	/build/brine/supervisor/crash.go:31
brine/actors/master.(*jobStore).commit(0xc0004a2000, 0xc000512345)
	/build/brine/actors/master/jobstore.go:211 +0x1d4`

// told answers requests below /console/api/ with a fleet that has an example of everything.
func told(w http.ResponseWriter, r *http.Request) {
	hour := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	switch path := strings.TrimPrefix(r.URL.Path, "/console/api/"); {
	case strings.HasSuffix(path, "/grains"):
		reply(w, console.Grains{Grains: json.RawMessage(`{"os":"Debian","osfullname":"Debian GNU/Linux","ipv4":["10.0.0.17","127.0.0.1"],"cpu_model":"Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz","mem_total":3921,
			"ip_interfaces":{"eth0":["10.0.0.17","fe80::4001:aff:fe00:11"],"lo":["127.0.0.1"],"docker0":[],"wg0":["10.8.0.2"]},"empty":{},"roles":["web","cache"],"virtual":"kvm"}`)})
	case strings.HasPrefix(path, "functions"):
		reply(w, map[string]any{"functions": []map[string]string{{"name": "test.ping", "args": ""},
			{"name": "test.echo", "args": "text"}, {"name": "test.kwarg", "args": "**kwargs"},
			{"name": "test.sleep", "args": "length"}}})
	case path == "actor/stack":
		reply(w, console.Stack{Stack: stackOfADeath})
	case path == "actor":
		death := map[string]any{"time": hour, "reason": "commit: no space left on device",
			"message": "*master.StoreReturn", "lived_ms": 81234, "incarnation": 2, "stack": stackOfADeath}
		text, _ := json.Marshal(map[string]any{"name": "JobStore", "path": "master/JobStore", "state": "running",
			"since": hour, "incarnation": 3, "restarts": 2, "restarts_hour": 2, "received": 81234, "sent": 402,
			"failed": 2, "lost": 2, "in_hand": "*master.StoreReturn", "in_hand_ms": 12, "note": "20261123232450898969",
			"handling": map[string]any{"p50_us": 120, "p99_us": 48211, "max_us": 1200345},
			"waiting":  map[string]any{"p50_us": 12, "p99_us": 911, "max_us": 40000}, "deaths": []any{death, death},
			"quarantine": []any{map[string]any{"message": "*master.StoreReturn", "size": 40211,
				"reason": "the third death with it in hand"}}})
		reply(w, console.Actor{Node: text})
	default:
		w.WriteHeader(http.StatusNotFound)
		reply(w, console.Problem{Error: "There is no such address."})
	}
}

// look is a state of the page to check.
type look struct {
	name, hash, view string
	feed             func(s *stand)
	shows            string // a text that the finished page shows
}

// masterAway is a further look.
func masterAway() look {
	return look{"away", "#/jobs", "jobs", func(s *stand) {
		s.send("note", console.Note{Table: "master", Text: "The master is away: it does not run, or nobody answers " +
			"at its sockets."})
	}, "Not known while the master is away."}
}

func ptr(n int64) *int64 { return &n }

func looks() []look { return slices.Concat(fleetLooks(), jobLooks(), otherLooks()) }

func click(selector string) func(*stand) {
	return func(s *stand) { s.click(selector) }
}

// at is a time in the format of the console, jid the id of a job.
func at(ago time.Duration) string { return time.Now().UTC().Add(-ago).Format(time.RFC3339) }

func jid(ago time.Duration) string { return payload.NewJID(time.Now().UTC().Add(-ago)) }

func fleetLooks() []look {
	return []look{
		{"fleet-empty", "#/fleet", "fleet", func(s *stand) { s.rows("fleet", nil) }, "No minion has a key here yet"},
		{"fleet", "#/fleet", "fleet", func(s *stand) {
			m := map[string]any{}
			for i := range 6 {
				id := fmt.Sprintf("web%02d.fra1.example.com", i)
				m["accepted/"+id] = console.Minion{ID: id, Key: "accepted", Connected: []string{"yes", "yes", "no",
					"unknown"}[i%4], Brine: i%2 == 0, Version: []string{"3008.3", "3006.9", ""}[i%3], Protocol: 3,
					Heard: at(time.Duration(i*i) * 40 * time.Second), JID: jid(time.Duration(i) * time.Hour),
					Fun: []string{"state.apply", "test.ping", "pkg.upgrade"}[i%3]}
			}
			m["accepted/a"] = console.Minion{ID: "build-runner-with-a-name-that-somebody-made-far-too-long-0001." +
				"eu-central-1.compute.internal.example.com", Key: "accepted", Connected: "yes", Version: "3008.3",
				Heard: at(3 * time.Second), JID: jid(time.Minute), Fun: "saltutil.refresh_pillar", Refused: 4}
			for _, id := range []string{"db1", "db2", "edge-gw-17.site-b"} {
				m["pending/"+id] = console.Minion{ID: id, Key: "pending", Heard: at(20 * time.Second)}
			}
			m["rejected/old1"], m["denied/web01"] = console.Minion{ID: "old1", Key: "rejected"},
				console.Minion{ID: "web01.fra1.example.com", Key: "denied"}
			s.rows("fleet", m)
		}, "denied 1"},
		{"fleet-refused", "", "", func(s *stand) {
			s.click("[aria-label='accept the key of db1']")
		}, "There is no such address."},
		{"minion", "", "", click("tr[data-key='accepted/web00.fra1.example.com'] button"), "osfullname"},
		{"minion-pending", "", "", func(s *stand) {
			s.keys(kb.Escape)
			s.click("tr[data-key='pending/db1'] button.text")
		}, "Grains"},
	}
}

func jobLooks() []look {
	now := time.Now().UTC()
	return []look{
		{"jobs", "#/jobs", "jobs", func(s *stand) {
			m := map[string]any{}
			for i, state := range []string{"running", "queued", "silent", "done", "stored", "running", "done"} {
				id := jid(time.Duration(i*i*i) * 9 * time.Minute)
				m[id] = console.JobRow{JID: id, Fun: []string{"state.apply", "test.ping", "pkg.upgrade"}[i%3],
					Tgt: []string{"*", "G@os:Debian and web*",
						"web01,web02,web03,web04,web05,web06,web07,web08,web09,web10"}[i%3], TgtType: []string{"glob",
						"compound", "list"}[i%3], User: []string{"root", "sudo_annalena"}[i%2], State: state,
					Minions: 1204, Returned: int64([]int{604, 0, 1190, 1204, -1, 12, 1204}[i]), Queued: []int64{0, 0, 0,
						0, 0, 3, 0}[i]}
			}
			s.rows("jobs", m)
		}, "sudo_annalena"},
		{"jobs-completion", "", "", func(s *stand) {
			js[any](s.site, "document.querySelector('.run [role=combobox]').focus()")
			s.keys("test.")
			s.keys(kb.ArrowDown)
		}, "test.kwarg"},
		{"job", "#/jobs/20261123163305316797", "job", func(s *stand) {
			s.rows("job", map[string]any{"job": console.JobHead{Fun: "state.apply", Arg: "webserver test=True",
				Tgt: "web*", TgtType: "glob", User: "sudo_annalena", Began: now.Add(-time.Minute).UnixMicro(),
				Minions: 7, Returned: 5, Silent: 2}})
			s.rows("why", map[string]any{"a": console.Silence{Minion: "web05.fra1.example.com", Code: "not_connected",
				Text: "It is not connected: last heard 14 minutes ago."},
				"b": console.Silence{Minion: "web06.fra1.example.com", Code: "queued", Text: "It waits on the " +
					"minion behind 3 other jobs, the first of which is 20261123163305316797 (pkg.upgrade)."}})
			span := func(c, t string) console.Span { return console.Span{Text: t, Color: c} }
			s.rows("output", map[string]any{
				"x": console.Fold{Minions: []string{"web00.fra1.example.com", "web01.fra1.example.com",
					"web02.fra1.example.com", "web03.fra1.example.com"}, Count: 4,
					Lines: [][]console.Span{{span("cyan", "web00:")},
						{span("", "  Name: "), span("", "/etc/nginx/nginx.conf - Function: file.managed - Result: "),
							span("green", "Clean"), span("", " - Started: 16:33:05.316797 - Duration: 12.11 ms")},
						{span("yellow bold", "  Summary")}, {span("green", "Succeeded: 12"), span("", " ("),
							span("yellow", "changed=1"), span("", ")")}, {span("red", "Failed:     0")},
						{span("blue", "blue "), span("magenta", "magenta "), span("white", "white "),
							span("black", "black "), span("cyan bold", "bold")}}},
				"y": console.Fold{Minions: []string{"web04.fra1.example.com"}, Count: 1, Retcode: 2, Cut: true,
					Lines: [][]console.Span{{span("red", "The minion function caused an exception: Traceback (most "+
						"recent call last)")}}}})
			ways := map[string]any{"": console.Way{Hops: []console.Step{{Hop: "command", State: "done", After: ptr(0)},
				{Hop: "publish", State: "done", After: ptr(21000)}, {Hop: "reply", State: "late",
					After: ptr(1421000)}}}}
			for i := range 6 {
				k := int64(i + 1)
				ways[fmt.Sprintf("web%02d", i)] = console.Way{Minion: fmt.Sprintf("web%02d.fra1.example.com", i),
					State: []string{"returned", "late", "returned", "missing", "open", "returned"}[i],
					Hops: []console.Step{{Hop: "receive", State: "done", After: ptr(9000 * k)},
						{Hop: "start", State: "done", After: ptr(400000 * k)},
						{Hop: "end", State: []string{"done", "late"}[i%2], After: ptr(1800000 * k)},
						{Hop: "arrive", State: "done", After: ptr(2100000 * k)}}}
			}
			s.rows("ways", ways)
		}, "Failed:     0"},
	}
}

func otherLooks() []look {
	now := time.Now().UTC()
	return []look{
		{"actors", "#/actors", "actors", func(s *stand) {
			node := func(i, depth int, name string) console.Node {
				return console.Node{Path: "master/" + name, Name: name, Order: i, Depth: depth,
					State: []string{"running", "running", "backoff", "dead", "starting"}[i%5], Rate: float64(i*i*i) / 3,
					Busy: float64(i) / 9, P99US: int64(i * i * 911), Mailbox: int64(i % 3 * 1204),
					OldestMS: int64(i * 420)}
			}
			m := map[string]any{}
			for i, name := range []string{"master", "EventPublisher", "ReqServer", "MWorker-fast-0", "MWorker-fast-1",
				"JobStore", "Subscriber-0123456789abcdef0123456789abcdef0123456789abcdef", "Maintenance"} {
				n := node(i, []int{0, 1, 1, 2, 2, 1, 3, 1}[i], name)
				if i > 4 {
					n.Restarts, n.DiedAt, n.DiedOf = int64(i), at(time.Duration(i)*time.Minute),
						"commit of the job store: write /var/cache/salt/master/jobs.db: no space left on device"
				}
				if i == 3 {
					n.Note = "20261123232450898969"
				}
				m[n.Path] = n
			}
			s.rows("actors", m)
			for range 30 {
				js[any](s.site, "tick(1)")
			}
		}, "commit of the job store"},
		{"actor", "", "", func(s *stand) {
			s.click("tr[data-key='master/JobStore'] button")
			s.sees("Last deaths")
			s.click("#panel details summary")
			s.click("#panel .body > button")
		}, "supervisor.Crash"},
		{"events", "#/events", "events", func(s *stand) {
			list := console.EventList{Missed: 31}
			for i := range 8 {
				data, _ := json.Marshal(map[string]any{"_stamp": now.Format("2006-01-02T15:04:05.000000"),
					"jid": "20261123163305316797", "id": fmt.Sprint("web0", i), "fun": "state.apply",
					"fun_args": []string{"webserver"}, "return": map[string]any{"changes": map[string]any{"a": 1,
						"b": 2, "c": 3, "d": 4}}, "retcode": i % 3, "success": true})
				list.Events = append(list.Events, console.Event{N: int64(i + 1), Size: 400, Data: data,
					Tag: []string{"salt/job/20261123163305316797/ret/web00.fra1.example.com", "salt/auth",
						"minion_start"}[i%3]})
			}
			list.Events = append(list.Events, console.Event{N: 99, Size: 4194304,
				Tag: "salt/job/20261123163305316797/ret/large"})
			s.send("event", list)
		}, "4194304 bytes"},
		{"event", "", "", func(s *stand) {
			s.click("tbody tr:nth-child(2) button")
			s.click("#panel .body > details summary")
		}, "As JSON"},
		{"help", "#/fleet", "fleet", func(s *stand) { s.click("#help") }, "show these keys"},
		{"lost", "", "", func(s *stand) {
			s.keys(kb.Escape)
			s.rows("fleet", map[string]any{"accepted/web1": console.Minion{ID: "web1", Key: "accepted",
				Connected: "yes"}})
			s.sees("web1")
			s.down.Store(true)
			s.send("", nil)
		}, "connection lost"},
	}
}

// seen is a script that lists visible faults: elements that leave the screen, are cut off without a way to read
// the rest, cover other elements, or are too small for a finger.
const seen = `(() => {
	const wide = innerWidth, out = [], say = (what, e) => out.push(what + ": " + e.tagName + "." + e.className + " " + JSON.stringify((e.innerText || e.ariaLabel || "").slice(0, 40)));
	const panel = document.getElementById("panel"), root = panel.open ? panel : document.body;
	if (document.documentElement.scrollWidth > wide) out.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const e of root.querySelectorAll("*")) {
		const r = e.getBoundingClientRect(), c = getComputedStyle(e);
		if (!e.checkVisibility({ visibilityProperty: true }) || !r.width || e.closest(".hidden, .skip, thead, [hidden], svg") || (!panel.open && e.closest("dialog"))) continue;
		if ((r.right > wide + 1 || r.left < -1) && !e.closest("pre")) say("beyond the screen", e);
		if (e.scrollWidth > e.clientWidth + 1 && c.overflowX === "hidden" && c.display !== "inline" && !e.closest("[title]") && !e.closest(".cut, .lane, svg")) say("cut off", e);
		if (e.matches("button, a[href], input, select, summary") && (r.height < 24 || r.width < 24) && !e.closest("p, td, dd, .ids") && !e.matches("input[type=checkbox]")) say("too small (" + Math.round(r.width) + "×" + Math.round(r.height) + ")", e);
		if (e.matches("td .tag") && !/\s/.test(e.innerText) && r.height > 34) say("a word is broken", e);
		if (wide < 700 && e.matches("input, select") && parseFloat(c.fontSize) < 16) say("phones zoom in on a field of " + c.fontSize, e);
	}
	const rows = [...root.querySelectorAll("header > *, .bar > *, .acts > *, .chips > *, dl > *, .run form > *")].filter((e) => e.checkVisibility() && !e.matches(".hidden, .lost")).map((e) => [e, e.getBoundingClientRect()]);
	for (const [e, a] of rows) for (const [f, b] of rows) if (e !== f && e.parentElement === f.parentElement && e.compareDocumentPosition(f) & 4 && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) say("lies on " + f.tagName + "." + f.className, e);
	return [...new Set(out)].slice(0, 12) })()`

// TestLooks: every view and panel with an example of everything, light and dark, on a phone and on a screen.
// Nothing is cut off, covered, too small or too faint. BRINE_PICTURES names a folder for the pictures.
func TestLooks(t *testing.T) {
	for _, width := range []int{360, 1280} {
		for _, theme := range []string{"dark", "light"} {
			t.Run(fmt.Sprint(theme, width), func(t *testing.T) {
				s := newStand(t, told)
				s.open(width, 800)
				s.tickByHand()
				s.inTheme(theme)
				s.anew("#/events", "events")
				for _, l := range append([]look{masterAway()}, looks()...) {
					if l.hash != "" {
						s.anew(l.hash, l.view)
					}
					l.feed(s)
					s.sees(l.shows)
					s.do(chromedp.Evaluate("new Promise((done) => requestAnimationFrame(() => "+
						"requestAnimationFrame(done)))", nil))
					s.picture(l.name)
					if found := js[[]string](s.site, seen); len(found) > 0 {
						t.Errorf("%s: %s", l.name, strings.Join(found, "\n"))
					}
					if width < 700 { // TestConsole runs axe on a screen
						s.bringAxe(t)
						s.check(t, l.name)
					}
				}
			})
		}
	}
}
