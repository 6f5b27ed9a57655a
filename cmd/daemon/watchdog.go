package daemon

import (
	"context"
	"os"
	"strconv"
	"time"

	"brine/cmd/session"

	"github.com/coreos/go-systemd/v22/daemon"
)

// watchdogParts is how many reports the daemon sends within the time limit of the service manager.
const watchdogParts = 3

// watchdog tells the service manager that this daemon is healthy, as long as its supervisor answers
// (WatchdogSec= of systemd.service(5)). Without a report the service manager ends the daemon and its parent.
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

// notify sends a word to the service manager. If there is a parent, the parent sends it, because the service
// manager listens only to the parent.
func notify(s *session.Session, byParent func(), word string) {
	if s.Parent != nil {
		byParent()
		return
	}
	if _, err := daemon.SdNotify(false, word); err != nil {
		s.Log.Warn("the service manager does not hear us", "word", word, "err", err)
	}
}

// watch calls say at regular times as long as answers succeeds.
func watch(ctx context.Context, every time.Duration, answers func(context.Context) error, say func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if answers(ctx) != nil { // only the end of ctx or of the daemon ends the wait
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

// watchdogTime is the time limit within which the service manager expects a report of this process or of its
// parent. 0 means that it expects none.
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
