// Package keepalive is the parent process of a salt-minion, a salt-master or a salt-api, and the connection to
// it. The parent is a small process. It starts the daemon's own process, forwards signals to it, and starts
// another one within moments if it dies. It answers to salt_minion of salt/scripts.py. Unlike Salt: the parent
// also restarts the daemon after kill -9 and after a crash, also with -d, and masters and salt-api have a
// parent, too. docs/decisions/0009 and 0031 say why it is written in C, and what else differs.
//
// A program that links this package splits in two before its main function, if its command line says
// salt-minion, salt-master or salt-api, and not --disable-keepalive. The parent never reaches main. As process
// 1 it also reaps orphaned processes.
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

// ExitAgain is the exit code with which a process asks for its own replacement, after a pause of 3 to 12 s.
const ExitAgain = 99

// These are the words of the process to its parent, and the letters of the answer (parent.c).
const (
	sayListening = 'L'
	sayReady     = 'R'
	sayStopping  = 'S'
	sayOver      = 'E'
	sayWatchdog  = 'W'
	sayAgain     = 'A'
	hearInt      = 'I' // SIGINT; any other letter is SIGTERM
)

// Parent is the parent of this process. A nil Parent means that there is none. Its methods do nothing.
type Parent struct {
	conn    *os.File
	signals chan os.Signal
	gone    chan struct{}
	listen  func()
}

// Find returns the parent of this process, or nil. Call it once.
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

// Ended describes how a process ended.
type Ended struct {
	PID    int
	Status syscall.WaitStatus
	Deaths int           // unintended deaths of the daemon so far
	At     time.Time     // when the parent noticed it
	Lived  time.Duration // time from its start to its end
}

// How describes the end in a few words.
func (e Ended) How() string {
	if e.Status.Signaled() {
		return fmt.Sprintf("signal %d (%v)", int(e.Status.Signal()), e.Status.Signal())
	}
	return fmt.Sprintf("exit code %d", e.Status.ExitStatus())
}

// Code is the exit status as Salt shows it. After a signal it is minus the number of the signal.
func (e Ended) Code() int {
	if e.Status.Signaled() {
		return -int(e.Status.Signal())
	}
	return e.Status.ExitStatus()
}

// Before returns the process before this one. ok is false for the first process.
func (p *Parent) Before() (e Ended, ok bool) {
	if p == nil || C.keepalive_before_pid() == 0 {
		return Ended{}, false
	}
	return Ended{PID: int(C.keepalive_before_pid()), Status: syscall.WaitStatus(C.keepalive_before_status()),
		Deaths: int(C.keepalive_deaths()), At: time.UnixMilli(int64(C.keepalive_before_at())),
		Lived: time.Duration(C.keepalive_before_lived()) * time.Millisecond}, true
}

// File tells which file has the name of the program when a process starts.
type File int

// These are the kinds of File, as in upgrade.h.
const (
	FileSame   File = iota // this process and its parent are from the same file
	FileNew                // this process is from a new file, its parent is not
	FileGone               // the file is gone; this process is from the same file as its parent
	FileBroken             // the new file did not start; this process is from the same file as its parent
)

// File tells from which file this process was started, and by which path.
func (p *Parent) File() (f File, path string) {
	if p == nil {
		return FileSame, ""
	}
	return File(C.keepalive_file()), C.GoString(C.keepalive_path())
}

// Signals delivers SIGTERM and SIGINT that the parent has received. After the first call the parent sends them
// here instead of signalling the process.
func (p *Parent) Signals() <-chan os.Signal {
	if p == nil {
		return nil
	}
	p.listen()
	return p.signals
}

// Gone returns a channel that is closed when the parent has died.
func (p *Parent) Gone() <-chan struct{} {
	if p == nil {
		return nil
	}
	p.listen()
	return p.gone
}

// Ready tells the service manager that the daemon is ready. Ready and Stopping go through the parent, because
// the service manager listens only to it.
func (p *Parent) Ready() { p.say(sayReady) }

// Stopping tells the service manager that the daemon begins to end.
func (p *Parent) Stopping() { p.say(sayStopping) }

// Watchdog tells the service manager that the process is healthy.
func (p *Parent) Watchdog() { p.say(sayWatchdog) }

// Again says, before Over, that the daemon could not start for a reason that may pass. If an earlier process
// was ready, the parent tries again repeatedly, with growing pauses. If not, the parent ends, so that the user
// who started the daemon notices it.
func (p *Parent) Again() { p.say(sayAgain) }

// Over is the last message: the end of the process is not a death.
func (p *Parent) Over() { p.say(sayOver) }

func (p *Parent) say(word byte) {
	if p != nil {
		_, _ = p.conn.Write([]byte{word}) // Gone reports a dead parent
	}
}

// hear receives letters until the parent ends.
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
		default: // no code waits for so many signals
		}
	}
}
