//go:build interop

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"brine/actors/netapi/console"
	"brine/cmd/session"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// hostile are texts that minions, users with few rights, and strangers can bring into a page: as ids, grains,
// arguments, returns, tags, data.
var hostile = []string{
	`<script>window.hurt = 1; alert(1)</script>`,
	`<img src=x onerror="window.hurt = 1; alert(1)">`,
	`"><svg onload="window.hurt = 1"></svg><iframe srcdoc="<script>parent.hurt = 1</script>">`,
	`' onmouseover='window.hurt = 1' autofocus onfocus='window.hurt = 1' style='position:fixed;inset:0'`,
	`javascript:window.hurt=1//`,
	`data:text/html,<script>alert(1)</script>`,
	`<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/"><link rel=stylesheet href=x>`,
	"\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b]8;;javascript:window.hurt=1\x07link\x1b]8;;\x07\x1b[2J\x1b[H",
	"\u202egnp.exe\u2066\u200b\u2067\ufeff\u2028data: x\n\ntag: y\r\n",
	`__proto__`, `constructor`, `toString`, `hasOwnProperty`, `..%2f..%2fapi/logout`,
	strings.Repeat("W", 20000),
	strings.Repeat("<b>", 2000),
	strings.Repeat("a b ", 3000),
}

// ownWords are fields with texts from salt-api itself.
var ownWords = []string{"State", "Key", "Connected", "Code", "Color"}

// fill sets all texts in a value to one text, and gives each list an element.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(ownWords, f.Name) {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(values(text)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	}
}

func filled[T any](text string) (v T) {
	fill(reflect.ValueOf(&v).Elem(), text)
	return v
}

// values returns JSON with a text as key and value, flat and nested.
func values(text string) json.RawMessage {
	key, _ := json.Marshal(text) // a text can always be encoded
	one := fmt.Sprintf(`{%s:%s,"href":%s,"onclick":%s,"innerHTML":%s}`, key, key, key, key, key)
	return json.RawMessage(fmt.Sprintf(`{%s:%s,"list":[%s,%s,[%s]],"deep":%s%s%s}`, key, one, key, one, key,
		strings.Repeat("[", 60), one, strings.Repeat("]", 60)))
}

// listen notes events that a page must never cause.
func (s *site) listen() {
	chromedp.ListenTarget(s.page, func(event any) {
		if e, ok := event.(*page.EventJavascriptDialogOpening); ok {
			s.t.Errorf("a dialog opened: %.100q", e.Message)
		}
	})
	s.do(chromedp.Navigate("about:blank"), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(
			`window.violations = []; addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample))`).Do(ctx)
		return err
	}), chromedp.Navigate(s.url("")))
}

// anew opens a view, and waits for its new stream.
func (s *stand) anew(hash, view string) {
	s.t.Helper()
	before := s.newest.Load()
	js[any](s.site, fmt.Sprintf("location.hash = %q", hash))
	s.until("the stream of "+view+" is open", func() bool {
		f := s.newest.Load()
		return f != nil && f != before && f.view == view
	})
}

// unhurt checks that the page has treated a text only as text.
func (s *site) unhurt(what string) {
	s.t.Helper()
	if found := js[string](s, `JSON.stringify([window.hurt ?? 0, window.violations, location.host.includes("evil"),
		[...document.querySelectorAll("script:not([src]),img:not([src^=icon]),iframe,object,embed,base,meta[http-equiv],link[href=x],svg[onload],[onerror],[onclick],[onmouseover],[onfocus],[srcdoc],b")].map((e) => e.outerHTML.slice(0, 200)),
		[...document.querySelectorAll("[href],[src],[action]")].map((e) => e.href || e.src || e.action).filter((u) => typeof u === "string" && !u.startsWith(location.origin))])`); found != `[0,[],false,[],[]]` {
		s.t.Errorf("%s: %s", what, found)
	}
	if wide := js[string](s, `JSON.stringify([document.documentElement.scrollWidth, document.getElementById("panel").scrollWidth - document.getElementById("panel").clientWidth, ...[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 360.5 && !e.closest("pre,nav,.cut,.options,.hidden,thead,.fold,.lane"))
		.map((e) => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)).slice(0, 5)])`); !strings.HasPrefix(wide, "[360,0") {
		s.t.Errorf("%s: the page is wider than a phone: %s", what, wide)
	}
}

// TestHostileTexts: hostile texts in any part of the page stay text, and never make a phone scroll sideways.
func TestHostileTexts(t *testing.T) {
	text := ""
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/grains"):
			reply(w, console.Grains{ID: text, Grains: values(text)})
		case strings.HasSuffix(r.URL.Path, "/target"):
			reply(w, console.Target{Count: 1, Minions: []string{text}, Missing: []string{text}})
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			_ = json.NewEncoder(w).Encode(console.Problem{Error: text})
		}
	})
	s.open(360, 740)
	s.listen()
	s.until("the page has a stream", func() bool { return s.newest.Load() != nil })
	s.anew("#/events", "events")
	for i, one := range hostile {
		text = one
		mark, what := marker(i+1), fmt.Sprintf("%.30q", one)
		s.anew("#/fleet", "fleet")
		s.rows("fleet", map[string]any{one: filled[console.Minion](one), "pending/x": console.Minion{ID: one,
			Key: "pending"}, "accepted/!": console.Minion{ID: mark, Key: "accepted"}})
		s.sees(mark)
		s.unhurt("fleet " + what)
		js[any](s.site,
			`document.querySelectorAll("tbody tr button").forEach((b) => { if (!b.closest(".acts")) b.click() })`)
		s.until("the panel is open", func() bool {
			return js[bool](s.site,
				`document.querySelector("#panel").open && !!document.querySelector("#panel dt.mono")`)
		})
		s.unhurt("grains " + what)
		js[any](s.site, "document.getElementById('panel').close()")

		s.anew("#/jobs", "jobs")
		s.rows("jobs", map[string]any{one: filled[console.JobRow](one), "2": console.JobRow{JID: "20261123163305316797",
			Fun: mark, State: "done"}})
		s.sees(mark)
		s.unhurt("jobs " + what)

		s.anew("#/jobs/20261123163305316797", "job")
		s.rows("job", map[string]any{"job": filled[console.JobHead](one)})
		s.rows("ways", map[string]any{one: filled[console.Way](one), "": filled[console.Way](one)})
		s.rows("why", map[string]any{one: filled[console.Silence](one), "!": console.Silence{Minion: mark,
			Code: "queued", Text: "x"}})
		s.rows("output", map[string]any{one: filled[console.Fold](one)})
		s.sees(mark)
		s.unhurt("job " + what)

		s.anew("#/actors", "actors")
		s.rows("actors", map[string]any{one: filled[console.Node](one), "master": console.Node{Path: "master",
			Name: mark, State: "running"}})
		s.sees(mark)
		s.unhurt("actors " + what)

		s.anew("#/events", "events")
		s.send("event", console.EventList{Events: []console.Event{{N: 1, Tag: one, Size: 5, Data: values(one)},
			{N: 2, Tag: mark, Data: json.RawMessage(`{}`)}}})
		s.sees(mark)
		s.unhurt("events " + what)
		js[any](s.site,
			`document.querySelectorAll("main tbody button, main ol button, main li button, main details summary").forEach((b) => b.click())`)
		s.unhurt("an event " + what)
		js[any](s.site, "document.getElementById('panel').close()")
		s.send("note", map[string]string{"text": one})

		s.anew("#/"+url.PathEscape(one[:min(len(one), 200)]), "fleet") // an invalid address
		s.unhurt("an address " + what)
		s.anew("#/jobs?tgt="+url.QueryEscape(one[:min(len(one), 500)])+"&fun="+url.QueryEscape(
			one[:min(len(one), 500)]), "jobs")
		s.unhurt("an address " + what)
	}
	s.picture("last")
}

// TestHostileAddresses: rest_cherrypy shows addresses and headers in HTML. Hostile texts in them stay text.
func TestHostileAddresses(t *testing.T) {
	s := newSite(t, plan{})
	s.open(360, 740)
	s.listen()
	origin := strings.TrimSuffix(s.base, "/console/")
	for _, one := range hostile[:8] {
		path := url.PathEscape(one)
		for _, at := range []string{"/", "/hook/", "/minions/", "/jobs/", "/keys/", "/ws/", "/static/", "/login/",
			"/stats?x=", "/events?token=", "/console/", "/console/api/fleet/"} {
			s.do(network.SetExtraHTTPHeaders(network.Headers{"Accept": "text/html, " + strings.Map(func(r rune) rune {
				if r < ' ' {
					return -1
				}
				return r
			}, one), "X-Auth-Token": "x"}))
			if err := s.try(chromedp.Navigate(origin + at + path)); err != nil && !strings.Contains(err.Error(),
				"ERR_") {
				t.Fatal(err)
			}
			if hurt := js[string](s,
				`JSON.stringify([window.hurt ?? 0, [...document.querySelectorAll("script:not([src]),img:not([src^=icon]),iframe,svg[onload],base,[onerror],[onload]")].length])`); hurt != "[0,0]" {
				t.Errorf("%s%.40q: %s", at, one, hurt)
			}
		}
	}
}

// TestHostileMinion: hostile texts that travel through the master stay text, too. They come from a minion's id,
// grains, returns and exceptions, and from arguments and function names of a user with few rights.
func TestHostileMinion(t *testing.T) {
	s := newSite(t, plan{})
	s.write("evil/minion", fmt.Sprintf("root_dir: %s/evil\nid: '<img src=x onerror=window.hurt=1>'\nmaster: "+
		"127.0.0.1\npublish_port: %d\nmaster_port: %d\nuser: %s\nacceptance_wait_time: 1\n"+
		"grains: {'<script>window.hurt=1</script>': ['<img src=x onerror=window.hurt=1>', "+
		"'javascript:window.hurt=1']}\n", s.dir, s.pub, s.ret, session.RunningUser()))
	s.start("salt-minion", "evil")
	s.open(360, 740)
	s.listen()
	s.login("admin", "right")
	s.sees("pending 1")
	s.unhurt("a key that waits")
	s.click("[aria-label^='accept the key of <img']")
	s.sees("1 connected")
	for _, one := range hostile[:10] {
		for _, words := range [][]string{{"test.echo", one}, {"test.arg", "x", one + "=" + one}, {"test." + one}} {
			cmd := exec.Command(filepath.Join(links, "salt"), append([]string{"-c", filepath.Join(s.dir, "etc"), "*"},
				words...)...)
			_ = cmd.Run() // some of them must fail
		}
	}
	for _, v := range allViews {
		s.view(v)
		s.until("there is something in "+v, func() bool {
			return v == "#/events" || js[bool](s, "!!document.querySelector('tbody tr')")
		})
		s.unhurt(v)
	}
	s.view("#/fleet")
	s.click("tbody button")
	s.sees("javascript:window.hurt=1")
	s.unhurt("grains")
	js[any](s, "document.getElementById('panel').close()")
	s.view("#/jobs")
	s.until("all jobs are there", func() bool {
		return js[int](s, "document.querySelectorAll('tbody a').length") >= 25
	})
	for _, at := range js[[]string](s, "[...document.querySelectorAll('tbody a')].slice(0, 30).map((a) => "+
		"a.getAttribute('href'))") {
		s.view(at)
		s.sees("Timeline of each minion")
		s.sees("1 of 1 returned")
		s.unhurt(at)
	}
}
