package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/modules/fleet/keys"
)

// toolPatience bounds one run of salt. A correct run never reaches it.
const toolPatience = 2 * time.Minute

// toolRun is one run of salt.
type toolRun struct {
	cmd            *exec.Cmd
	mu             sync.Mutex
	stdout, stderr bytes.Buffer
}

// Write collects the stdout of salt.
func (r *toolRun) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.Write(b)
}

// out returns the stdout of salt so far.
func (r *toolRun) out() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.String()
}

// salt starts salt with some arguments.
func (s *silentSite) salt(t *testing.T, words ...string) *toolRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolPatience)
	t.Cleanup(cancel)
	r := &toolRun{cmd: exec.CommandContext(ctx, "salt", append([]string{"-c", s.path("etc/master")}, words...)...)}
	r.cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C.UTF-8")
	r.cmd.Stdout, r.cmd.Stderr = r, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// code waits for the end of salt.
func (r *toolRun) code() int {
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// reasonsOf returns the codes that salt gives for minions, as "id code" in the order of the lines.
func reasonsOf(stderr string) (found []string) {
	for _, m := range regexp.MustCompile(`(?m)^(\w+): .* \[(\w+)\]$`).FindAllStringSubmatch(stderr, -1) {
		found = append(found, m[1]+" "+m[2])
	}
	return found
}

// sayingCase is a command line of salt with test.ping and --why.
type sayingCase struct {
	name, words string
	code        int
	stdout      string // a pattern for the whole text
	reasons     string
	stderr      string // part of the text
}

func sayingCases() []sayingCase {
	const (
		down     = `Minion s1 did not respond\. No job will be sent\.\n`
		runW1    = `\nExecuting run on \['w1'\]\n\njid:\n    \d{20}\nretcode:\n    0\nw1:\n    True\n`
		gone     = `s1:\n    Minion did not return\. \[Not connected\]\n`
		nobody   = `No minions matched the target\. No command was sent, no jid was assigned\.\n`
		rule     = `-{43}\n`
		noReturn = "ERROR: No return received"
	)
	return []sayingCase{
		{"plain", "-t 600 --show-jid -L w1,s1", 1, `jid: \d{20}\nw1:\n    True\n` + gone, "s1 not_connected",
			"ERROR: Minions returned with non-zero exit code"},
		{"with a returner", "-t 600 --return no_such -L w1,s1", 1, `w1:\n    True\n` + gone, "s1 not_connected", ""},
		{"summary", "-t 600 --summary -v -L w1,s1", 1, `Executing job with jid \d{20}\n-{43}\n\nw1:\n    True\n` +
			gone + `\n\n` + rule + `Summary\n` + rule +
			`# of minions targeted: 2\n# of minions returned: 1\n# of minions that did not return: 1\n# of minions with errors: 0\nMinions not connected: s1\n` + rule,
			"s1 not_connected", ""},
		{"subset", "-t 600 --subset 2 -L w1,s1", 0, `w1:\n    True\n`, "s1 not_connected", ""},
		{"summary, frozen", "-t 5 --summary -v --return no_such z1", 1,
			`Executing job with jid \d{20}\n-{43}\n\nz1:\n    Minion did not return\. \[No response\]\n(?:    .*\n|\n)+` + rule +
				`Summary\n` + rule +
				`# of minions targeted: 1\n# of minions returned: 0\n# of minions that did not return: 1\n# of minions with errors: 0\nMinions not responding: z1\n` +
				rule, "z1 connected_no_answer", ""},
		{"subset, frozen", "-t 10 --subset 2 -L w1,z1", 0, `w1:\n    True\n`, "z1 connected_no_answer", ""},
		{"subset, key deleted", "-t 600 --subset 2 -L w1,d1", 0, `w1:\n    True\n`, "d1 key_none", ""},
		{"key deleted", "-t 600 d1", 2, nobody, "d1 key_none", noReturn},
		{"no keys", "-t 600 -L d1,p1", 2, nobody, "d1 key_none,p1 key_pending", noReturn},
		{"progress", "-t 600 -p -L w1,s1,p1", 0, ``, "p1 key_pending,s1 not_connected", ""},
		{"frozen", "-t 5 z1", 1, `z1:\n    Minion did not return\. \[No response\]\n(    .*\n|\n)+`,
			"z1 connected_no_answer", ""},
		{"static", "-t 600 --static --out=json -L w1,s1,p1", 0, `\{\n    "w1": true\n\}\n`,
			"p1 key_pending,s1 not_connected", ""},
		{"static, summary", "-t 600 -s --summary -L w1,s1", 0, `w1:\n    True\n`, "s1 not_connected", ""},
		{"static, key deleted", "-t 600 --static d1", 2, nobody, "d1 key_none", noReturn},
		{"static, all of it, frozen", "-t 10 --static --failhard --summary --show-jid --return no_such -L w1,z1", 0,
			`w1:\n    True\n`, "z1 connected_no_answer", ""},
		{"static, frozen", "-t 5 --static z1", 2, ``, "z1 connected_no_answer", noReturn},
		{"batch", "-t 600 -b 1 -L w1,s1", 0, down + runW1, "s1 not_connected", ""},
		{"batch, show jid", "-t 600 -b 50% --batch-wait 0.1 --show-jid -L w1,s1,d1", 0, down + runW1,
			"d1 key_none,s1 not_connected", ""},
		{"batch with a returner, key deleted", "-t 600 -b 2 --return no_such -L w1,d1", 0, runW1, "d1 key_none", ""},
		{"batch, frozen", "-t 5 -b 1 -L z1,s1", 2, ``, "s1 not_connected,z1 connected_no_answer", noReturn},
		{"batch, key deleted", "-t 600 -b 1 d1", 2, nobody + `No minions matched the target\.\n`, "d1 key_none",
			noReturn},
		{"batch by limit", "-t 600 --batch-safe-limit 2 -L w1,s1", 0,
			`\nNOTICE: Too many minions targeted, switching to batch execution\.\n` + down + runW1, "s1 not_connected",
			""},
		{"batch handed over", "-t 600 -b 1 --async -L w1,s1", 0, down + runW1, "s1 not_connected", ""},
	}
}

// TestSaltSaysWhy runs salt in all its forms against silent minions. The reasons appear on stderr. stdout and
// the exit code are Salt's.
func TestSaltSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSilentSite(t)
	const noHeartbeat = "zmq_heartbeat_ivl: 0" // the connection of a frozen minion stays open during the whole test
	s.config("gather_job_timeout: 8", noHeartbeat)
	s.start("master", "salt-master")
	ids := []string{"w1", "z1", "s1", "d1", "a1", "a2"}
	for _, id := range ids {
		s.minion(id, false, noHeartbeat)
		s.start(id, "salt-minion")
	}
	s.put(keys.Pending, "p1")
	s.connected(t, "yes", ids...)
	for _, id := range ids {
		s.alive(t, id)
	}
	s.grains("s1", "os", "Debian") // Salt calls only a minion with cached data "Not connected"
	s.stop("s1", syscall.SIGTERM)
	s.connected(t, "no", "s1")
	s.stop("d1", syscall.SIGTERM) // otherwise it would offer its key again
	if _, err := s.keys.Remove(keys.Accepted, "d1"); err != nil {
		t.Fatal(err)
	}
	s.signal("z1", syscall.SIGSTOP)

	cases := sayingCases()
	runs := make([]*toolRun, len(cases)) // all at once, because some of them wait long
	for i, tt := range cases {
		runs[i] = s.salt(t, strings.Fields("--why "+tt.words+" test.ping")...)
	}
	failing := s.salt(t, strings.Fields("--why -t 600 -b 1 --failhard -L w1,s1 test.retcode 4")...)
	unasked := s.salt(t, strings.Fields("-t 600 -b 1 -L w1,s1 test.ping")...)
	sleeping := s.salt(t, strings.Fields("--why -t 5 -b 1 -L a1,a2 test.sleep 600")...)
	t.Run("frozen after the ping", func(t *testing.T) { frozenInBatch(t, s, sleeping) })
	for i, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			code, stderr := runs[i].code(), runs[i].stderr.String()
			if code != tt.code {
				t.Errorf("exit code %d, want %d, stderr:\n%s", code, tt.code, stderr)
			}
			if out := runs[i].out(); !regexp.MustCompile(`^(?:` + tt.stdout + `)$`).MatchString(out) {
				t.Errorf("stdout:\n%s\nwant:\n%s", out, tt.stdout)
			}
			if got := strings.Join(reasonsOf(stderr), ","); got != tt.reasons || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("stderr:\n%s\nwant reasons %s and %q", stderr, tt.reasons, tt.stderr)
			}
		})
	}
	t.Run("failhard", func(t *testing.T) {
		code, stderr := failing.code(), failing.stderr.String()
		if got := strings.Join(reasonsOf(stderr), ","); code != 4 || got != "s1 not_connected" ||
			!strings.Contains(stderr, "Batch run stopped due to failhard") {
			t.Errorf("exit code %d, stderr:\n%s", code, stderr)
		}
	})
	t.Run("not asked for", func(t *testing.T) {
		if code := unasked.code(); code != 0 || unasked.stderr.Len() > 0 {
			t.Errorf("exit code %d, stderr:\n%s", code, unasked.stderr.String())
		}
	})
}

// frozenInBatch freezes one of two minions while the other runs its part of a batch.
func frozenInBatch(t *testing.T, s *silentSite, r *toolRun) {
	first := ""
	s.until(t, "first minion of the batch", func() bool {
		if m := regexp.MustCompile(`Executing run on \['(a[12])'\]`).FindStringSubmatch(r.out()); m != nil {
			first = m[1]
		}
		return first != ""
	})
	second := map[string]string{"a1": "a2", "a2": "a1"}[first]
	s.signal(second, syscall.SIGSTOP)
	s.until(t, "job on "+first, func() bool {
		s.one(t, first, "saltutil.kill_all_jobs")
		return strings.Contains(r.out(), "Executing run on ['"+second+"']")
	})
	r.code() // its exit code is that of the killed job
	if got := strings.Join(reasonsOf(r.stderr.String()), ","); got != second+" connected_no_answer" {
		t.Errorf("stderr:\n%s\nstdout:\n%s", r.stderr.String(), r.out())
	}
}
