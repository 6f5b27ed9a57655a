package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/keepalive"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

const crashEnv = "BRINE_CRASH_TEST"

// secretPanic panics outside of any actor, with a secret in its text and in its arguments.
//
//go:noinline
func secretPanic(key int) {
	never := make(chan struct{}) // the process ends here; the code below must not run
	go func() { panic("cannot log in: password=hunter2-in-words") }()
	<-never
	println(key) // keeps the argument
}

// TestCrashReport lets a process crash again and again. The next process makes a report that only root can read
// and that contains no secrets. It keeps the last few reports.
func TestCrashReport(t *testing.T) {
	if dir := os.Getenv(crashEnv); dir != "" {
		if _, err := catchCrashes(crashSession(dir), "", nil); err != nil {
			t.Fatal(err)
		}
		if path := os.Getenv(crashFillEnv); path != "" {
			fillUp(path)
		}
		secretPanic(0x5ec2e7)
	}
	dir := t.TempDir()
	var last string
	for n := range 2 * (crashKept + 2) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashReport$")
		cmd.Env = append(os.Environ(), crashEnv+"="+dir)
		if err := cmd.Run(); err == nil {
			t.Fatal("it has not crashed")
		}
		if n%2 == 0 {
			continue // the next process makes the report itself
		}
		var err error
		deaths := []stats.Death{{Path: "master/Publisher", Incarnation: 3, Reason: "boom, token: abcdefgh"}}
		if last, err = catchCrashes(crashSession(dir), "", deaths); err != nil || last == "" {
			t.Fatalf("%q, %v", last, err)
		}
	}
	if again, err := catchCrashes(crashSession(dir), "", nil); err != nil || again != "" {
		t.Errorf("a report without a crash: %q, %v", again, err)
	}
	list := reports(filepath.Join(dir, crashFolder))
	if len(list) != crashKept || list[crashKept-1] != last {
		t.Errorf("%d reports: %v, the last is %s", len(list), list, last)
	}
	info, err := os.Stat(last)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	raw, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{"brine " + tool.Version, "panic: cannot log in", "daemon.secretPanic.func1",
		"crash_test.go", "master/Publisher#3: boom", `"worker_threads": 5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	for _, secret := range []string{"hunter2", "abcdefgh", "5ec2e7", "\x00"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the report", secret)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func crashSession(dir string) *session.Session {
	return &session.Session{Call: &tool.Call{}, Common: &config.Common{CacheDir: dir, Raw: payload.M("worker_threads",
		5, "api_password", "hunter2-of-options")}}
}

func TestWithoutValues(t *testing.T) {
	got := withoutValues(`panic: runtime error
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4a]

goroutine 1 gp=0xc0000061c0 m=0 mp=0x9b2c40 [running]:
brine/wire/crypt.(*box).seal(0xc0000a4000, {0xdeadbeef?, 0x10, 0x20}, 0x3)
	brine/wire/crypt/box.go:12 +0x1d
main.main()
	/x/main.go:5 +0x20
rax    0xdeadbeef
r8     0xdeadbeef
rflags 0x206
`)
	want := `panic: runtime error
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4a]

goroutine 1 gp=0xc0000061c0 m=0 mp=0x9b2c40 [running]:
brine/wire/crypt.(*box).seal(...)
	brine/wire/crypt/box.go:12 +0x1d
main.main()
	/x/main.go:5 +0x20
`
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestNoCores(t *testing.T) {
	if err := noCores(); err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(limits)) {
		if rest, ok := strings.CutPrefix(line, "Max core file size"); ok && strings.Fields(rest)[0] != "0" {
			t.Errorf("%s", line)
		}
	}
}

func TestCrashTellsOfTheEnd(t *testing.T) {
	before := keepalive.Ended{PID: 42, Status: 11}
	text := crashReport("x", before, &config.Common{Raw: payload.NewMap(0)}, nil)
	if !strings.Contains(text, "process 42 ended with signal 11 (segmentation fault)") {
		t.Errorf("got %s", text)
	}
}
