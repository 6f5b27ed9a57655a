package daemon

import (
	"context"
	"os"
	"strconv"
	"time"

	"brine/cmd/session"

	"github.com/coreos/go-systemd/v22/daemon"
)

// watchdogParts is how often in the time of the service manager it is told that the daemon is well.
const watchdogParts = 3

// watchdog tells the service manager that this daemon is well, as long as its supervisor answers (WatchdogSec= of
// systemd.service(5)). One that does not is ended by the service manager, with its parent.
func watchdog(ctx context.Context, s *session.Session, svc Service) {
	within := watchdogTime(os.Getenv, os.Getpid(), os.Getppid(), s.Parent != nil)
	if within <= 0 {
		return
	}
	s.Log.Debug("the service manager watches this daemon", "within", within)
	go watch(ctx, within/watchdogParts, svc.Supervisor().Answers, func() {
		notify(s, s.Parent.Watchdog, daemon.SdNotifyWatchdog)
	})
}

// notify hands a word to the service manager, which listens to the parent alone if there is one.
func notify(s *session.Session, byParent func(), word string) {
	if s.Parent != nil {
		byParent()
		return
	}
	if _, err := daemon.SdNotify(false, word); err != nil {
		s.Log.Warn("the service manager does not hear us", "word", word, "err", err)
	}
}

// watch says every so often that all is well, if it is.
func watch(ctx context.Context, every time.Duration, answers func(context.Context) error, say func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if answers(ctx) != nil { // nothing but the end of ctx or of the daemon ends the wait
			return
		}
		say()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// watchdogTime is how long the service manager waits for a word of this process or of its parent, 0: it does not.
func watchdogTime(env func(string) string, pid, ppid int, hasParent bool) time.Duration {
	usec, err := strconv.ParseInt(env("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 || env("NOTIFY_SOCKET") == "" {
		return 0
	}
	if who := env("WATCHDOG_PID"); who != "" && who != strconv.Itoa(pid) && !(hasParent && who == strconv.Itoa(ppid)) {
		return 0
	}
	return time.Duration(usec) * time.Microsecond
}
