package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"brine/cmd/keepalive"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/supervisor/stats"
)

// stopSignals gives the first two requests to stop. A request may reach this process, its parent, which
// forwards it, or both. Both happens if a service manager signals all processes of a service, and counts as one
// request.
func stopSignals(ctx context.Context, s *session.Session) <-chan os.Signal {
	own := make(chan os.Signal, 4)
	signal.Notify(own, syscall.SIGTERM, syscall.SIGINT)
	requests := make(chan os.Signal, 2)
	go func() {
		defer signal.Stop(own)
		var got requestCount
		for {
			select {
			case sig := <-own:
				got.own++
				got.tell(requests, sig)
			case sig := <-s.Parent.Signals():
				got.handed++
				got.tell(requests, sig)
			case <-ctx.Done():
				return
			}
		}
	}()
	return requests
}

// requestCount counts the requests to stop, separately for signals to this process and for forwarded signals.
type requestCount struct{ own, handed, told int }

func (c *requestCount) tell(to chan<- os.Signal, sig os.Signal) {
	if n := max(c.own, c.handed); n > c.told && n <= cap(to) {
		c.told = n
		to <- sig
	}
}

// tellOfPredecessor logs how the previous process ended, in the words of Salt's ProcessManager.
func tellOfPredecessor(s *session.Session, l Lifecycle) {
	if e, ok := s.Parent.Before(); ok {
		s.Log.Error(fmt.Sprintf("Process %sKeepAlive (%d) died with exit status %d, restarting...", l.Class, e.PID,
			e.Code()), "deaths", e.Deaths)
	}
}

// tellOfFile logs whether the program file has changed since the parent was started from it, that is, whether
// an upgrade has taken effect.
func tellOfFile(s *session.Session) {
	switch file, path := s.Parent.File(); file {
	case keepalive.FileNew:
		s.Log.Info("this process was started from the file that has replaced the one of its parent", "path", path,
			"version", tool.Version)
	case keepalive.FileGone:
		s.Log.Warn("the file of this program is gone: this process is the program that its parent was started from",
			"path", path, "version", tool.Version)
	case keepalive.FileBroken:
		s.Log.Error("the file that has replaced this program does not start: this process is the program that its "+
			"parent was started from",
			"path", path, "version", tool.Version)
	}
}

// rememberPredecessor adds the death of the previous process to the history of deaths. A process that asked for
// its own restart does not count as dead.
func rememberPredecessor(s *session.Session, l Lifecycle, svc Service, report string) {
	e, ok := s.Parent.Before()
	if !ok || e.Code() == keepalive.ExitAgain {
		return
	}
	why := fmt.Sprintf("process %d of this daemon ended with %s", e.PID, e.How())
	if report != "" {
		why += ", see " + report
	}
	top := svc.Supervisor()
	top.Remember(stats.Death{Time: e.At, Reason: why + "; " + l.Lost(svc), Name: top.Name(), Path: top.Name(),
		Incarnation: e.Deaths, Status: e.Code(), Lived: e.Lived})
}

// stopAlone ends the service because the parent has died. Otherwise a service manager that restarts the parent
// would start a second daemon beside this one.
func stopAlone(s *session.Session, l Lifecycle, svc Service, again <-chan os.Signal) error {
	s.Log.Error(fmt.Sprintf("The parent of the %s has gone. Exiting.", l.Title))
	_, err := end(s, svc, again)
	return errors.Join(tool.Exit(tool.ExitGeneric, "%s", l.Closed("Its parent has gone.")), err)
}
