// Package returners is what the places outside the fleet stand on where returns and events are kept: files, the
// system's log, databases. A returner is a folder below with a module of functions that have Salt's names:
// NAME.returner takes a return, NAME.event_return a list of events (package functions). A minion calls them for the
// jobs that name them (--return, the option return), a master for its events (event_return) and jobs: Return and Events
// do that by name.
//
// Returners keep no state, open what they need for one call, and honour the context of the call. An error that another
// try cannot mend is an *Unusable. Answers to salt/returners/*.py.
package returners

import (
	"errors"
	"fmt"
	"io"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Options are what returners get of the process.
type Options struct {
	Registry *loader.Registry // all returners: multi_returner calls others
	Stdout   io.Writer        // where local prints; nil: nowhere
	Syslog   string           // socket of the system's log; "": /dev/log

	Home func(user string) string // finds home directories; nil: the system's
}

// Unusable is an error that no later try mends: options of the job that make no sense, a value that cannot be written.
type Unusable struct{ Err error }

func (u *Unusable) Error() string { return u.Err.Error() }
func (u *Unusable) Unwrap() error { return u.Err }

// Refuse makes such an error of a text.
func Refuse(format string, values ...any) error {
	return &Unusable{fmt.Errorf(format, values...)}
}

// missetError is what Misset makes.
type missetError struct{ error }

func (m *missetError) Unwrap() error { return m.error }

// Misset makes an error of the configuration. It goes when an operator has mended an option, so what waits for the
// returner is kept until then.
func Misset(format string, values ...any) error {
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
		return Refuse("'%s.%s' is not available", name, what)
	}
	bound, err := loader.Bind(f, []any{value}, nil)
	if err != nil {
		return &Unusable{err}
	}
	_, err = f.Run(c, bound)
	return forJob(value, err)
}
