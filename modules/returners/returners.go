// Package returners holds the places outside the fleet where returns and events are kept: files, the system's log,
// databases. A minion calls them for the jobs that name them (--return, the option return), a master for its events
// (event_return) and jobs.
//
// Each returner is a module of functions with Salt's names: NAME.returner takes a return, NAME.event_return a list of
// events. They keep no state, open what they need for one call, and honour the context of the call. An error that
// another try cannot mend is an *Unusable. The package answers to salt/returners/*.py.
package returners

import (
	"errors"
	"fmt"
	"io"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Options are what returners get of the process.
type Options struct {
	Stdout io.Writer // where local prints; nil: nowhere
	Syslog string    // socket of the system's log; "": /dev/log

	Home func(user string) string // finds home directories; nil: the system's
}

// Register adds all returners.
func Register(reg *loader.Registry, opt Options) error {
	if opt.Stdout == nil {
		opt.Stdout = io.Discard
	}
	if opt.Syslog == "" {
		opt.Syslog = "/dev/log"
	}
	if opt.Home == nil {
		opt.Home = program.Home
	}
	all := [][]loader.Func{
		elasticFunctions(),
		etcdFunctions(),
		localFunctions(opt.Stdout),
		multiFunctions(reg),
		rawfileFunctions(),
		redisFunctions(),
		slackFunctions(),
		smtpFunctions(opt.Home),
		sqlFunctions(),
		syslogFunctions(opt.Syslog),
	}
	for _, funcs := range all {
		if err := reg.Register(funcs...); err != nil {
			return fmt.Errorf("register returners: %w", err)
		}
	}
	return nil
}

// Unusable is an error that no later try mends: options of the job that make no sense, a value that cannot be written.
type Unusable struct{ Err error }

func (u *Unusable) Error() string { return u.Err.Error() }
func (u *Unusable) Unwrap() error { return u.Err }

// unusable makes such an error of a text.
func unusable(format string, values ...any) error {
	return &Unusable{fmt.Errorf(format, values...)}
}

// missetError is an error of the configuration: it goes when an operator has mended an option, so what waits for the
// returner is kept until then.
type missetError struct{ error }

func (m *missetError) Unwrap() error { return m.error }

// misset makes such an error of a text.
func misset(format string, values ...any) error {
	return &missetError{fmt.Errorf(format, values...)}
}

// forJob makes the error of an option one that no later try mends where the job has brought options of its own.
func forJob(value any, err error) error {
	var m *missetError
	ret, _ := value.(*payload.Map)
	if errors.As(err, &m) && (ret.Map(payload.FieldRetKwargs).Len() > 0 ||
		python.Truth(ret.Value(payload.FieldRetConfig))) {
		return &Unusable{err}
	}
	return err
}

// Hopeless says that another try cannot mend an error.
func Hopeless(err error) bool {
	var u *Unusable
	return errors.As(err, &u)
}

// Has says whether a registry holds a returner for returns.
func Has(reg *loader.Registry, name string) bool {
	_, ok := reg.Lookup(name + ".returner")
	return ok
}

// Return hands one return to one returner. ret is the whole return of a job: id, jid, fun, fun_args, return, retcode,
// success, ret_config and ret_kwargs where the job has them.
func Return(c *loader.Call, reg *loader.Registry, name string, ret *payload.Map) error {
	return run(c, reg, name, "returner", ret)
}

// Events hands events, maps of tag and data, to one returner.
func Events(c *loader.Call, reg *loader.Registry, name string, events []any) error {
	return run(c, reg, name, "event_return", events)
}

func run(c *loader.Call, reg *loader.Registry, name, what string, value any) error {
	f, ok := reg.Lookup(name + "." + what)
	if !ok {
		return unusable("'%s.%s' is not available", name, what)
	}
	bound, err := loader.Bind(f, []any{value}, nil)
	if err != nil {
		return &Unusable{err}
	}
	_, err = f.Run(c, bound)
	return forJob(value, err)
}

// taker is the body of NAME.returner.
func taker(name, doc string, take func(c *loader.Call, ret *payload.Map) error) loader.Func {
	return loader.Func{Name: name + ".returner", Params: []loader.Param{loader.Req("ret")}, Source: source(name),
		Doc: doc,
		Run: func(c *loader.Call, a loader.Args) (any, error) {
			ret, ok := a.Get("ret").(*payload.Map)
			if !ok {
				return nil, unusable("%s.returner wants a return, which is a map", name)
			}
			return nil, take(c, ret)
		}}
}

// listener is the body of NAME.event_return.
func listener(name, doc string, take func(c *loader.Call, events []any) error) loader.Func {
	return loader.Func{Name: name + ".event_return", Params: []loader.Param{loader.Req("events")}, Source: source(name),
		Doc: doc,
		Run: func(c *loader.Call, a loader.Args) (any, error) {
			events, ok := a.Get("events").([]any)
			if !ok {
				return nil, unusable("%s.event_return wants a list of events", name)
			}
			if len(events) == 0 {
				return nil, nil
			}
			return nil, take(c, events)
		}}
}

// source is the file of Salt that a returner answers to.
func source(name string) string {
	switch name {
	case "syslog", "redis", "elasticsearch", "smtp", "slack_webhook", "etcd":
		name += "_return"
	}
	return "salt/returners/" + name + ".py"
}
