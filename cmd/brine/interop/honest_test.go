//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// honestMaster gives a user with rules everything that Salt's tools can do for the user. The minions may
// publish and run runners.
const honestMaster = `external_auth:
  auto:
    tester:
      - '.*'
      - '@runner'
      - '@wheel'
      - '@jobs'
peer_run:
  .*:
    - test.*
`

// refused matches the log lines of a brine master about a refusal.
var refused = regexp.MustCompile(`(?m)^.*(?:not allowed|was refused|refused|may not|request failed|no such job).*$`)

// TestHonestTools: job ids of other owners, and tags that only the master may fire, are refused (decisions 0020
// and 0040). None of Salt's own tools is refused for that: neither for root, nor for a user with rules, nor on
// a minion.
func TestHonestTools(t *testing.T) {
	t.Parallel()
	for _, release := range chosen("3008", "3006") {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, brine, release, map[string]string{"m1": release, "m2": brine},
				variant{"honest", honestMaster + framing(release), plain.minion})
			f.configMinion("m1", fleetMinion+plain.minion+"state_events: True\nschedule: {beat: {function: "+
				"test.arg, args: [beat], seconds: 3, return_job: True}}\n")
			f.startAll()
			f.acceptAll()
			f.step("salt", (*fleet).ownIDs)
			f.step("Python", (*fleet).ownAPI)
			f.step("minions", (*fleet).ownTags)
			log, err := os.ReadFile(f.masterPath("var/log/salt/master"))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range slices.Compact(refused.FindAllString(string(log), -1)) {
				t.Errorf("the master says: %s", line)
			}
		})
	}
}

// tester is the user with rules.
var tester = []string{"-a", "auto", "--username=tester", "--password=x"}

// ownIDs publishes as a user with rules, in the forms in which salt chooses its own job id or waits for one.
// TestSaltToolsDriveBrine does so as root.
func (f *fleet) ownIDs() {
	f.t.Helper()
	salt := func(words ...string) result { return f.run(f.tools, "salt", slices.Concat(tester, words)...) }
	for _, words := range [][]string{{"--subset=1", "*", "test.ping"}, {"-b", "1", "*", "test.ping"}} {
		if r := salt(words...); r.code != 0 || !strings.Contains(r.stdout, "True") {
			f.t.Errorf("salt %q: exit %d\n%s%s", words, r.code, r.stdout, r.stderr)
		}
	}
	job := lastWord(salt("--async", "m1", "test.sleep", "600").stdout)
	f.eventually(patience, "the end of "+job, func() error {
		return contains(salt("m1", "saltutil.kill_job", job).stdout, "sent to job "+job)
	})
	job = lastWord(salt("--async", "m1", "test.arg", "x").stdout)
	f.eventually(patience, "the return of "+job, func() error {
		return contains(f.run(f.tools, "salt-run", append(slices.Clone(tester), "--out=json", "jobs.lookup_jid",
			job)...).stdout, `"m1"`)
	})
}

// ownAPI publishes with Salt's LocalClient and a job id chosen by the caller, and once more for another minion.
// salt-api and Python scripts use it.
func (f *fleet) ownAPI() {
	f.t.Helper()
	const script = `import sys, salt.client
client = salt.client.LocalClient(sys.argv[1])
user = {"eauth": "auto", "username": "tester", "password": "x"}
for who, jid in ({}, "20260102030405100000"), (user, "20260102030405100001"):
    for tgt in "*", "m1":
        print(client.run_job(tgt, "test.ping", jid=jid, **who)["jid"] == jid)
    print(all(next(iter(part.values())) is True for part in client.cmd_batch("*", "test.ping", batch="1", **who)))
`
	out, err := exec.Command(toolPath(f.t, f.tools, "python"), "-W", "ignore", "-c", script,
		filepath.Join(f.masterDir(), "master")).CombinedOutput()
	if err != nil || strings.Count(string(out), "True") != 6 {
		f.t.Errorf("%v\n%s", err, out)
	}
}

// ownTags fires the events of Salt minions: their own events, progress of states, scheduled jobs, publications.
func (f *fleet) ownTags() {
	f.t.Helper()
	w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	of := map[string]any{"id": "m1"}
	call := func(words ...string) func() {
		return func() {
			if r := f.runIn(f.minionDir("m1"), f.kinds["m1"], "salt-call", words...); r.code != 0 {
				f.t.Errorf("salt-call %q: exit %d\n%s%s", words, r.code, r.stdout, r.stderr)
			}
		}
	}
	job := func(words ...string) func() {
		return func() { f.mustRun(brine, "salt", append([]string{"--static", "m1"}, words...)...) }
	}
	returned := func(fun string) map[string]any { return map[string]any{"id": "m1", "fun": fun} }
	w.sees("salt/job/", "/ret/m1", returned("test.arg"), func() {}) // from the schedule
	w.sees("custom/tag", "", of, call("event.send", "custom/tag", `{"n": 1}`))
	w.sees("2026-backup/done", "", of, job("event.fire_master", `{"n": 1}`, "2026-backup/done"))
	w.sees("salt/job/", "/prog/m1/0", of, job("state.high", `{"a": {"test": ["nop"]}}`))
	w.sees("salt/state_result/", "/m1/a", of, job("state.high", `{"a": {"test": ["nop", {"fire_event": true}]}}`))
	w.sees("salt/job/", "/ret/m1", returned("test.ping"), job("publish.full_data", "m*", "test.ping"))
	if r := f.runIn(f.minionDir("m1"), f.kinds["m1"], "salt-call", "publish.runner", "test.arg",
		"to the runner"); !strings.Contains(r.stdout, "to the runner") {
		f.t.Errorf("publish.runner: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
