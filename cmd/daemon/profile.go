package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"

	"brine/cmd/session"
)

// profileOnUSR2 starts a profile of the processor time at one SIGUSR2 and ends it at the next, as Salt's
// daemons do where a profiler is installed. The file goes to the directory for temporary files. go tool pprof
// reads it.
func profileOnUSR2(ctx context.Context, s *session.Session) {
	usr2 := make(chan os.Signal, 1)
	signal.Notify(usr2, syscall.SIGUSR2)
	go func() {
		defer signal.Stop(usr2)
		for {
			select {
			case <-usr2:
			case <-ctx.Done():
				return
			}
			if err := profile(ctx, s, usr2); err != nil {
				s.Log.Error("profile", "err", err)
			}
		}
	}()
}

// profile writes a profile of the time until end, or until the daemon ends.
func profile(ctx context.Context, s *session.Session, end <-chan os.Signal) (err error) {
	f, err := os.CreateTemp("", s.Prog+"-*.pprof")
	if err != nil {
		return fmt.Errorf("make file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.Log.Info("profile started", "path", f.Name())
	select {
	case <-end:
	case <-ctx.Done():
	}
	pprof.StopCPUProfile()
	s.Log.Info("profile written", "path", f.Name())
	return nil
}
