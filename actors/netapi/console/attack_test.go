package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"brine/wire/payload"
)

// bodyFor returns a valid body for a route.
func bodyFor(t *testing.T, r route) string {
	t.Helper()
	text, err := json.Marshal(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFewRights attacks every address: without a session, as a user without rules, and as a user who may only
// run test.*. The test finds new addresses itself.
func TestFewRights(t *testing.T) {
	s, front := serve(t)
	for _, r := range (&console{}).routes() {
		path := strings.ReplaceAll(r.Path, "{id}", "web1")
		for user, rules := range map[string][]any{"": nil, "nobody": {}, "limited": {"test.*"}} {
			want := http.StatusForbidden
			switch {
			case r.Open || r.raw != nil && !r.Streams && user != "":
				continue // log-in, log-out, description, session
			case user == "":
				want = http.StatusUnauthorized
			case r.Right != rightNone && may(rules, r.Right):
				continue
			case r.Streams:
				for _, view := range []string{"fleet", "actors", "events"} {
					if res, text := send(t, s, user, r.Method, path+"?view="+view, ""); res.StatusCode != want {
						t.Errorf("%s, %s: %d %s", user, view, res.StatusCode, text)
					}
				}
				continue
			}
			if res, text := send(t, s, user, r.Method, path, bodyFor(t, r)); res.StatusCode != want {
				t.Errorf("%q, %s %s: got %d %s, want %d", user, r.Method, r.Path, res.StatusCode, text, want)
			}
		}
	}
	if len(front.calls) > 0 {
		t.Errorf("the master was asked: %v", <-front.calls)
	}
}

// TestOtherSites: no address that changes anything answers a page of another site, whichever header reveals the
// site.
func TestOtherSites(t *testing.T) {
	s, front := serve(t)
	for _, r := range (&console{}).routes() {
		path := strings.ReplaceAll(r.Path, "{id}", "web1")
		body := ""
		if r.Method != http.MethodGet {
			body = bodyFor(t, r)
		}
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Origin", "null"}, {"Origin", "https://evil.example"},
			{"Origin", "http://127.0.0.1"}} { // the same machine, another port
			if res, text := send(t, s, "admin", r.Method, path, body,
				headers...); res.StatusCode != http.StatusForbidden {
				t.Errorf("%v: %s %s: %d %.200s", headers, r.Method, r.Path, res.StatusCode, text)
			}
		}
		if r.Method == http.MethodGet {
			continue
		}
		for _, headers := range [][]string{{writeHeader, ""}, {"Content-Type", "text/plain"},
			{"Content-Type", "multipart/form-data; boundary=x"}, {"Content-Type", ""}} {
			// a type that a form can send
			if res, text := send(t, s, "admin", r.Method, path, body, headers...); res.StatusCode < 400 {
				t.Errorf("%v: %s %s: %d %.200s", headers, r.Method, r.Path, res.StatusCode, text)
			}
		}
	}
	if len(front.calls) > 0 {
		t.Errorf("the master was asked: %v", <-front.calls)
	}
}

// TestTargetsTellNothing: a user who may not see the fleet cannot find out which minions a target matches by
// asking for functions.
func TestTargetsTellNothing(t *testing.T) {
	s, _ := serve(t)
	seen := map[string]bool{}
	for _, q := range []string{"tgt=web1&tgt_type=glob", "tgt=nosuch&tgt_type=list", "tgt=(&tgt_type=glob",
		"tgt=I@password:x&tgt_type=compound", "tgt=password:x&tgt_type=pillar", "tgt=os:Debian&tgt_type=grain",
		"tgt=web1"} {
		res, text := send(t, s, "limited", "GET", "/console/api/functions?"+q, "")
		seen[res.Status+text] = true
	}
	if len(seen) != 1 {
		t.Errorf("the answers are told apart: %v", seen)
	}
}

// TestOddIDs: an invalid id reaches neither the files nor the wheel.
func TestOddIDs(t *testing.T) {
	s, front := serve(t)
	for _, id := range []string{"..", "%2e%2e", "a%2Fb", "..%2F..%2Fmaster", "%00", "a%00b", "*", "web?", "[a-z]*",
		"%0aweb1"} {
		for _, what := range [][2]string{{"GET", "/grains"}, {"POST", "/key"}} {
			res, text := send(t, s, "admin", what[0], "/console/api/fleet/"+id+what[1], `{"act":"delete"}`)
			if what[0] == "GET" && strings.ContainsAny(id, "*?[") {
				// a valid name without grains
				continue
			}
			if res.StatusCode < 300 {
				t.Errorf("%s: %d %s", id, res.StatusCode, text)
			}
		}
	}
	if len(front.calls) > 0 {
		t.Errorf("the master was asked: %v", <-front.calls)
	}
}

// TestHugeReturns: the shown part of returns is limited, for each return and in total, and is the same each
// time.
func TestHugeReturns(t *testing.T) {
	line := strings.Repeat("<img src=x onerror=alert(1)>", 4) + "\n"
	huge := strings.Repeat(line, (8<<20)/len(line))
	size := func(r rows) int {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	one := folded(payload.M("a", payload.M("return", huge)))
	if n := size(one); n > 4*maxOutput {
		t.Errorf("8 MB become %d bytes", n)
	}
	for _, v := range one {
		if !v.(Fold).Cut {
			t.Error("it is not said that something is missing")
		}
	}
	many := payload.M()
	for i := range 2000 {
		many.Set(strings.Repeat("m", 5)+string(rune('a'+i%26))+strings.Repeat("x", i/26),
			payload.M("return", strings.Repeat("y", 20000)+strings.Repeat("z", i)))
	}
	first := folded(many)
	if n := size(first); n > 2*maxOutputs || len(first) != maxFolds {
		t.Errorf("%d folds, %d bytes", len(first), n)
	}
	for key := range folded(many) {
		if first[key] == nil {
			t.Fatal("others are shown the second time")
		}
	}
}
