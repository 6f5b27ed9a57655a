package link

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// ownNamespace is the network namespace of the calling thread.
const ownNamespace = "/proc/thread-self/ns/net"

// newNamespace makes a network namespace. It exists as long as the file is open or a process is in it.
func newNamespace() (ns *os.File, err error) {
	err = elsewhere(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("%w: no new network namespace for uid %d: %w", ErrUnavailable, os.Geteuid(), err)
		}
		ns, err = os.Open(ownNamespace)
		return err
	})
	return ns, err
}

// within calls f on a thread in the namespace. Sockets that f makes and processes that it starts stay there.
func (h *Host) within(f func() error) error {
	return elsewhere(func() error {
		if err := unix.Setns(int(h.ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return f()
	})
}

// elsewhere calls f on a separate thread, which may change its namespace. A thread that cannot return to its
// old namespace ends.
func elsewhere(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		back, err := os.Open(ownNamespace)
		if err != nil {
			done <- fmt.Errorf("%w: no network namespaces: %w", ErrUnavailable, err)
			return
		}
		defer back.Close()
		err = f()
		if unix.Setns(int(back.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}
