// Package daemon contains what both daemons need as processes: background, pid file, signals, limits of memory,
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

// daemonChild marks the process that -d has put into the background. It holds no secret, and children do not
// inherit it.
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

// AddKeepalive declares --disable-keepalive. Package keepalive reads it before Go code runs.
func AddKeepalive(p *optparse.Parser, what string) {
	p.Add(optparse.Option{Flags: []string{"--disable-keepalive"}, Kind: optparse.Flag,
		Help: "Do not start the " + what + " again when its process dies, or ends with code 99."})
}

// Service is the working part of a running daemon.
type Service interface {
	// End stops the service. The report names the actors that did not end.
	End() (supervisor.Report, error)
	// Supervisor returns the root of the service's actors.
	Supervisor() *supervisor.Supervisor
}

// Stateful is a Service that provides the value of Lifecycle.State itself.
type Stateful interface{ State() string }

// Lifecycle describes a daemon to Serve: its names, its start, and its end.
type Lifecycle struct {
	Title  string // "Salt Master" or "Salt Minion", as in Salt's log lines
	Class  string // "Master" or "Minion"
	Start  func() (Service, error)
	Exit   <-chan ExitRequest   // the service asks for the end of the process; may be nil
	Closed func(string) string  // makes the line for stderr at the end from the reason
	Lost   func(Service) string // what a killed process lost, and what it did not lose, as its successor knows it
	// folder below the cache directory for crash reports; "" is the cache directory itself; no two daemons
	// share one
	State  string
	Memory int64 // ceiling in bytes for Go's memory, see holdMemory; 0: none
}

// ExitRequest is a service's own reason to end the process.
type ExitRequest struct {
	Code int
	Text string
}

// Background starts the daemon again in its own session, detached from the terminal, and tells the caller to
// end. Go cannot fork, so the second process repeats the checks that this one has passed.
func Background(s *session.Session) (detached bool, err error) {
	if os.Getenv(daemonChild) != "" { // relative paths of the command line are read by now
		return false, errors.Join(os.Unsetenv(daemonChild), os.Chdir("/"))
	}
	if !s.Opt.Bool("daemon") {
		return false, nil
	}
	file, self := s.Parent.File() // after an upgrade this name may lead to another file
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

// pidFileEvery is the time between two attempts to write a pid file to a full disk.
const pidFileEvery = 10 * time.Second

// keepPidFile writes the decimal pid. The file is removed when the process ends. The daemon does not wait if
// the disk is full.
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
			_ = os.Remove(path) // the next start overwrites a file that cannot be removed
		}
	})
	return nil
}

func writePidFile(path string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = wholefile.Write(path, []byte(strconv.Itoa(os.Getpid())), wholefile.Options{Mode: 0o644, Umask: true})
	}
	if errors.Is(err, fs.ErrPermission) { // this user may be allowed to write only the file itself
		err = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o644)
	}
	if err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	return nil
}

// noRoom tells whether a disk or a quota is used up.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// AlreadyRunning tells whether the pid file names a living daemon other than this one. Another program that has
// got the number of a dead daemon does not count.
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

// Serve runs a daemon until a signal arrives, or until its service asks for the end. A second signal ends it at
// once.
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
	if err != nil || svc == nil { // if both are nil, the log has the reason, and the exit code is 0 as in Salt
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

// stopOn ends the service after a signal, with Salt's texts.
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

// end stops the service. Another signal cuts the stop short.
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

// dumpOnUSR1 writes the stacks of all goroutines to a file at each SIGUSR1, as Salt writes its stack.
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
