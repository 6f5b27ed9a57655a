package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"brine/modules/host/program"
	"brine/wire/payload"
	"brine/wire/python/shlex"
)

// Door is an engine, or any other program beside a daemon, that is a program of the operator's: it is told of events on
// its standard input and says on its standard output what is to be fired, logged or called, a JSON text a line.
// docs/engines.md has the protocol. It runs in a process group of its own, without open files of the daemon, with a
// small environment; the group is ended with it. One that does not read loses events and delays nobody; one that does
// not end its lines is ended.
type Door struct {
	name   string
	argv   []string
	events []string     // globs; none: it is not told of any
	user   string       // "": that of the daemon
	env    *payload.Map // over the small environment
	cwd    string
	rest   *payload.Map // options that the program is told
}

// newDoor reads the options of an engine that is a program.
func newDoor(name string, f *fields) Engine {
	d := &Door{name: name, events: f.texts("events"), user: f.text("user", ""), cwd: f.text("cwd", "/")}
	switch v := f.m.Value("program").(type) {
	case string:
		argv, err := shlex.Split(v)
		if err != nil {
			f.fault("program", v, "command line")
		}
		d.argv = argv
		f.m.Delete("program")
	default:
		d.argv = f.texts("program")
	}
	if len(d.argv) == 0 || d.argv[0] == "" {
		f.wrong = append(f.wrong, errors.New("option program names none"))
	}
	switch v := f.take("env").(type) {
	case nil:
	case *payload.Map:
		d.env = v
	default:
		f.fault("env", v, "map")
	}
	d.rest = f.rest()
	return d
}

// inherited are the variables that a program takes over from the daemon.
var inherited = []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "HOME", "USER", "LOGNAME"}

// start starts the program.
func (d *Door) start(ctx context.Context) (*program.Live, error) {
	who := &program.Account{}
	if d.user != "" {
		var err error
		if who, err = program.LookupAccount(d.user, ""); err != nil {
			return nil, fmt.Errorf("user %s of engine %s: %w", d.user, d.name, err)
		}
	}
	vars := program.Inherited(inherited)
	if d.user != "" {
		vars.Set("LOGNAME", d.user)
	}
	for k, v := range d.env.All() {
		vars.Set(text(k), text(v))
	}
	env := program.Environment{Clean: true, Given: vars, Account: who}
	live, err := program.Open(ctx, program.Spec{Argv: d.argv, Env: env.List(), Dir: d.cwd, As: who.Credential})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", d.argv[0], err)
	}
	return live, nil
}

// lastWords is how long what a program has written is still read when it has ended: something it has started may hold
// its output open.
const lastWords = time.Second

// Run runs the program to its end.
func (d *Door) Run(ctx context.Context, s Surroundings) error {
	live, err := d.start(ctx)
	if err != nil {
		return err
	}
	defer live.Close(endPatience)
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	t := newTalk(d, live, s)
	if len(d.events) > 0 {
		stop, err := s.Daemon.Listen(ctx, t.queue.put)
		if err != nil {
			return err
		}
		defer stop()
	}
	var all sync.WaitGroup
	for _, f := range []func(context.Context){t.tell, t.listenToErrors, t.watch} {
		all.Go(func() { f(own) })
	}
	err = t.listen(own)
	if errors.Is(err, io.EOF) { // it may go on without output
		select {
		case <-live.Exited():
		case <-ctx.Done():
		}
	}
	code := live.Close(endPatience)
	cancel()
	live.Interrupt()
	all.Wait()
	t.calls.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errLongLine) || errors.Is(err, errManyCalls):
		return fmt.Errorf("%s was ended: %w", d.argv[0], err)
	}
	return fmt.Errorf("%s has ended with exit code %d: %w", d.argv[0], code, ErrEnded)
}
