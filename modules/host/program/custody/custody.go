// Package custody sees to it that the programs of a daemon end with the daemon, whatever ends it, and that a daemon
// ends what one before it has left. It starts programs and is told when they are over. It does not wait for them, and
// knows nothing of what they are for: see modules/host/program and modules/host/jobprocess, which are its callers. How
// it works, and why so, stands in docs/decisions/0069.
//
// Three things know of a program that runs: the kernel, which signals its first process when this one dies; the guard,
// a small process that ends its whole group then (guard.c); and a record on disk, for the daemon that comes next.
//
// Only daemons have custody: before Begin, and in other tools, a program is merely started.
package custody

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kind says how a program ends with its daemon.
type Kind byte

// The kinds of programs.
const (
	Program Kind = 'P' // it is told to end, and its group is killed after 2 s
	Command Kind = 'C' // of a function, which nobody waits for any more: its group is killed
	Job     Kind = 'J' // the process of a job, which ends by itself: its session is killed after 1 s
)

// Times of a guard.
const (
	idle        = 30 * time.Second      // without a program: then it ends
	guardPause  = time.Second           // between two guards, when one died
	lockPause   = 20 * time.Millisecond // between two attempts to have the record
	lockedAtAll = 15 * time.Second      // as long as a guard of the process before may need, and some more
)

// Options of the custody of a daemon.
type Options struct {
	Path string // of the record; "": there is none, and nothing that was left is ended
	Log  *slog.Logger
}

// keeper is the custody of one process.
type keeper struct {
	log     *slog.Logger
	settled chan struct{} // closed when nothing of a predecessor is left

	mu     sync.Mutex
	live   map[int]*entry
	guard  *guard  // nil: none
	record *record // nil: none yet, or at all
	retire *time.Timer
	failed time.Time // when a guard could not be started, or died
}

// ofProcess is where that of this process is, nil before Begin. A process has one, as it has one set of children, and
// whoever starts a program comes by here.
var ofProcess = sync.OnceValue(func() *atomic.Pointer[keeper] { return &atomic.Pointer[keeper]{} })

func mine() *keeper { return ofProcess().Load() }

// Begin begins the custody of this process: what it starts from now on ends with it. What a process before it has left
// is ended beside the rest of the start; Settled waits for that. It is called once, with the rights that programs will
// be started with.
func Begin(o Options) {
	ofProcess().Store(newKeeper(o))
}

func newKeeper(o Options) *keeper {
	k := &keeper{log: o.Log, settled: make(chan struct{}), live: map[int]*entry{}}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	if o.Path == "" {
		close(k.settled)
		return k
	}
	go func() {
		defer close(k.settled)
		k.inherit(o.Path)
	}()
	return k
}

// Settled waits until nothing is left of the programs of a process before this one: they may hold what their successors
// need.
func Settled(ctx context.Context) error {
	k := mine()
	if k == nil {
		return nil
	}
	select {
	case <-k.settled:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Start starts a program that is the first process of a group of its own. Over is told when it has ended, before it is
// waited for.
func Start(cmd *exec.Cmd, kind Kind) error {
	k := mine()
	if k == nil {
		return cmd.Start()
	}
	cmd.SysProcAttr.Pdeathsig = deathSignals[kind]
	if err := onLastingThread(cmd.Start); err != nil {
		return err
	}
	k.take(cmd.Process.Pid, kind)
	return nil
}

// deathSignals are what the kernel sends to a program when its daemon dies. The process of a job notices by itself.
var deathSignals = map[Kind]syscall.Signal{Program: unix.SIGTERM, Command: unix.SIGKILL}

// lasting is the way to a thread that lives as long as this process. The kernel's signal comes when the thread dies
// that has started the program, and Go ends threads.
var lasting = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func onLastingThread(f func() error) error {
	done := make(chan error)
	lasting() <- func() { done <- f() }
	return <-done
}

// Started takes a program that was started otherwise, the first process of its group. It has not been waited for.
func Started(pid int, kind Kind) {
	if k := mine(); k != nil {
		k.take(pid, kind)
	}
}

// Over gives a program back: it has ended, and what it has left is to stay. Its number is still its own, as nobody has
// waited for it.
func Over(pid int) {
	if k := mine(); k != nil {
		k.over(pid)
	}
}

func (k *keeper) take(pid int, kind Kind) {
	e, err := describe(pid, kind)
	if err != nil { // no /proc: only the kernel knows of it
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if before := k.live[pid]; before != nil && k.record != nil { // nobody has said that it was over
		k.told(k.record.remove(before))
	}
	k.live[pid] = &e
	if k.record != nil {
		k.told(k.record.add(&e))
	}
	if k.retire != nil {
		k.retire.Stop()
	}
	if k.guard != nil && k.guard.say('+', e) == nil {
		return
	}
	k.newGuard()
}

func (k *keeper) over(pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.live[pid]
	if !ok {
		return
	}
	delete(k.live, pid)
	if k.record != nil {
		k.told(k.record.remove(e))
	}
	if k.guard != nil && k.guard.say('-', *e) != nil {
		k.newGuard()
	}
	if len(k.live) == 0 {
		k.retireLater()
	}
}

// retireLater ends a guard that has had nothing to guard for a while.
func (k *keeper) retireLater() {
	if k.retire != nil {
		k.retire.Stop()
	}
	k.retire = time.AfterFunc(idle, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if len(k.live) == 0 && k.guard != nil {
			g := k.guard
			k.guard = nil
			g.leave()
		}
	})
}

// newGuard starts a guard, in the place of one that there may be, and tells it of all programs.
func (k *keeper) newGuard() {
	if old := k.guard; old != nil {
		k.guard = nil
		old.discard()
	}
	if len(k.live) == 0 {
		return
	}
	if wait := guardPause - time.Since(k.failed); wait > 0 {
		time.AfterFunc(wait, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.guard == nil {
				k.newGuard()
			}
		})
		return
	}
	g, err := startGuard(k.record.file(), nil)
	if err != nil {
		k.failed = time.Now()
		k.log.Warn("programs would outlive a crash of this process", "err", err)
		return
	}
	k.guard = g
	for _, e := range k.live {
		if g.say('+', *e) != nil {
			break // it has died: watch sees that
		}
	}
	go k.watch(g)
}

// watch replaces a guard that somebody has ended.
func (k *keeper) watch(g *guard) {
	<-g.gone
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.guard != g {
		return
	}
	k.log.Warn("the guard of programs has died, another is started")
	k.newGuard()
	k.failed = time.Now()
}

// told logs once what is wrong with the record.
func (k *keeper) told(err error) {
	if err != nil && !k.record.complained {
		k.record.complained = true
		k.log.Warn("programs that run are not recorded", "err", err)
	}
}

// describe is what is known of a process of ours that has just begun.
func describe(pid int, kind Kind) (entry, error) {
	start, err := startOf(pid)
	if err != nil {
		return entry{}, err
	}
	session, err := unix.Getsid(pid)
	if err != nil {
		return entry{}, fmt.Errorf("session of process %d: %w", pid, err)
	}
	// it is that of a terminal, in which others start programs, too
	shared := session != os.Getpid() && session != os.Getppid()
	return entry{kind: kind, pid: pid, start: start, session: session, sure: true, alone: !shared}, nil
}
