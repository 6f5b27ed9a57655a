package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
)

// profileOnUSR2 begins a profile of the processor time at one SIGUSR2 and ends it at the next, as Salt's daemons
// do where a profiler is installed. The file goes to the directory for temporary files, for go tool pprof.
func (s *session) profileOnUSR2(ctx context.Context) {
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
			if err := s.profile(ctx, usr2); err != nil {
				s.log.Error("profile", "err", err)
			}
		}
	}()
}

// profile writes a profile of the time until end, or until the daemon ends.
func (s *session) profile(ctx context.Context, end <-chan os.Signal) (err error) {
	f, err := os.CreateTemp("", s.prog+"-*.pprof")
	if err != nil {
		return fmt.Errorf("make file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.log.Info("profile started", "path", f.Name())
	select {
	case <-end:
	case <-ctx.Done():
	}
	pprof.StopCPUProfile()
	s.log.Info("profile written", "path", f.Name())
	return nil
}
