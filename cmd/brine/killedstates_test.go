package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// killingTree is thirty states, each of which leaves a line in a file of its own. The one that pillar names kills the
// process that runs it, at its first time.
const killingTree = `{% set dir = pillar["dir"] %}
{% for i in range(30) %}
s{{ i }}:
  test.nop:
    - unless: 'echo begun >> {{ dir }}/{{ i }}
        {%- if i == pillar["at"] %}; test -e {{ dir }}/killed || { touch {{ dir }}/killed; kill -9 $PPID; }{% endif %};
        false'
{% endfor %}
`

// TestKilledStates kills the process that runs thirty states at each of them: the minion, which its parent starts
// again, or that of the job. Each time the job is answered with the returns that were reached; it names the state in
// flight and those that never began, and no state has run twice. The run goes on when it is asked to.
func TestKilledStates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	for option, places := range map[string][]int{"multiprocessing: False": allPlaces(), "multiprocessing: True": {0, 13,
		29}} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			killStates(t, option, places)
		})
	}
}

func allPlaces() (all []int) {
	for i := range 30 {
		all = append(all, i)
	}
	return all
}

func killStates(t *testing.T, option string, places []int) {
	k := newKilledFleet(t, option)
	k.s.write(t, filepath.Join(k.s.root, "srv", "salt", "killing.sls"), killingTree)
	for _, at := range places {
		dir := filepath.Join(k.s.root, "tmp", fmt.Sprint("states-", at))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		out := k.s.output(t.Context(), "salt", "--async", "web1", "state.apply", "killing",
			fmt.Sprintf(`pillar={"at": %d, "dir": %q}`, at, dir))
		jid := twentyDigits.FindString(out)
		if jid == "" {
			t.Fatalf("no jid: %s\n%s", out, k.s.logs())
		}
		k.until("the answer of the run", func() bool { return strings.Contains(k.answer(jid), "s29") })
		checkKilled(t, k.answer(jid), dir, at)
		if at%7 != 0 {
			continue
		}
		out = k.s.output(t.Context(), "salt", "--out=json", "--static", "web1", "state.resume_run", jid)
		if strings.Count(out, `"result": true`) != 30 {
			t.Errorf("killed at %d, the run that goes on answers %s", at, out)
		}
		for i := range 30 {
			if n := begunOf(dir, i); n != 1 && !(i == at && n == 2) {
				t.Errorf("killed at %d, after going on state %d has run %d times", at, i, n)
			}
		}
	}
}

func begunOf(dir string, state int) int { return begun(filepath.Join(dir, fmt.Sprint(state))) }

// checkKilled looks at the answer of a run that was killed at one of its states.
func checkKilled(t *testing.T, answer, dir string, at int) {
	t.Helper()
	var found map[string]map[string]struct {
		Result  *bool  `json:"result"`
		Comment string `json:"comment"`
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	for i := range 30 {
		ret, want := found["web1"][fmt.Sprintf("test_|-s%d_|-s%d_|-nop", i, i)], "This state was not run"
		switch {
		case i < at:
			want = "Success!"
		case i == at:
			want = "The run was interrupted while this state was running"
		}
		if ret.Result == nil || *ret.Result != (i < at) || !strings.HasPrefix(ret.Comment, want) {
			t.Errorf("killed at %d, state %d answers %+v", at, i, ret)
		}
		if n := begunOf(dir, i); n > 1 || (n == 1) != (i <= at) {
			t.Errorf("killed at %d, state %d has run %d times", at, i, n)
		}
	}
}
