package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tooltest"
	"brine/wire/client"
	"brine/wire/payload"
)

// startLimitedMinion starts the honest minion with a limit of the shell.
func (s *site) startLimitedMinion(limit, extra string) *daemon {
	s.t.Helper()
	s.write(s.path("etc/"+honest+"/minion"), overridden(fmt.Sprintf(minionConf, s.path(honest), s.pub, s.ret, honest,
		s.user), extra))
	d := s.start("minion "+honest, "/bin/sh", "-c", limit+`; exec "$0" "$@"`, filepath.Join(links, "salt-minion"), "-c",
		s.path("etc/"+honest), "-l", "debug", "--disable-keepalive")
	s.minions[honest] = d
	s.eventually("the limited minion", func() error { return s.ping(second() / 2) })
	return d
}

// told runs a job on the honest minion and returns its return as text.
func (s *site) told(fun string, args ...any) string {
	s.t.Helper()
	got, err := s.run(patience, client.Job{Tgt: honest, Fun: fun, Arg: args})
	if err != nil || got[honest] == nil {
		s.t.Fatalf("%s %v: no return: %v", fun, args, err)
	}
	return fmt.Sprint(got[honest].Value("return"))
}

// TestMinionMemory: a command that uses up the memory of the minion's control group is killed and reports that.
// Endless output is cut. The minion survives.
func TestMinionMemory(t *testing.T) {
	for _, extra := range []string{"", "multiprocessing: True\n"} {
		t.Run(fmt.Sprintf("%d bytes of options", len(extra)), func(t *testing.T) {
			s := newBareSite(t, "")
			limit := int64(128 << 20)
			if tooltest.Race {
				limit *= 8
			}
			procs := s.memoryGroup(limit)
			d := s.startLimitedMinion("echo $$ > "+procs, extra+fmt.Sprintf("command_output_max_bytes: %d\n",
				outputMax))
			t.Cleanup(d.kill) // before its group is removed
			for range 2 {
				// tail keeps a line in memory until its end
				if got := s.told("cmd.run_all", fmt.Sprintf("head -c %d /dev/zero | tail", 2*limit)); !strings.Contains(
					got, "retcode") || strings.Contains(got, "{retcode 0}") {
					t.Errorf("a command that eats memory: %.300s", got)
				}
				s.good()
				s.told("cmd.run", fmt.Sprintf("yes | head -c %d", 2*limit))
				s.said(d, fmt.Sprintf("%d bytes more (command_output_max_bytes is %d)", 2*limit-outputMax, outputMax))
				s.good()
			}
			if !d.running() {
				t.Error("the minion has ended")
			}
		})
	}
}

// outputMax limits the output of a command. It is small, so that the return takes little time.
const outputMax = 100_000

// TestMinionTemplates: templates with larger values or output than the memory are stopped and report why. The
// minion survives.
func TestMinionTemplates(t *testing.T) {
	s := newBareSite(t, "")
	limit := int64(160 << 20)
	if tooltest.Race {
		limit *= 8
	}
	d := s.startLimitedMinion("echo $$ > "+s.memoryGroup(limit), "")
	t.Cleanup(d.kill) // before its group is removed
	huge := s.path("huge.sls")
	s.write(huge, "")
	if err := os.Truncate(huge, 1<<43); err != nil {
		t.Skipf("no files of this size here: %v", err)
	}
	for _, kw := range []*payload.Map{
		payload.M("path", huge),
		payload.M("string", "{{ ('a' * 1073741824) | length }}"),
		payload.M("string", "{% set x = namespace(a='a') %}{% for i in range(100) %}{% set x.a = x.a ~ x.a %}{% "+
			"endfor %}"),
	} {
		got := s.told("slsutil.renderer", kw.Set("__kwarg__", true).Set("default_renderer", "jinja"))
		if !strings.Contains(got, "more than") && !strings.Contains(got, "too ") && !strings.Contains(got, "limit") {
			t.Errorf("%.100v gives %.300q", kw.Value("string"), got)
		}
		s.good()
	}
	if !d.running() {
		t.Error("the minion has ended")
	}
}
