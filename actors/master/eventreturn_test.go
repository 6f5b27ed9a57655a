package master

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// eventSite is a master that hands events to rawfile_json, and the file that those end in.
func eventSite(t *testing.T, conf ...string) (*rig, string) {
	t.Helper()
	r := newSite(t, conf...)
	file := filepath.Join(r.dir, "events.json")
	r.write("etc/master.d/events.conf", "rawfile_json.filename: "+file+"\n", 0o644)
	r.reread()
	return r, file
}

// filed are the events in a file, by tag, and how often each is there.
func filed(t *testing.T, file string) (byTag map[string]*payload.Map, times map[string]int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	byTag, times = map[string]*payload.Map{}, map[string]int{}
	for line := range strings.Lines(string(b)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		v, err := pyjson.Load(line)
		one, ok := v.(*payload.Map)
		if err != nil || !ok {
			t.Fatalf("line %q: %v", line, err)
		}
		byTag[one.Str("tag")] = one
		times[one.Str("tag")]++
	}
	return byTag, times
}

// TestEventReturn: events that pass the lists reach the returner in Salt's shape, at the latest when the master stops.
func TestEventReturn(t *testing.T) {
	r, file := eventSite(t, "event_return: [rawfile_json]", "event_return_queue: 1000",
		"event_return_whitelist: ['my/*', salt/event_listen/start]", "event_return_blacklist: ['my/secret*']")
	r.start()
	for n := range 5 {
		r.m.Fire(fmt.Sprintf("my/%d", n), payload.M("n", int64(n)))
	}
	r.m.Fire("my/secret", payload.M("n", int64(1)))
	r.m.Fire("other", payload.M("n", int64(1)))
	r.stop()
	byTag, times := filed(t, file)
	if len(times) != 6 || times["my/4"] != 1 || times[tagListens] != 1 {
		t.Errorf("got %v", times)
	}
	got := byTag["my/3"]
	if fmt.Sprint(got.Keys()) != "[data tag]" || fmt.Sprint(got.Map("data").Keys()) != "[n _stamp]" {
		t.Errorf("got %v", got)
	}
}

// A returner of events that nobody knows keeps a master from starting: it would be thought that they are kept.
func TestEventReturnUnknown(t *testing.T) {
	r, _ := eventSite(t, "event_return: [rawfile_json, nobody, multi_returner]")
	own, err := LoadKeys(r.cfg, actortest.NewLog().Logger())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Options{Config: r.cfg, Logger: r.logger(), Keys: own, RunningUser: userName()}); err == nil ||
		!strings.Contains(err.Error(), "nobody, multi_returner") {
		t.Errorf("got %v", err)
	}
}

// TestEventReturnKilled kills masters while events come to a returner whose file cannot be written at first. Each event
// that had come to the disk is handed over by a later master.
func TestEventReturnKilled(t *testing.T) {
	r, file := eventSite(t, "event_return: rawfile_json", "event_return_whitelist: ['my/*', mark]")
	if err := os.Mkdir(file, 0o700); err != nil { // no file can be opened there
		t.Fatal(err)
	}
	const rounds, events = 3, 200
	for round := range rounds {
		child := r.startChild()
		push := ipc.NewPusher(filepath.Join(r.cfg.SockDir, event.MasterPullSocket), ipc.FramingPlain)
		for n := range events {
			r.push(push, fmt.Sprintf("my/%d", round*events+n), payload.M())
		}
		r.push(push, "mark", payload.M("round", int64(round)))
		r.eventually("the events are on disk", func() error {
			if !waits(t, r.cfg.CacheDir, fmt.Sprintf("my/%d\n", (round+1)*events-1)) {
				return fmt.Errorf("not yet")
			}
			return nil
		})
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		_ = push.Close()
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	r.start()
	var times map[string]int
	r.eventually("all are handed over", func() error {
		if _, times = filed(t, file); times[fmt.Sprintf("my/%d", rounds*events-1)] == 0 {
			return fmt.Errorf("%d are", len(times))
		}
		return nil
	})
	for n := range rounds * events {
		if got := times[fmt.Sprintf("my/%d", n)]; got != 1 {
			t.Errorf("event %d: %d times", n, got)
		}
	}
}

// waits tells whether a text is in the queue on disk.
func waits(t *testing.T, cacheDir, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cacheDir, "event_return", "*.records"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}
