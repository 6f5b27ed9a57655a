package attack

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// TestTagsAtEveryDoor: invalid tags are refused at every entrance of the bus, and the sender gets an error.
func TestTagsAtEveryDoor(t *testing.T) {
	a := newAPI(t)
	s, e, id := a.s, a.s.listen(), a.logIn("127.0.0.9", "bob")
	evil := []string{"evil/a\nb", "evil/\x1b[31m", "evil/\u007fx", "evil/" + strings.Repeat("a", 9000)}
	pull := ipc.NewPusher(s.path("m/var/run/salt/master/master_event_pull.ipc"), ipc.FramingDetect)
	defer pull.Close()
	packed, err := event.Pack("x", payload.M("x", 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range append(evil, "evil/\x00", "evil/\u0085x", "evil/\u2028x") {
		if r := a.ask("127.0.0.9", "POST", "/hook/"+url.PathEscape(tag), id, `{}`); r.status != http.StatusBadRequest {
			t.Errorf("/hook, %.20q: %d %s", tag, r.status, r.body)
		}
		if err := pull.Push(t.Context(), slices.Concat([]byte(tag), packed[1:])); err != nil {
			t.Fatal(err)
		}
	}
	if r := a.ask("127.0.0.9", "POST", "/hook/salt/job/20261125224609376131/ret/honest", id,
		`{}`); r.status != http.StatusBadRequest {
		t.Errorf("/hook, the tag of a job: %d %s", r.status, r.body)
	}
	told := func(want bool, fun string, args ...any) {
		t.Helper()
		got, err := s.run(patience, client.Job{Tgt: honest, Fun: fun, Arg: args})
		if err != nil || got[honest].Value("return") != want {
			t.Errorf("%s %.40v: %v, %v, want %v", fun, args, got[honest], err, want)
		}
	}
	for _, tag := range append(evil, "salt/key", "salt/job/20261125224609376131/ret/other") {
		told(false, "event.send", tag)
		told(false, "event.fire_master", payload.M("x", 1), tag)
		for _, argv := range [][]string{{"event.send", tag, "x=1"}, {"event.fire_master", "{x: 1}", tag}} {
			if r := s.tool("salt-call", append([]string{"-c", s.path("etc/" + honest), "--out=json"},
				argv...)...); !strings.Contains(r.stdout, "false") {
				t.Errorf("salt-call %.40v: %s %s", argv, r.stdout, r.stderr)
			}
		}
		if r := s.tool("salt-run", "event.send", tag); !strings.HasPrefix(tag, "salt/") && !strings.Contains(r.stdout,
			"False") {
			t.Errorf("salt-run event.send %.20q: %s %s", tag, r.stdout, r.stderr)
		}
	}
	told(true, "event.send", "good/a")
	told(true, "event.fire_master", payload.M("x", 1), "good/b")
	s.eventually("good events", func() error {
		for _, tag := range []string{"good/a", "good/b"} {
			if !e.has(func(got string, _ *payload.Map) bool { return got == tag }) {
				return fmt.Errorf("%s is not there", tag)
			}
		}
		return nil
	})
	if e.has(func(tag string, _ *payload.Map) bool {
		return event.CheckTag(tag) != nil || strings.Contains(tag, "evil")
	}) {
		t.Error("a tag that is none is on the bus")
	}
	a.end()
}
