package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"brine/cmd/optparse"
	"brine/config"
	"brine/supervisor"

	"github.com/coreos/go-systemd/v22/daemon"
)

// daemonChild marks the process that -d has put into the background. It holds no secret and is not inherited further.
const daemonChild = "BRINE_DAEMON_CHILD"

// addDaemon declares -d and --pid-file.
func addDaemon(p *optparse.Parser, pidFile string) {
	p.Add(
		optparse.Option{Flags: []string{"-d", "--daemon"}, Kind: optparse.Flag, Help: "Run " + p.Prog + " in the background."},
		optparse.Option{Flags: []string{"--pid-file"}, Dest: "pidfile", Help: "Path of the pid file. Default: '" + pidFile + "'."},
	)
}

// service is a daemon's working part, once it runs.
type service interface {
	// stop ends it; the report names what did not end.
	stop() (supervisor.Report, error)
}

// lifecycle is what the two daemons have in common: what they are called, how they start, why they end.
type lifecycle struct {
	title  string // "Salt Master" or "Salt Minion", as in Salt's log lines
	class  string // "Master" or "Minion"
	start  func() (service, error)
	exit   <-chan exitRequest  // the service asks for the end of the process; may be nil
	closed func(string) string // the line for stderr at the end, from why it ended
}

// exitRequest is a reason to end the process that comes from inside.
type exitRequest struct {
	code int
	text string
}

// background starts the daemon again as a process of its own session, detached from the terminal, and tells the
// caller to end. Go cannot fork; the second process repeats the checks that this one has passed.
func (s *session) background() (detached bool, err error) {
	if os.Getenv(daemonChild) != "" { // the configuration is read: paths of the command line are not needed any more
		return false, errors.Join(os.Unsetenv(daemonChild), os.Chdir("/"))
	}
	if !s.opt.Bool("daemon") {
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("run in the background: %w", err)
	}
	child := exec.Command(self)
	child.Args = append([]string{s.prog}, s.args...)
	child.Env = append(os.Environ(), daemonChild+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return false, fmt.Errorf("run in the background: %w", err)
	}
	return true, child.Process.Release()
}

// writePidFile writes the decimal pid; it goes with the process.
func (s *session) writePidFile() error {
	path := s.common.PidFile
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	s.atEnd(func() {
		if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == strconv.Itoa(os.Getpid()) {
			_ = os.Remove(path) // what cannot be removed is overwritten by the next start
		}
	})
	return nil
}

// alreadyRunning says whether the pid file names a living daemon other than this one. A process that merely got the
// number of a dead one does not count.
func (s *session) alreadyRunning() bool {
	raw, err := os.ReadFile(s.common.PidFile)
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

// serve runs a daemon until a signal, or until its service asks for the end. A second signal ends it at once.
func (s *session) serve(l lifecycle) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := s.stopSignals(ctx)
	if err := s.writePidFile(); err != nil {
		return err
	}
	s.tellOfPredecessor()
	s.memory = s.limitMemory()
	svc, err := l.start()
	if err != nil || svc == nil { // without a service and an error the log says why, and Salt ends well
		return err
	}
	s.dumpOnUSR1(ctx)
	go settleMemory(ctx, s.log)
	s.profileOnUSR2(ctx)
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		s.log.Warn("the service manager was not told that we are ready", "err", err)
	}
	s.parent.Ready()
	select {
	case sig := <-signals:
		return s.stopOn(l, svc, sig, signals)
	case req := <-l.exit:
		_, stopErr := s.end(svc, signals)
		return errors.Join(exit(req.code, "%s", l.closed(req.text)), stopErr)
	case <-s.parent.Gone():
		return s.stopAlone(l, svc, signals)
	}
}

// stopOn ends the service on a signal, with Salt's words.
func (s *session) stopOn(l lifecycle, svc service, sig os.Signal, again <-chan os.Signal) error {
	name := map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"}[sig]
	s.log.Warn(fmt.Sprintf("%s received a %s. Exiting.", l.class, name))
	_, err := s.end(svc, again)
	if err != nil {
		s.log.Error("the stop was not clean", "err", err)
	}
	s.log.Info("The " + l.title + " is shut down")
	fmt.Fprintln(s.stderr, l.closed(fmt.Sprintf("%s received a %s. Exited.", l.class, name)))
	return nil
}

// end stops the service; another signal meanwhile cuts it short.
func (s *session) end(svc service, again <-chan os.Signal) (supervisor.Report, error) {
	s.parent.Stopping()
	if _, err := daemon.SdNotify(false, daemon.SdNotifyStopping); err != nil {
		s.log.Debug("service manager", "err", err)
	}
	type outcome struct {
		report supervisor.Report
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := svc.stop()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		if len(o.report.Abandoned) > 0 {
			s.log.Warn("actors did not stop in time", "actors", o.report.Abandoned)
			s.log.Debug("goroutines at the stop", "dump", o.report.Goroutines)
		}
		return o.report, o.err
	case <-again:
		return supervisor.Report{}, errors.New("a second signal came: the rest was cut off")
	}
}

// dumpOnUSR1 writes all goroutines to a file when SIGUSR1 comes, as Salt writes its stack.
func (s *session) dumpOnUSR1(ctx context.Context) {
	usr1 := make(chan os.Signal, 1)
	signal.Notify(usr1, syscall.SIGUSR1)
	go func() {
		defer signal.Stop(usr1)
		for {
			select {
			case <-usr1:
				s.writeDump(allStacks())
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
func (s *session) writeDump(dump []byte) {
	f, err := os.CreateTemp("", "salt-debug-*.log")
	if err == nil {
		_, err = f.Write(dump)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.log.Error("stack dump", "err", err)
		return
	}
	s.log.Info("stack dump written", "path", f.Name())
}

// verifyEnv makes the directories of the daemon and sets their owners (verify_env).
func (s *session) verifyEnv(wanted bool, env config.Environment) error {
	if !wanted {
		return nil
	}
	notices, err := env.Verify()
	for _, n := range notices {
		s.log.Log(context.Background(), n.Level, n.Text)
	}
	return err
}
