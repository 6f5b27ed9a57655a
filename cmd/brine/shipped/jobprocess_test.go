//go:build shipped

package shipped

import (
	"os/exec"
	"syscall"
	"testing"

	"brine/modules/host/jobprocess"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestJobProcess runs jobs in separate processes of each target's binary (multiprocessing: True). A minion
// starts them as /proc/self/exe, which is the emulator itself inside the emulator. So this test starts them as
// a minion does, but with qemu.
func TestJobProcess(t *testing.T) {
	for _, g := range targets {
		t.Run(g.name, func(t *testing.T) {
			qemu, err := exec.LookPath(g.qemu)
			if err != nil {
				t.Fatal(err)
			}
			l := jobprocess.New(jobprocess.Options{Path: qemu, Args: g.argv(t, jobprocess.Name)})
			args := []any{"text", []byte{0xff, 0}, int64(1) << 40, uint64(1) << 63, 1.5, nil, payload.M("b", 1, "a", 2)}
			if got := runJob(t, l, "test.arg", args...).Return.Map().Map("return").Value("args"); !payload.Equal(got,
				args) {
				t.Errorf("the process returns %v, want %v", got, args)
			}
			if got := runJob(t, l, "cmd.run", "echo $((6*7))").Return.Value(); got != "42" {
				t.Errorf("cmd.run: %v", got)
			}
			death := runJob(t, l, "cmd.run", "kill -KILL $PPID; sleep 60").Death
			if death.Signal != syscall.SIGKILL || death.RSS == 0 {
				t.Errorf("the death is told as %+v", death)
			}
		})
	}
}

func runJob(t *testing.T, l *jobprocess.Launcher, fun string, args ...any) jobprocess.Outcome {
	t.Helper()
	p, err := l.Start("shipped")
	if err != nil {
		t.Fatal(err)
	}
	env := modtest.Env(t, payload.M("cachedir", t.TempDir()))
	out := p.Run(t.Context(), env, loader.Job{Connected: true,
		Load: payload.M("fun", fun, "arg", args, "tgt", "*", "jid", "20260102030405000001", "ret", "", "user", "root")})
	p.Wait()
	return out
}
