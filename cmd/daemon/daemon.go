// Package daemon is what the two daemons have in common as processes: background, pid file, signals, limits of memory,
// metrics, control socket. It answers to salt/cli/daemons.py.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/cmd/keepalive"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/supervisor"
	"brine/wire/disk/wholefile"

	"github.com/coreos/go-systemd/v22/daemon"
)

// daemonChild marks the process that -d has put into the background. It holds no secret and is not inherited further.
const daemonChild = "BRINE_DAEMON_CHILD"

// AddOptions declares -d and --pid-file.
func AddOptions(p *optparse.Parser, pidFile string) {
	p.Add(
		optparse.Option{Flags: []string{"-d", "--daemon"}, Kind: optparse.Flag,
			Help: "Run " + p.Prog + " in the background."},
		optparse.Option{Flags: []string{"--pid-file"}, Dest: "pidfile", Help: "Path of the pid file. Default: '" +
			pidFile + "'."},
	)
}

// AddKeepalive declares --disable-keepalive, which is read before Go is there: see package keepalive.
func AddKeepalive(p *optparse.Parser, what string) {
	p.Add(optparse.Option{Flags: []string{"--disable-keepalive"}, Kind: optparse.Flag,
		Help: "Do not start the " + what + " again when its process dies, or ends with code 99."})
}

// Service is a daemon's working part, once it runs.
type Service interface {
	// End ends it; the report names what did not end.
	End() (supervisor.Report, error)
	// Supervisor is the root of its actors.
	Supervisor() *supervisor.Supervisor
}

// Stateful is a Service that says itself what Lifecycle.State is.
type Stateful interface{ State() string }

// Lifecycle is what the daemons have in common: what they are called, how they start, why they end.
type Lifecycle struct {
	Title  string // "Salt Master" or "Salt Minion", as in Salt's log lines
	Class  string // "Master" or "Minion"
	Start  func() (Service, error)
	Exit   <-chan ExitRequest   // the service asks for the end of the process; may be nil
	Closed func(string) string  // the line for stderr at the end, from why it ended
	Lost   func(Service) string // what went with a process that was killed, and what did not, as its successor knows it
	// folder below the cache directory for reports of crashes, "" is that itself: no two daemons share one
	State  string
	Memory int64 // bytes that Go may take before it works to take less; 0: it takes what it likes
}

// ExitRequest is a reason to end the process that comes from inside.
type ExitRequest struct {
	Code int
	Text string
}

// Background starts the daemon again as a process of its own session, detached from the terminal, and tells the
// caller to end. Go cannot fork; the second process repeats the checks that this one has passed.
func Background(s *session.Session) (detached bool, err error) {
	if os.Getenv(daemonChild) != "" { // the configuration is read: paths of the command line are not needed any more
		return false, errors.Join(os.Unsetenv(daemonChild), os.Chdir("/"))
	}
	if !s.Opt.Bool("daemon") {
		return false, nil
	}
	file, self := s.Parent.File() // by the name that it was started by, which an upgrade may turn to another file
	if file != keepalive.FileSame || self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return false, fmt.Errorf("run in the background: %w", err)
		}
	}
	child := exec.Command(self)
	child.Args = append([]string{s.Prog}, s.Args...)
	child.Env = append(os.Environ(), daemonChild+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return false, fmt.Errorf("run in the background: %w", err)
	}
	return true, child.Process.Release()
}

// pidFileEvery is how often a pid file is tried again for which the disk has no room.
const pidFileEvery = 10 * time.Second

// keepPidFile writes the decimal pid; it goes with the process. The daemon does not wait for a disk that has no room
// for it.
func keepPidFile(ctx context.Context, s *session.Session) error {
	path := s.Common.PidFile
	if path == "" {
		return nil
	}
	err := writePidFile(path)
	if noRoom(err) {
		s.Log.Error("the pid file waits for room", "err", err)
		go func() {
			for t := time.Tick(pidFileEvery); noRoom(err); err = writePidFile(path) {
				select {
				case <-t:
				case <-ctx.Done():
					return
				}
			}
		}()
	} else if err != nil {
		return err
	}
	s.AtEnd(func() {
		if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == strconv.Itoa(os.Getpid()) {
			_ = os.Remove(path) // what cannot be removed is overwritten by the next start
		}
	})
	return nil
}

func writePidFile(path string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = wholefile.Write(path, []byte(strconv.Itoa(os.Getpid())), wholefile.Options{Mode: 0o644, Umask: true})
	}
	if errors.Is(err, fs.ErrPermission) { // the file alone may be this user's
		err = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o644)
	}
	if err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	return nil
}

// noRoom tells of a disk or a quota that is used up.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// AlreadyRunning says whether the pid file names a living daemon other than this one. A process that merely got the
// number of a dead one does not count.
func AlreadyRunning(s *session.Session) bool {
	raw, err := os.ReadFile(s.Common.PidFile)
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || pid <= 0 || pid == os.Getpid() || pid == os.Getppid() {
		return false
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err != nil || strings.Contains(string(line), "salt") || strings.Contains(string(line), "brine")
}

// Serve runs a daemon until a signal, or until its service asks for the end. A second signal ends it at once.
func Serve(s *session.Session, l Lifecycle) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := stopSignals(ctx, s)
	if err := keepPidFile(ctx, s); err != nil {
		return err
	}
	tellOfPredecessor(s, l)
	tellOfFile(s)
	if err := noCores(); err != nil {
		s.Log.Warn("core files may be written", "err", err)
	}
	s.Memory = limitMemory(s)
	go holdMemory(ctx, l.Memory)
	svc, err := l.Start()
	if err != nil || svc == nil { // without a service and an error the log says why, and Salt ends well
		return err
	}
	dumpOnUSR1(ctx, s)
	go settleMemory(ctx, s.Log)
	profileOnUSR2(ctx, s)
	followFiles(ctx, s, svc)
	notify(s, s.Parent.Ready, daemon.SdNotifyReady)
	watchdog(ctx, s, svc)
	state := l.State
	if own, ok := svc.(Stateful); ok {
		state = own.State()
	}
	rememberPredecessor(s, l, svc, tellOfCrash(s, svc, state))
	select {
	case sig := <-signals:
		return stopOn(s, l, svc, sig, signals)
	case req := <-l.Exit:
		_, stopErr := end(s, svc, signals)
		return errors.Join(tool.Exit(req.Code, "%s", l.Closed(req.Text)), stopErr)
	case <-s.Parent.Gone():
		return stopAlone(s, l, svc, signals)
	}
}

// stopOn ends the service on a signal, with Salt's words.
func stopOn(s *session.Session, l Lifecycle, svc Service, sig os.Signal, again <-chan os.Signal) error {
	name := map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"}[sig]
	s.Log.Warn(fmt.Sprintf("%s received a %s. Exiting.", l.Class, name))
	_, err := end(s, svc, again)
	if err != nil {
		s.Log.Error("the stop was not clean", "err", err)
	}
	s.Log.Info("The " + l.Title + " is shut down")
	fmt.Fprintln(s.Stderr, l.Closed(fmt.Sprintf("%s received a %s. Exited.", l.Class, name)))
	return nil
}

// end stops the service; another signal meanwhile cuts it short.
func end(s *session.Session, svc Service, again <-chan os.Signal) (supervisor.Report, error) {
	notify(s, s.Parent.Stopping, daemon.SdNotifyStopping)
	type outcome struct {
		report supervisor.Report
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := svc.End()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		if len(o.report.Abandoned) > 0 {
			s.Log.Warn("actors did not stop in time", "actors", o.report.Abandoned)
			s.Log.Debug("goroutines at the stop", "dump", o.report.Goroutines)
		}
		return o.report, o.err
	case <-again:
		return supervisor.Report{}, errors.New("a second signal came: the rest was cut off")
	}
}

// dumpOnUSR1 writes all goroutines to a file when SIGUSR1 comes, as Salt writes its stack.
func dumpOnUSR1(ctx context.Context, s *session.Session) {
	usr1 := make(chan os.Signal, 1)
	signal.Notify(usr1, syscall.SIGUSR1)
	go func() {
		defer signal.Stop(usr1)
		for {
			select {
			case <-usr1:
				writeDump(s, []byte(withoutValues(string(allStacks()))))
			case <-ctx.Done():
				return
			}
		}
	}()
}

func allStacks() []byte {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return buf[:n]
		}
	}
}

// writeDump writes a stack dump to a new file in the directory for temporary files.
func writeDump(s *session.Session, dump []byte) {
	f, err := os.CreateTemp("", "salt-debug-*.log")
	if err == nil {
		_, err = f.Write(dump)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.Log.Error("stack dump", "err", err)
		return
	}
	s.Log.Info("stack dump written", "path", f.Name())
}

// VerifyEnv makes the directories of the daemon and sets their owners (verify_env).
func VerifyEnv(s *session.Session, wanted bool, env config.Environment) error {
	if !wanted {
		return nil
	}
	notices, err := env.Verify()
	for _, n := range notices {
		s.Log.Log(context.Background(), n.Level, n.Text)
	}
	return err
}
