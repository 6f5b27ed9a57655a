//go:build cgo

package custody

import "C" // guard.c: the guard is this program, by another name

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"brine/modules/host/openfiles"

	"golang.org/x/sys/unix"
)

// guardName makes this program a guard (guard.c).
const guardName = "brine-guard"

// sendPatience is how long a guard may take to read, in seconds. One that hangs is replaced.
const sendPatience = 2

// guard is the process that ends the programs when this one has ended.
type guard struct {
	fd   int // our end; -1 when it is closed
	cmd  *exec.Cmd
	gone chan struct{} // closed when it has ended
}

// startGuard starts one. locked, when not nil, is locked for as long as it lives; out, when not nil, gets what it says
// in the end.
func startGuard(locked, out *os.File) (*guard, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("guard of programs: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "guard")
	defer theirs.Close()
	g := &guard{fd: fds[0], gone: make(chan struct{})}
	g.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{guardName, fmt.Sprintf("of process %d", os.Getpid())},
		Env: []string{}, Dir: "/", Stdin: theirs, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if out != nil {
		g.cmd.Stdout = out
	}
	if locked != nil {
		g.cmd.ExtraFiles = []*os.File{locked}
	}
	openfiles.Keep()
	err = unix.SetsockoptTimeval(g.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: sendPatience})
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		_ = unix.Close(g.fd)
		return nil, fmt.Errorf("guard of programs: %w", err)
	}
	go func() {
		_ = g.cmd.Wait() // nobody asks how it ended
		close(g.gone)
	}()
	return g, nil
}

// say tells the guard of a program.
func (g *guard) say(op byte, e entry) error {
	err := unix.EINTR
	for err == unix.EINTR {
		sent := unix.Send(g.fd, e.message(op), unix.MSG_NOSIGNAL)
		if sent == nil {
			return nil
		}
		err, _ = sent.(unix.Errno)
	}
	return fmt.Errorf("guard of programs: %w", err)
}

// leave lets the guard end what it knows.
func (g *guard) leave() {
	_ = unix.Close(g.fd)
	g.fd = -1
}

// discard ends the guard, and nothing that it knows.
func (g *guard) discard() {
	_ = g.cmd.Process.Kill() // it may have ended
	<-g.gone
	g.leave()
}

// message is struct entry of guard.c.
func (e entry) message(op byte) []byte {
	b := []byte{op, byte(e.kind), 0, 0}
	if e.sure {
		b[2] = 1
	}
	for _, n := range []uint32{uint32(e.pid), uint32(e.session), 0} {
		b = binary.NativeEndian.AppendUint32(b, n)
	}
	return binary.NativeEndian.AppendUint64(b, e.start)
}
