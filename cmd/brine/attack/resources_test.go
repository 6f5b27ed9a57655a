package attack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/modules/fleet/jobstore"
	"brine/wire/payload"
)

// TestThiefResources: a thief cannot return under another name. The test tries a pending and a rejected key,
// and free text, which are no registered resources, and a resource that is registered during the job. A job for
// other minions gets no return of the thief at all. The tool prints nothing of it, the store contains nothing,
// and the returns of honest minions arrive.
func TestThiefResources(t *testing.T) {
	s := newSite(t, "")
	th := s.namer("thief")
	for _, dir := range []string{"minions_pre/waiting", "minions_rejected/refused"} {
		key, err := os.ReadFile(s.pki("minions/" + honest))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(s.pki(strings.Split(dir, "/")[0]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.pki(dir), key, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	register := func(ids ...any) {
		th.must(payload.M("cmd", payload.CmdRegisterResources, "resources", payload.M("dummy", ids)))
	}
	names := []string{"thief", "waiting", "refused", "nobody", "free text", "late", "mine", honest}
	for i, target := range [][]string{{honest}, {"-L", honest + ",nobody"}, {"-E", "hones."}, {"*"}} {
		if i > 0 { // before that the thief has registered none
			register("mine", "waiting", "refused", honest)
		}
		e := s.listen()
		printed := make(chan result, 1)
		go func() {
			printed <- s.tool("salt", append(append([]string{"--out=txt"}, target...), "test.sleep", "3")...)
		}()
		jid := e.jobOf(s, "test.sleep")
		if i > 0 {
			register("mine", "late")
		}
		for i := range 3000 {
			load := payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", jid, "fun", "test.sleep",
				"return", forged, "retcode", 0)
			if i < len(names)-1 {
				load.Set("resource_id", names[i+1])
			} else if i > len(names) {
				load.Set("resource_id", fmt.Sprintf("nobody%d", i))
			}
			th.must(load)
		}
		want := map[string]bool{honest: true}
		if target[0] == "*" { // the job targets the thief and its earlier resources
			want["thief"], want["mine"] = true, true
		}
		var kept map[string]any
		r := <-printed
		for line := range strings.Lines(r.stdout) {
			if id, _, _ := strings.Cut(line, ":"); !want[id] && strings.Contains(line, forged) {
				t.Errorf("salt %q printed %s", target, line)
			}
		}
		if !strings.Contains(r.stdout, honest+": True") {
			t.Errorf("salt %q printed %s %s", target, r.stdout, r.stderr)
		}
		r = s.tool("salt-run", "--out=json", "jobs.lookup_jid", jid)
		if json.Unmarshal([]byte(r.stdout), &kept) != nil || len(kept) != len(want) {
			t.Errorf("salt %q: kept %s %s", target, r.stdout, r.stderr)
		}
		for _, h := range e.all() {
			if id, is := strings.CutPrefix(h.tag, "salt/job/"+jid+"/ret/"); is && !want[id] {
				t.Errorf("salt %q: the event %s", target, h.tag)
			}
		}
		s.good()
	}
	r := s.tool("brine", "minions", "--json")
	if !strings.Contains(r.stdout, `"thief"`) || !strings.Contains(r.stdout, `"refused"`) {
		t.Errorf("brine minions: %s %s", r.stdout, r.stderr)
	}
	if text := s.logOf(s.master); strings.Count(text, "a minion was refused what it may not do") > 20 {
		t.Error("what was refused is said again and again")
	}
	info, err := os.Stat(s.path("m/var/cache/salt/master/" + jobstore.StoreFile))
	if err != nil || info.Size() > 4<<20 {
		t.Errorf("the job store: %v, %v", info, err)
	}
}

// jobOf waits for the publication of a function and returns its job id.
func (e *ear) jobOf(s *site, fun string) (jid string) {
	s.t.Helper()
	s.eventually("a job of "+fun, func() error {
		for _, h := range e.all() {
			if h.data.Str("fun") == fun && h.data.Has("minions") {
				jid = h.data.Str("jid")
				return nil
			}
		}
		return errors.New("not heard of")
	})
	return jid
}
