package jobprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// Descriptors that the minion gives to the process.
const (
	fdSocket = 3
	fdWords  = 4 // takes the last words of a program that dies
)

// ErrNoMinion means that the process was not started by a minion.
var ErrNoMinion = errors.New("this is started by salt-minion, for one job at a time")

// Main is the life of the process: it takes its job from the minion, runs it, and hands over the return. When the
// minion goes before that, the process ends with all that it has started: nobody would hear what came of it, and the
// next minion answers that the job was lost. complete, when not nil, adds what functions find here without the minion.
func Main(reg *loader.Registry, complete func(*loader.Env)) error {
	conn, err := inherit()
	if err != nil {
		return err
	}
	s := newStream(conn)
	kind, m, err := s.next()
	if err != nil {
		return fmt.Errorf("take the job: %w", err)
	}
	job, ok := readStart(m)
	if kind != msgStart || !ok {
		return fmt.Errorf("take the job: %w: %q", errStream, kind)
	}
	if err := job.limits.apply(); err != nil {
		return err
	}
	reg.Limit(job.limited)
	reg.Provide(job.provided)
	return job.run(s, reg, complete, func() { kill(family(os.Getpid()), unix.SIGKILL) }) // this process, too
}

// run runs the job and sends its return. die is called when the minion goes before that.
func (s start) run(to *stream, reg *loader.Registry, complete func(*loader.Env), die func()) error {
	back := newRemote(to)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var over atomic.Bool // claimed by what comes first: the return, or the end of the minion
	go func() {
		err := listen(to, back)
		if over.CompareAndSwap(false, true) {
			die()
		}
		back.lost(err)
		cancel(err)
	}()
	env := s.env(reg, back)
	if complete != nil {
		complete(env)
	}
	r := loader.Execute(ctx, env, loader.Job{Load: s.load, Connected: s.connected})
	if !over.CompareAndSwap(false, true) {
		<-ctx.Done() // this process is about to end
	}
	return sendReturn(to, r)
}

// inherit takes the descriptors over. They are not passed on to what the job starts.
func inherit() (*os.File, error) {
	kind, err := unix.GetsockoptInt(fdSocket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil || kind != unix.AF_UNIX {
		return nil, ErrNoMinion
	}
	unix.CloseOnExec(fdSocket)
	unix.CloseOnExec(fdWords)
	if err := keepWords(); err != nil {
		return nil, fmt.Errorf("keep the last words: %w", err)
	}
	if err := unix.SetNonblock(fdSocket, true); err != nil {
		return nil, fmt.Errorf("socket of the minion: %w", err)
	}
	return os.NewFile(fdSocket, "minion"), nil
}

// keepWords lets what this program itself says at its death go to the minion. Commands keep the standard error that
// the minion has.
func keepWords() error {
	shown, err := unix.FcntlInt(uintptr(unix.Stderr), unix.F_DUPFD_CLOEXEC, fdWords+1)
	if err != nil {
		return err
	}
	os.Stderr = os.NewFile(uintptr(shown), "/dev/stderr")
	return errors.Join(unix.Dup3(fdWords, unix.Stderr, 0), unix.Close(fdWords))
}

// listen hands answers over until the minion goes.
func listen(s *stream, back *remote) error {
	for {
		kind, m, err := s.next()
		if err != nil {
			return err
		}
		if kind == msgAnswer {
			back.take(m)
		}
	}
}

// env is what the function runs in.
func (s start) env(reg *loader.Registry, back *remote) *loader.Env {
	own := ownPillars{back.host(s.offers).Secrets, lazy(s.opts)}
	env := &loader.Env{Registry: reg, ID: s.id, Opts: own.opts, Grains: lazy(s.grains), Host: back.host(s.offers)}
	env.Pillar = sync.OnceValue(func() *payload.Map { return own.restored(lazy(s.pillar)()) })
	if own.PillarSource != nil {
		env.Host.Secrets = own
	}
	reg.On(env)
	return env
}

// ownPillars gives pillars that the minion compiled itself their OrderedDicts back, which the way to this process takes
// from them.
type ownPillars struct {
	loader.PillarSource
	opts func() *payload.Map
}

// Compile asks the minion.
func (o ownPillars) Compile(ctx context.Context, q loader.PillarQuery) (*payload.Map, error) {
	m, err := o.PillarSource.Compile(ctx, q)
	return o.restored(m), err
}

func (o ownPillars) restored(pillar *payload.Map) *payload.Map {
	if o.opts().Str("file_client") != "local" {
		return pillar
	}
	return dicts.OrderBelow(pillar)
}

// lazy reads a packed map once, when a function asks for it.
func lazy(b []byte) func() *payload.Map {
	return sync.OnceValue(func() *payload.Map {
		m, err := payload.UnmarshalBinMap(b)
		if err != nil {
			return nil // the minion has none
		}
		return m
	})
}

// sendReturn hands the return over; one that cannot be packed is replaced by the reason.
func sendReturn(to *stream, r loader.Result) error {
	ret := payload.NewReturn(r.Map())
	err := to.send(msgReturn, ret.Map(), r.NoReturn, r.Crashed)
	if errors.Is(err, payload.ErrUnencodable) {
		ret.Fail(fmt.Sprintf("The return cannot be packed: %v", err))
		err = to.send(msgReturn, ret.Map(), false, false)
	}
	return err
}
