package jobprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"brine/modules/host/program/custody"
	"brine/modules/loader"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// Process is the process of one job.
type Process struct {
	from  *Launcher
	cmd   *exec.Cmd
	conn  *os.File
	words *os.File       // its last
	calls sync.WaitGroup // that are being answered

	end chan struct{} // closed when nothing of it is left

	mu    sync.Mutex
	gone  bool           // waited for: the pid may be another's
	asked syscall.Signal // the last ending signal that was sent to it
}

// Times of an end.
const (
	// termGrace is how long processes that were asked to end have for it before they are killed.
	termGrace = 2 * time.Second
	// killGrace is how long those that were killed are waited for.
	killGrace = time.Second
	// exitGrace is how long the process may take to end after it has handed over its return.
	exitGrace = 5 * time.Second
	lookEvery = 5 * time.Millisecond
	// deathGrace is how long a process that has a deadly signal is waited for before its commands get it, too.
	deathGrace = time.Second
	deathLook  = 200 * time.Microsecond
)

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Run gives the process its job, answers its calls and returns what came of it. When ctx ends, the process and all that
// it has started are killed. A process that has handed over its return ends by itself: Wait waits for that.
func (p *Process) Run(ctx context.Context, env *loader.Env, job loader.Job) Outcome {
	stop := context.AfterFunc(ctx, func() { p.Signal(unix.SIGKILL) })
	defer stop()
	s := newStream(p.conn)
	if err := p.begin(s, env, job); err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		p.Signal(unix.SIGKILL)
		p.reap()
		return Outcome{Death: Death{Why: err.Error()}}
	}
	calls, cancel := context.WithCancel(ctx)
	defer cancel()
	d := newCallServer(&env.Host, s, &p.calls)
	for {
		kind, m, err := s.next()
		switch {
		case err != nil:
			return p.died(err)
		case kind == msgCall:
			d.take(calls, m)
		case kind == msgCancel:
			d.drop(field[int64](m, 0))
		case kind == msgReturn:
			go p.reap()
			return Outcome{Return: returned(field[*payload.Map](m, 0)), NoReturn: field[bool](m, 1),
				Crashed: field[bool](m, 2)}
		}
	}
}

// returned is the return that a process has handed over; nil when it was none.
func returned(load *payload.Map) *payload.Return {
	if load == nil {
		return nil
	}
	return payload.NewReturn(load)
}

// begin sends the job.
func (p *Process) begin(s *stream, env *loader.Env, job loader.Job) error {
	first := start{load: job.Load, id: env.ID, connected: job.Connected, limits: p.from.opt.Limits,
		offers: offers(&env.Host)}
	if env.Registry != nil {
		first.limited, first.provided = env.Registry.Limits(), env.Registry.Providers()
	}
	for _, part := range []struct {
		of   func() *payload.Map
		into *[]byte
	}{{env.Opts, &first.opts}, {env.Grains, &first.grains}, {env.Pillar, &first.pillar}} {
		if part.of == nil {
			continue
		}
		b, err := p.from.packed.bytes(part.of())
		if err != nil {
			return fmt.Errorf("pack what a job needs: %w", err)
		}
		*part.into = b
	}
	return s.send(msgStart, first.message()...)
}

// died ends what is left of the job, waits for the process, and tells what it died of.
func (p *Process) died(err error) Outcome {
	asked := p.lastSignal()
	p.clear(asked)
	d := Death{Limits: p.from.opt.Limits, Asked: asked}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, unix.ECONNRESET) {
		d.Why = err.Error()
	}
	words := lastWords(p.words)
	p.reap()
	d.read(p.cmd.ProcessState, words, p.from.kills)
	return Outcome{Death: d}
}

// Signal sends a signal to the process, then to all that it has started. What is stopped goes on, to meet its end. A
// signal that ends the process has ended it before the others get it: their ends are no result of its function.
func (p *Process) Signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	all := p.from.table.family(p.PID(), time.Now()) // its own first
	if !Ends(sig) {
		kill(all, sig)
		return
	}
	p.asked = sig
	end(all[:1], sig)
	p.awaitDeath()
	end(all[1:], sig)
}

// end sends a signal that ends processes, the stopped ones too.
func end(pids []int, sig syscall.Signal) {
	kill(pids, sig)
	if sig != unix.SIGKILL {
		kill(pids, unix.SIGCONT)
	}
}

// awaitDeath waits until the process has died, and leaves it to reap; not for long, as it may not want to.
func (p *Process) awaitDeath() {
	for limit := time.Now().Add(deathGrace); time.Now().Before(limit); time.Sleep(deathLook) {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.PID(), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		if err != nil && err != unix.EINTR || err == nil && info.Signo != 0 {
			return
		}
	}
}

func (p *Process) lastSignal() syscall.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// clear ends what the process has left behind. Whom a signal has told to end gets the time for it.
func (p *Process) clear(asked syscall.Signal) {
	if asked != 0 && asked != unix.SIGKILL {
		p.alone(termGrace, func([]int) {})
	}
	p.alone(killGrace, func(left []int) { kill(left, unix.SIGKILL) })
}

// alone waits until no other process of the job is left, and does something about them meanwhile. The process itself
// has ended, or is about to: it was not waited for, so that its number is nobody else's.
func (p *Process) alone(within time.Duration, do func(left []int)) {
	for limit := time.Now().Add(within); ; time.Sleep(lookEvery) {
		left := p.from.table.family(p.PID(), time.Now())
		do(left)
		if len(left) == 1 || time.Now().After(limit) {
			return
		}
	}
}

// Wait waits until nothing of the process is left.
func (p *Process) Wait() { <-p.end }

// reap waits for the end of a process that has handed over its return, or has died.
func (p *Process) reap() {
	p.awaitEnd()
	custody.Over(p.PID())
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.calls.Wait()
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	_ = p.conn.Close()
	_ = p.words.Close()
	close(p.end)
}

// awaitEnd waits for the end of the stream, so that no thread is blocked in the system call for as long as the job
// runs.
func (p *Process) awaitEnd() {
	if err := p.conn.SetReadDeadline(time.Now().Add(exitGrace)); err == nil {
		var rest [512]byte
		for err == nil {
			_, err = p.conn.Read(rest[:])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.Signal(unix.SIGKILL)
		}
	}
}
