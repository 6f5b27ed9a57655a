package attack

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tooltest"
	"brine/wire/client"
)

// startLimitedMinion starts the honest minion under a limit of the shell.
func (s *site) startLimitedMinion(limit, extra string) *daemon {
	s.t.Helper()
	s.write(s.path("etc/"+honest+"/minion"), overridden(fmt.Sprintf(minionConf, s.path(honest), s.pub, s.ret, honest, s.user), extra))
	d := s.start("minion "+honest, "/bin/sh", "-c", limit+`; exec "$0" "$@"`, filepath.Join(links, "salt-minion"), "-c", s.path("etc/"+honest), "-l", "debug", "--disable-keepalive")
	s.minions[honest] = d
	s.eventually("the limited minion", func() error { return s.ping(second() / 2) })
	return d
}

// told runs a job on the honest minion and gives its return as text.
func (s *site) told(fun string, args ...any) string {
	s.t.Helper()
	got, err := s.run(patience, client.Job{Tgt: honest, Fun: fun, Arg: args})
	if err != nil || got[honest] == nil {
		s.t.Fatalf("%s %v: no return: %v", fun, args, err)
	}
	return fmt.Sprint(got[honest].Value("return"))
}

// TestMinionMemory: a command that eats the memory of the minion's control group is killed and says so, one that writes
// without end is cut, and the minion lives on.
func TestMinionMemory(t *testing.T) {
	for _, extra := range []string{"", "multiprocessing: True\n"} {
		t.Run(fmt.Sprintf("%d bytes of options", len(extra)), func(t *testing.T) {
			s := newBareSite(t, "")
			limit := int64(128 << 20)
			if tooltest.Race {
				limit *= 8
			}
			procs := s.memoryGroup(limit)
			d := s.startLimitedMinion("echo $$ > "+procs, extra+fmt.Sprintf("command_output_max_bytes: %d\n", outputMax))
			t.Cleanup(d.kill) // before its group is removed
			for range 2 {
				// tail keeps what has no line to the end
				if got := s.told("cmd.run_all", fmt.Sprintf("head -c %d /dev/zero | tail", 2*limit)); !strings.Contains(got, "retcode") || strings.Contains(got, "{retcode 0}") {
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

// outputMax is what is kept of the output of a command here: little, so that its return is not what takes the time.
const outputMax = 100_000
