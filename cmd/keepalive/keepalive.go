// Package keepalive is the parent of a salt-minion, a salt-master or a salt-api and the way to it: a small process that
// starts the daemon's own, hands signals on to it, and starts another within moments when it dies. It answers to
// salt_minion of salt/scripts.py. Unlike Salt's it also answers kill -9 and a crash, with -d, too, and masters and
// salt-api have one; why it is C, and what else it does otherwise, stands in docs/decisions/0009 and 0031.
//
// A program that links this package splits in two before its main, where its command line says salt-minion, salt-master
// or salt-api, and not --disable-keepalive. The parent never comes that far. As process 1 it also reaps what others
// leave.
package keepalive

/*
int keepalive_channel(void);
int keepalive_deaths(void);
int keepalive_file(void);
const char *keepalive_path(void);
int keepalive_before_pid(void);
int keepalive_before_status(void);
long long keepalive_before_at(void);
long long keepalive_before_lived(void);
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// ExitAgain is the exit code by which a process asks for a new one in its place, after a pause of 3 to 12 s.
const ExitAgain = 99

// Words of the process to its parent, and letters that come back (parent.c).
const (
	sayListening = 'L'
	sayReady     = 'R'
	sayStopping  = 'S'
	sayOver      = 'E'
	sayWatchdog  = 'W'
	sayAgain     = 'A'
	hearInt      = 'I' // SIGINT; any other is SIGTERM
)

// Parent is the parent of this process. A nil Parent is none, and does nothing.
type Parent struct {
	conn    *os.File
	signals chan os.Signal
	gone    chan struct{}
	listen  func()
}

// Find is the parent of this process; nil without one. It is called once.
func Find() *Parent {
	fd := int(C.keepalive_channel())
	if fd < 0 {
		return nil
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil
	}
	p := &Parent{conn: os.NewFile(uintptr(fd), "parent"), signals: make(chan os.Signal, 4), gone: make(chan struct{})}
	p.listen = sync.OnceFunc(func() {
		p.say(sayListening)
		go p.hear()
	})
	return p
}

// Ended is how a process ended.
type Ended struct {
	PID    int
	Status syscall.WaitStatus
	Deaths int           // of its kind so far that were not on purpose
	At     time.Time     // when the parent saw it
	Lived  time.Duration // since its start
}

// How says it in a few words.
func (e Ended) How() string {
	if e.Status.Signaled() {
		return fmt.Sprintf("signal %d (%v)", int(e.Status.Signal()), e.Status.Signal())
	}
	return fmt.Sprintf("exit code %d", e.Status.ExitStatus())
}

// Code is the exit status as Salt shows it: minus the signal where one ended the process.
func (e Ended) Code() int {
	if e.Status.Signaled() {
		return -int(e.Status.Signal())
	}
	return e.Status.ExitStatus()
}

// Before is the process before this one; ok is false when this is the first.
func (p *Parent) Before() (e Ended, ok bool) {
	if p == nil || C.keepalive_before_pid() == 0 {
		return Ended{}, false
	}
	return Ended{PID: int(C.keepalive_before_pid()), Status: syscall.WaitStatus(C.keepalive_before_status()),
		Deaths: int(C.keepalive_deaths()), At: time.UnixMilli(int64(C.keepalive_before_at())),
		Lived: time.Duration(C.keepalive_before_lived()) * time.Millisecond}, true
}

// File is what has the name of the program when a process is started.
type File int

// The kinds of File, as in upgrade.h.
const (
	FileSame   File = iota // the program of this process and of its parent
	FileNew                // that of this process, which its parent is not
	FileGone               // nothing: this process is what its parent was started from
	FileBroken             // one that did not start: the same
)

// File tells where this process comes from, and by which path.
func (p *Parent) File() (f File, path string) {
	if p == nil {
		return FileSame, ""
	}
	return File(C.keepalive_file()), C.GoString(C.keepalive_path())
}

// Signals are SIGTERM and SIGINT that the parent has got. From the first call on it sends them here, and not to
// the process.
func (p *Parent) Signals() <-chan os.Signal {
	if p == nil {
		return nil
	}
	p.listen()
	return p.signals
}

// Gone is closed when the parent has died.
func (p *Parent) Gone() <-chan struct{} {
	if p == nil {
		return nil
	}
	p.listen()
	return p.gone
}

// Ready and Stopping reach the service manager, which listens to the parent alone.
func (p *Parent) Ready() { p.say(sayReady) }

// Stopping is said when the end begins.
func (p *Parent) Stopping() { p.say(sayStopping) }

// Watchdog says that the process is well.
func (p *Parent) Watchdog() { p.say(sayWatchdog) }

// Again says before Over that the daemon could not start, for a reason that may pass. If one was up before, the parent
// tries again and again, with growing pauses. One that is started for the first time ends: whoever has started it is to
// see that.
func (p *Parent) Again() { p.say(sayAgain) }

// Over is said last: what comes now is no death.
func (p *Parent) Over() { p.say(sayOver) }

func (p *Parent) say(word byte) {
	if p != nil {
		_, _ = p.conn.Write([]byte{word}) // a parent that has gone is told of by Gone
	}
}

// hear takes letters until the parent goes.
func (p *Parent) hear() {
	defer close(p.gone)
	var b [1]byte
	for {
		if _, err := p.conn.Read(b[:]); err != nil {
			return
		}
		sig := syscall.SIGTERM
		if b[0] == hearInt {
			sig = syscall.SIGINT
		}
		select {
		case p.signals <- sig:
		default: // nobody listens to that many
		}
	}
}
