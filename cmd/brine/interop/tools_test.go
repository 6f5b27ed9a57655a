//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// framing is the value of a master's ipc_framing that these tools need. brine's tools find out themselves.
func framing(tools string) string {
	if tools == "3006" {
		return "ipc_framing: length\n"
	}
	return ""
}

// TestSaltToolsDriveBrine runs salt, salt-key and salt-run of four releases with a brine master that uses
// Salt's own job cache.
func TestSaltToolsDriveBrine(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			driveMaster(t, brine, brine, release)
		})
	}
}

// TestBrineToolsDriveSalt runs brine's salt, salt-key and salt-run with real masters.
func TestBrineToolsDriveSalt(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			driveMaster(t, release, release, brine)
		})
	}
}

// driveMaster runs an operator's commands on one master with two minions.
func driveMaster(t *testing.T, master, minion, tools string) {
	t.Helper()
	f := newFleet(t, master, tools, map[string]string{"m1": minion, "m2": brine}, variant{
		"tools", "master_job_cache: local_cache\n" + framing(tools), plain.minion})
	f.startAll()
	f.step("salt-key", (*fleet).typeKeys)
	f.step("salt", (*fleet).typeJobs)
	f.step("salt-run", (*fleet).typeRunners)
	f.step("events", func(f *fleet) { f.events(tools) })
	f.step("salt-call", (*fleet).typeCalls)
	if tools == brine {
		f.step("fire", (*fleet).fire)
	}
	f.step("deletion", func(f *fleet) {
		f.mustRun(tools, "salt-key", "-y", "-d", "m1")
		if got := f.keyState("m1"); got != "" {
			f.t.Errorf("after the deletion m1 is in %q", got)
		}
		f.mustRun(tools, "salt-key", "-y", "-D")
		if got := f.keyState("m2"); got != "" {
			f.t.Errorf("after the deletion of all m2 is in %q", got)
		}
	})
}

// typeKeys moves keys between the folders and lists them.
func (f *fleet) typeKeys() {
	f.awaitKey("minions_pre", f.ids...)
	if err := contains(f.mustRun(f.tools, "salt-key", "-L").stdout, "Unaccepted Keys:\nm1\nm2"); err != nil {
		f.t.Error(err)
	}
	f.mustRun(f.tools, "salt-key", "-y", "-r", "m1")
	f.awaitKey("minions_rejected", "m1")
	f.listed(f.tools, "minions_rejected", "m1")
	f.mustRun(f.tools, "salt-key", "-y", "-a", "m1", "--include-rejected")
	f.awaitKey("minions", "m1")
	f.mustRun(f.tools, "salt-key", "-y", "-A")
	f.awaitKey("minions", f.ids...)
	f.listed(f.tools, "minions", f.ids...)
	f.sameOutput("salt-key", "-p", "m1")
	f.sameOutput("salt-key", "--out=json", "-l", "all")
	f.awaitReady(f.ids...)
	f.awaitPing(f.ids...)
}

// typeJobs publishes jobs and checks how they end.
func (f *fleet) typeJobs() {
	one := []string{"m1"}
	f.expect(f.tools, "hello", f.ids, "*", "cmd.run", "echo hello")
	f.expect(f.tools, true, f.ids, "-N", "webs", "test.ping")
	f.expect(f.tools, true, one, "-C", "m1 and G@role:web", "test.ping")
	f.expect(f.tools, true, one, "-b", "1", "-L", "m1", "test.ping")
	f.expect(f.tools, true, f.ids, "-b", "50%", "*", "test.ping")
	f.expect(f.tools, true, f.ids, "-b", "100%", "-E", "m.", "test.ping")
	f.expect(f.tools, true, f.ids, "-s", "*", "test.ping")
	for _, tt := range []struct {
		words []string
		parts []string
		code  int
	}{
		{[]string{"m1", "test.ping"}, []string{"m1:\n    True"}, 0},
		{[]string{"m1", "test.echo", "a b", "--out=txt"}, []string{"m1: a b"}, 0},
		{[]string{"m1", "test.echo", "a", "--out=yaml"}, []string{"m1: a"}, 0},
		{[]string{"m1", "test.echo", "a", "--out=raw"}, []string{"{'m1': 'a'}"}, 0},
		{[]string{"-v", "m1", "test.ping"}, []string{"Executing job with jid ", "m1:\n    True"}, 0},
		{[]string{"--summary", "m1", "test.ping"}, []string{"# of minions targeted: 1", "# of minions returned: 1"}, 0},
		{[]string{"m1", "test.ping,test.echo", ",", "x"}, []string{"test.echo:\n        x", "test.ping:\n        True"},
			0},
		{[]string{"m1", "test.exception", "boom"}, []string{"Exception: boom"}, 1},
		{[]string{"m1", "cmd.run", "exit 3"}, []string{"m1:"}, 1},
		{[]string{"m1", "test.nosuch"}, []string{"'test.nosuch' is not available."}, 1},
		{[]string{"nobody", "test.ping"}, []string{"No minions matched the target."}, 2},
	} {
		f.prints(tt.code, tt.words, tt.parts...)
	}
}

// typeRunners asks for jobs and minions, also in the job cache. If a brine master is configured to use Salt's
// local_cache, Salt's own runners can read it, and the reverse.
func (f *fleet) typeRunners() {
	jid := f.async("*", "test.arg_clean", "x", "k=1")
	f.lookUp(f.tools, jid)
	f.sameOutput("salt-run", "--out=json", "jobs.lookup_jid", jid)
	f.sameOutput("salt-run", "--out=json", "jobs.list_job", jid)
	f.sameOutput("salt-run", "--out=json", "jobs.print_job", jid)
	if err := contains(f.mustRun(f.tools, "salt-run", "--out=json", "jobs.list_jobs").stdout, `"`+jid+`"`); err != nil {
		f.t.Error(err)
	}
	f.sameOutput("salt-run", "--out=json", "jobs.active")
	f.sameOutput("salt-run", "--out=json", "manage.status")
	f.sameOutput("salt-run", "--out=json", "manage.down")
	if r := f.mustRun(f.tools, "salt-run", "--out=json", "manage.up"); !hasIDs(r.stdout, f.ids...) {
		f.t.Errorf("manage.up:\n%s", r.stdout)
	}
	for _, arg := range []string{"x", "arg=[xyz]"} { // Salt takes a text for a list of its letters
		r := f.mustRun(f.tools, "salt-run", "--out=json", "salt.execute", "*", "test.echo", arg)
		if got := f.decode(r.stdout); all(got, strings.Trim(arg, "arg=[]"), f.ids...) != nil {
			f.t.Errorf("salt.execute %s: %v", arg, got)
		}
	}
}

// typeCalls runs salt-call of every minion's kind, and of brine, with the minion's configuration.
func (f *fleet) typeCalls() {
	for _, id := range f.ids {
		for _, words := range [][]string{{"test.ping"}, {"publish.publish", id, "test.ping"}} {
			r := f.runIn(f.minionDir(id), f.kinds[id], "salt-call", append([]string{"--out=json"}, words...)...)
			got := f.decode(r.stdout)["local"]
			if r.code != 0 || fmt.Sprint(got) != "true" && asMap(got)[id] != true {
				f.t.Errorf("salt-call %q of %s: exit %d\n%s%s", words, id, r.code, r.stdout, r.stderr)
			}
		}
	}
}

// sameOutput runs a tool of the fleet's kind and of the other kind. Both must print the same.
func (f *fleet) sameOutput(tool string, args ...string) {
	f.t.Helper()
	other := brine
	if f.tools == brine {
		other = f.master
	}
	a, b := f.mustRun(f.tools, tool, args...), f.mustRun(other, tool, args...)
	if d := cmp.Diff(sortedLines(a.stdout), sortedLines(b.stdout)); d != "" {
		f.t.Errorf("%s %q, %s -, %s +:\n%s", tool, args, f.tools, other, d)
	}
}

// sortedLines sorts lines, so that the order of a map's entries does not count.
func sortedLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, ",\n", "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// decode parses the JSON at the end of an output.
func (f *fleet) decode(text string) map[string]any {
	f.t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text[max(0, strings.IndexByte(text, '{')):]), &out); err != nil {
		f.t.Errorf("%v:\n%s", err, text)
	}
	return out
}

func hasIDs(text string, ids ...string) bool {
	var got []string
	start := strings.IndexByte(text, '[')
	if start < 0 || json.Unmarshal([]byte(strings.TrimSpace(text[start:])), &got) != nil {
		return false
	}
	slices.Sort(got)
	return slices.Equal(got, ids)
}
