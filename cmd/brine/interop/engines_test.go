//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// enginesOf are engines of a daemon. The webhook listens on port, and DIR contains the script.
func enginesOf(port int, dir string) string {
	return strings.ReplaceAll(fmt.Sprintf(`engines:
  - test
  - script: {cmd: sh DIR/script, interval: 1}
  - yaml: {engine_module: script, cmd: "echo '{tag: from/yaml, data: {a: yes, b: [1, 2.5]}}'", output: yaml, interval: 1}
  - webhook: {address: 127.0.0.1, port: %d}
`, port), "DIR", dir)
}

// engineScript writes events in all forms that Salt's engine accepts.
const engineScript = `echo '{"tag": "from/script", "data": {"n": 1, "t": "é", "l": [null, true]}}'
echo '{"data": {"n": 1}}'
echo '{"tag": "from/empty"}' >&2
echo '{"tag": "from/other", "data": {"id": "m3"}}'
exit 3
`

// hookRequests are paths of requests to a webhook. Both implementations must make the same events of them.
var hookRequests = []string{"/", "/a/b", "/a/b?c=d", "//x", "/../../job/x", "/salt/auth", "/%C3%A9"}

// engineEvents returns the events of engines on the bus, by sender and tag, without data that differs each
// time.
func (w *watcher) engineEvents(by string) map[string]map[string]any {
	out := map[string]map[string]any{}
	for line := range strings.Lines(w.output()) {
		tag, text, _ := strings.Cut(line, "\t")
		var data map[string]any
		if !strings.HasPrefix(tag, "from/") && !strings.HasPrefix(tag, "salt/engines/") || json.Unmarshal([]byte(text),
			&data) != nil {
			continue
		}
		if by != "" && data["id"] != by {
			continue
		}
		forget(data, "_stamp", "Host", "ts", "id", "pid", "__pub_id")
		out[tag] = data
	}
	return out
}

// hooks sends requests to a webhook until each has led to an event.
func (w *watcher) hooks(port int, by string) map[string]map[string]any {
	w.t.Helper()
	var got map[string]map[string]any
	w.eventually(patience, "the events of engines", func() error {
		for _, path := range hookRequests {
			resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d%s", port, path), "text/plain",
				strings.NewReader("hello"))
			if err != nil {
				return err
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != 200 {
				return fmt.Errorf("%s: %s, %v", path, resp.Status, err)
			}
		}
		got = w.engineEvents(by)
		if want := len(hookRequests) - 1 + 4; len(got) < want { // two have the same tag
			return fmt.Errorf("%d of %d tags: %v", len(got), want, got)
		}
		return nil
	})
	return got
}

// TestEngines gives the same engines to a brine master and to a Salt 3008 master, and to minions of both kinds
// behind the brine master. The events on the bus are the same.
func TestEngines(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	fleets := map[string]*fleet{}
	got := map[string]map[string]map[string]any{}
	for _, kind := range []string{reference, brine} {
		f := newFleet(t, kind, brine, map[string]string{"m1": brine, "m2": reference}, plain)
		f.write(f.masterPath("script"), engineScript)
		port := freePort(t)
		f.configMaster(fleetMaster + enginesOf(port, f.masterPath("")))
		f.startMaster(kind)
		w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
		got[kind] = w.hooks(port, "")
		fleets[kind] = f
	}
	if diff := cmp.Diff(got[reference], got[brine]); diff != "" {
		t.Errorf("masters: Salt - brine +\n%s", diff)
	}
	f := fleets[brine]
	w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	ports := map[string]int{}
	for _, id := range f.ids {
		ports[id] = freePort(t)
		f.configMinion(id, fleetMinion+enginesOf(ports[id], f.masterPath("")))
	}
	f.startMinions()
	f.acceptAll()
	for _, id := range f.ids {
		got[id] = w.hooks(ports[id], id)
	}
	if diff := cmp.Diff(got["m2"], got["m1"]); diff != "" {
		t.Errorf("minions: Salt - brine +\n%s", diff)
	}
}

// TestLogstash gives http_logstash to a brine minion and to one of Salt 3006, which still has it. Their server
// gets the same data.
func TestLogstash(t *testing.T) {
	t.Parallel()
	onlyWith(t, "3006")
	var mu sync.Mutex
	posted := map[string]map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var data map[string]any
		if err == nil {
			err = json.Unmarshal(b, &data)
		}
		if err != nil {
			t.Errorf("%s: %v", b, err)
		}
		forget(data, "_stamp")
		mu.Lock()
		defer mu.Unlock()
		posted[strings.Trim(r.URL.Path, "/")+" "+fmt.Sprint(data["n"])] = map[string]any{"type": r.Header.Get(
			"Content-Type"), "method": r.Method, "data": data}
	}))
	defer server.Close()
	f := newFleet(t, brine, brine, map[string]string{"m1": brine, "m2": "3006"}, plain)
	for _, id := range f.ids {
		f.configMinion(id, fleetMinion+fmt.Sprintf("engines:\n  - http_logstash: {url: '%s/%s', tags: ['my/*', "+
			"other], funs: [test.ping]}\n", server.URL, id))
	}
	f.startAll()
	f.acceptAll()
	f.eventually(patience, "what is posted", func() error {
		for _, id := range f.ids {
			for _, one := range [][2]string{{"my/a", `{"n": 1, "fun": "test.ping", "l": [1.5, null, "é"]}`},
				{"my/b", `{"n": 2, "fun": "cmd.run"}`}, {"no", `{"n": 3}`}, {"other", `{"n": 4}`}} {
				f.runIn(f.minionDir(id), f.kinds[id], "salt-call", "event.fire", one[1], one[0])
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(posted) < 4 {
			return fmt.Errorf("got %v", posted)
		}
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	for _, n := range []string{"1", "4"} {
		if diff := cmp.Diff(posted["m2 "+n], posted["m1 "+n]); diff != "" {
			t.Errorf("%s: Salt - brine +\n%s", n, diff)
		}
	}
	if len(posted) != 4 {
		t.Errorf("got %v", posted)
	}
}
