package fleet

import (
	"fmt"
	"syscall"
)

// These are numbers of descriptors in this process: for a connection whose state is monitored, and for
// everything else.
const (
	filesPerSocket = 8
	filesOfProcess = 200
)

// filesOf is the number of descriptors that a fleet needs.
func filesOf(opt Options) uint64 {
	subs := (opt.Minions + opt.PerSub - 1) / opt.PerSub
	return uint64(filesOfProcess + filesPerSocket*(subs+opt.Requests))
}

// raiseOpenFiles raises the limit of open files as far as this user may. An error means that this is not
// enough.
func raiseOpenFiles(opt Options) error {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	soft, err := raised(opt, lim.Cur, lim.Max)
	if err != nil || soft == 0 {
		return err
	}
	lim.Cur = soft
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("raise the limit of open files: %w", err)
	}
	return nil
}

// raised returns the necessary soft limit, or 0 if the current limit is enough.
func raised(opt Options, soft, hard uint64) (uint64, error) {
	need := filesOf(opt)
	switch {
	case hard < need:
		return 0, fmt.Errorf("%d minions need %d open files, and this process may have %d: raise the limit (ulimit "+
			"-n %d), or take fewer minions",
			opt.Minions, need, hard, need)
	case soft < need:
		return hard, nil
	}
	return 0, nil
}
