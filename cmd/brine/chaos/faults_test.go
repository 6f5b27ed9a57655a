package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/modules/fleet/keys"
)

// fault is one way to harm a fleet.
type fault struct {
	name   string
	weight int
	kills  bool // it kills an actor
	do     func(ctx context.Context, f *fleet, r *rand.Rand) (done, error)
}

// done describes a fault that was carried out.
type done struct {
	what string       // the target and the kind of harm; "" if there was no target
	undo func() error // undoes it after hold, at the latest at the end of the round; nil: nothing to undo
	hold time.Duration
}

// faults is the table of faults. With the weights of the kills, nine of ten faults kill an actor.
func faults() []fault {
	return append(linkFaults(), []fault{
		{"actor panics", 560, true, harmActor("panic")},
		{"actor stops itself", 330, true, harmActor("exit")},
		{"actor hangs", 10, true, hangActor},
		{"actor is restarted", 30, true, restartActor},
		{"job process killed", 40, false, killJobProcess},
		{"minion process killed", 8, false, killMinionProcess},
		{"minion killed", 5, false, killMinion},
		{"master killed", 5, false, killMaster},
		{"process frozen", 6, false, freeze},
		{"key rotated", 6, false, rotateKey},
	}...)
}

// someone draws one of brine's daemons. The master is as likely as all minions together.
func (f *fleet) someone(r *rand.Rand) *member {
	if r.IntN(2) == 0 {
		return f.master
	}
	return f.minions[r.IntN(len(f.minions))]
}

// someActor draws an actor. It is one of the permanent actors or, on a minion in one of four cases, that of a
// job.
func (f *fleet) someActor(ctx context.Context, r *rand.Rand) (*member, string, error) {
	m := f.someone(r)
	wantsJob, at := r.IntN(4) == 0, r.Uint64()
	if wantsJob && m != f.master {
		paths, _, err := m.tree(ctx)
		if err != nil {
			return m, "", err
		}
		jobs := slices.DeleteFunc(paths, func(p string) bool { return !strings.Contains(p, "Job-") })
		if len(jobs) > 0 {
			return m, jobs[at%uint64(len(jobs))], nil
		}
	}
	list := f.statics[m.id]
	return m, list[at%uint64(len(list))], nil
}

// actOn asks a daemon to do something to an actor. A missing or restarting actor is no failure.
func (f *fleet) actOn(ctx context.Context, r *rand.Rand, kv ...any) (done, error) {
	m, path, err := f.someActor(ctx, r)
	if err == nil {
		_, err = m.askMap(ctx, append([]any{"name", path}, kv...)...)
	}
	for _, gone := range []string{"no such actor", "no such child", "the actor has ended"} {
		if err != nil && strings.Contains(err.Error(), gone) {
			return done{}, nil
		}
	}
	return done{what: m.id + "/" + path}, err
}

func harmActor(how string) func(context.Context, *fleet, *rand.Rand) (done, error) {
	return func(ctx context.Context, f *fleet, r *rand.Rand) (done, error) {
		return f.actOn(ctx, r, "cmd", "crash", "how", how)
	}
}

// hangActor makes an actor hang. The fault ends after worker_timeout, when the actor is replaced.
func hangActor(ctx context.Context, f *fleet, r *rand.Rand) (done, error) {
	d, err := harmActor("hang")(ctx, f, r)
	if d.what != "" {
		d.hold, d.undo = time.Duration(hangLimit())*time.Second, func() error { return nil }
	}
	return d, err
}

func restartActor(ctx context.Context, f *fleet, r *rand.Rand) (done, error) {
	return f.actOn(ctx, r, "cmd", "restart")
}

// killJobProcess kills a process that runs the function of a job. It waits a short time for one.
func killJobProcess(ctx context.Context, f *fleet, r *rand.Rand) (done, error) {
	at := r.Uint64()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		jobs := f.jobProcesses()
		if len(jobs) > 0 {
			p := jobs[at%uint64(len(jobs))]
			if err := syscall.Kill(p.pid, syscall.SIGKILL); err == nil {
				return done{what: p.String()}, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return done{}, ctx.Err()
		}
	}
	return done{}, nil
}

// jobProcesses lists the processes of jobs of brine's minions, sorted.
func (f *fleet) jobProcesses() []process {
	all := processes()
	var found []process
	for _, m := range f.minions {
		if worker := m.worker(); worker != 0 {
			found = append(found, slices.DeleteFunc(below(all, worker), func(p process) bool {
				return p.parent != worker || p.state == 'Z' || !strings.Contains(p.args, "ProcessPayload")
			})...)
		}
	}
	return found
}

// killMinionProcess kills the working process of a minion. Its parent starts another.
func killMinionProcess(_ context.Context, f *fleet, r *rand.Rand) (done, error) {
	m := f.minions[r.IntN(len(f.minions))]
	pid := m.worker()
	if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		return done{}, nil
	}
	return done{what: fmt.Sprintf("%s, process %d", m.id, pid)}, nil
}

// killMinion kills the parent as well.
func killMinion(_ context.Context, f *fleet, r *rand.Rand) (done, error) {
	return kill(f.minions[r.IntN(len(f.minions))], r), nil
}

func killMaster(_ context.Context, f *fleet, r *rand.Rand) (done, error) {
	return kill(f.master, r), nil
}

// kill kills a daemon. It stays dead for up to half a second.
func kill(m *member, r *rand.Rand) done {
	hold := time.Duration(r.IntN(500)) * time.Millisecond
	if m.pid() == 0 {
		return done{}
	}
	m.kill()
	return done{what: m.id, hold: hold, undo: m.start}
}

// freeze stops a process for up to half a second.
func freeze(_ context.Context, f *fleet, r *rand.Rand) (done, error) {
	m := f.someone(r)
	hold := time.Duration(r.IntN(500)) * time.Millisecond
	pid := m.worker()
	if pid == 0 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return done{}, nil
	}
	return done{what: fmt.Sprintf("%s for %v", m.id, hold), hold: hold, undo: func() error {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed meanwhile
		return nil
	}}, nil
}

// rotateKey asks the master for a new key for its publications.
func rotateKey(_ context.Context, f *fleet, _ *rand.Rand) (done, error) {
	return done{what: "m"}, keys.WriteDrop(f.path("m/var/cache/salt/master"), "", nil)
}
