//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// jobs runs jobs with every kind of end.
func (f *fleet) jobs() {
	f.expect(f.tools, "hello", f.ids, "*", "cmd.run", "echo hello")
	for _, words := range [][]string{{"test.ping,cmd.run", ",", "echo two"}, {"test.ping,cmd.run", ",,", "echo two",
		"--args-separator=,,"}} {
		f.expectEach(f.tools, f.ids, func(v any) error {
			return same(v, map[string]any{"test.ping": true, "cmd.run": "two"})
		}, append([]string{"*"}, words...)...)
	}
	f.prints(1, []string{"*", "cmd.run", "exit 3"}, f.ids...)
	f.prints(1, []string{"*", "test.nosuch"}, "'test.nosuch' is not available.")
	f.prints(1, []string{"*", "test.exception", "boom"}, "Exception: boom")
	finder := f.tools
	if f.master == brine {
		finder = brine // the returns are in brine's own job store
	}
	f.lookUp(finder, f.async("*", "test.arg_clean", "x", "k=1"))
}

// prints runs salt and checks its exit code, and that its output contains each part.
func (f *fleet) prints(code int, words []string, parts ...string) {
	f.t.Helper()
	for try := 1; ; try++ {
		r := f.run(f.tools, "salt", append([]string{"-t", f.wait}, words...)...)
		missing := slices.IndexFunc(parts, func(part string) bool { return !strings.Contains(r.stdout, part) })
		if r.code == code && missing < 0 {
			return
		}
		f.t.Logf("try %d: salt %q: exit %d, want %d and %q\n%s%s", try, words, r.code, code, parts, r.stdout, r.stderr)
		if try >= f.tries {
			f.t.Fail()
			return
		}
	}
}

// async starts a job without waiting and returns its jid.
func (f *fleet) async(words ...string) string {
	f.t.Helper()
	return lastWord(f.mustRun(f.tools, "salt", append([]string{"--async"}, words...)...).stdout)
}

// lookUp waits until salt-run of a kind finds the returns of a job for all minions in the job cache.
func (f *fleet) lookUp(kind, jid string) {
	f.t.Helper()
	f.eventually(patience, "returns of job "+jid, func() error {
		var got map[string]any
		r := f.run(kind, "salt-run", "--out=json", "jobs.lookup_jid", jid)
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
			return fmt.Errorf("%w: %s%s", err, r.stdout, r.stderr)
		}
		return all(got, map[string]any{"args": []any{"x"}, "kwargs": map[string]any{"k": 1}}, f.ids...)
	})
}

// targets selects minions with every kind of target. On a real master brine's salt does it.
func (f *fleet) targets() {
	tools := f.tools
	if f.master != brine {
		tools = brine
	}
	some, glob := f.ids[:1], f.ids[0][:1]+"*"
	for _, tt := range []struct {
		want   []string
		target []string
	}{
		{f.ids, []string{glob}},
		{f.ids, []string{"-E", "[bm][0-9a-z]+"}},
		{f.ids, []string{"-L", f.list()}},
		{f.ids, []string{"-G", "role:web"}},
		{f.ids, []string{"-P", "role:w.b"}},
		{f.ids, []string{"-S", "127.0.0.1"}},
		{f.ids, []string{"-S", "127.0.0.0/8"}},
		{f.ids, []string{"-N", "webs"}},
		{f.ids, []string{"-C", "G@role:web and ( P@role:x or S@127.0.0.1 ) and N@webs and not L@nobody,none and " +
			"E@..* and " + glob}},
		{some, []string{some[0]}},
		{some, []string{"-L", some[0] + ",nobody"}},
		{some, []string{"-E", some[0] + "$"}},
		{some, []string{"-C", "G@role:web and " + some[0]}},
		{f.ids[1:], []string{"-C", glob + " and not " + some[0]}},
	} {
		f.expect(tools, true, tt.want, append(tt.target, "test.ping")...)
	}
	f.expect(tools, true, f.ids, "-I", "role:db", "test.ping")
	f.expect(tools, true, f.ids, "-J", "role:d.", "test.ping")
	f.expect(tools, true, f.ids, "-C", "I@role:db and J@role:d.", "test.ping")
}

// mineAndPublish lets minions read each other's mine and send jobs to each other.
func (f *fleet) mineAndPublish() {
	f.expect(f.tools, true, f.ids, "*", "mine.send", "test.ping")
	f.expectEach(f.tools, f.ids, func(v any) error {
		return all(asMap(v), true, f.ids...)
	}, "*", "mine.get", "*", "test.ping")
	f.expect(f.tools, true, f.ids, "*", "mine.delete", "test.ping")
	from := [][]string{f.ids}
	if f.master != brine { // every publication occupies two of its workers, so the minions take turns
		from = slices.Collect(slices.Chunk(f.ids, 1))
	}
	for _, ids := range from {
		to := []string{"-L", strings.Join(ids, ","), "publish.publish", f.list()}
		f.expectEach(f.tools, ids, func(v any) error {
			return all(asMap(v), "pub", f.ids...)
		}, append(to, "test.echo", "pub", "tgt_type=list")...)
		f.expectEach(f.tools, ids, func(v any) error {
			return all(asMap(v), nil)
		}, append(to, "cmd.run", "echo no", "tgt_type=list")...)
	}
}

// events lets a real salt-run listen on the bus while jobs run. It counts the events and ends on its own.
func (f *fleet) events(watcher string) {
	perJob := len(f.ids) + 1
	d := f.start(watcher+"-state-event", toolPath(f.t, watcher, "salt-run"), "-c", f.masterDir(), "state.event",
		"salt/job/*", fmt.Sprintf("count=%d", 3*perJob))
	f.eventually(patience, "end of salt-run state.event", func() error {
		if d.ended() {
			return nil
		}
		f.returns(brine, "-t", "5", "*", "test.ping")
		return fmt.Errorf("it saw:\n%s", d.output())
	})
	out := d.output()
	for _, id := range f.ids {
		if !sawReturn(out, id) {
			f.t.Errorf("salt-run state.event saw no return of %s:\n%s", id, out)
		}
	}
	if err := contains(out, "/new\t"); err != nil {
		f.t.Error(err)
	}
}

// sawReturn tells whether the output of state.event contains a whole return event of a minion.
func sawReturn(out, id string) bool {
	for line := range strings.SplitSeq(out, "\n") {
		tag, data, _ := strings.Cut(line, "\t")
		var ret map[string]any
		if strings.HasSuffix(tag, "/ret/"+id) && json.Unmarshal([]byte(data), &ret) == nil {
			return ret["id"] == id && ret["return"] == true && ret["fun"] == "test.ping" && ret["retcode"] == 0.0 &&
				ret["success"] == true
		}
	}
	return false
}

// restarts restarts the master and then every minion.
func (f *fleet) restarts() {
	f.site.master.stop()
	f.startMaster(f.master)
	f.awaitPing(f.ids...)
	f.stopMinions()
	f.startMinions()
	f.awaitReady(f.ids...)
	f.awaitPing(f.ids...)
}

// travels runs jobs under a variant, with brine's salt.
func (f *fleet) travels(v variant) {
	f.expect(brine, true, f.ids, "*", "test.ping")
	f.expect(brine, true, f.ids[:1], f.ids[0], "test.ping")
	f.expect(brine, true, f.ids[:2], "-L", strings.Join(f.ids[:2], ","), "test.ping")
	f.expect(brine, "x", f.ids, "-G", "role:web", "test.echo", "x")
	f.expect(brine, "hello", f.ids, "-E", "[bm].*", "cmd.run", "echo hello")
	f.expect(brine, true, f.ids, "-C", "G@role:web and N@webs", "test.ping")
	signed := f.masterPath("etc/salt/pki/master/master_sign.pub")
	if _, err := os.Stat(signed); v.name == "signed key" && err != nil {
		f.t.Error(err)
	}
}
