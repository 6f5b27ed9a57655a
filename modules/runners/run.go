package runners

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/modules/loader"
	states "brine/modules/states/run"
	"brine/wire/event"
	"brine/wire/payload"
)

// Kind says which client runs a function.
type Kind string

// The two clients of functions on the master.
const (
	KindRunner Kind = "runner"
	KindWheel  Kind = "wheel"
)

// Tag is the base of the tags of one run: salt/run/<jid>, salt/wheel/<jid>.
func Tag(kind Kind, jid string) string {
	if kind == KindWheel {
		return event.TagWheel(jid)
	}
	return event.TagRun(jid)
}

// Request is one run.
type Request struct {
	Kind Kind
	Fun  string
	Args []any
	KW   *payload.Map // without a __kwarg__ mark
	JID  string
	User string // "" is UNKNOWN
	// the arguments are fields of a load: wrong ones are an exception (salt/utils/args.py, format_call)
	Low  bool
	Note func() error // leaves word that the function runs; an error of it is the run's. nil: nothing is left
}

// Result is how a run ended.
type Result struct {
	// Data is the event of the run: fun, jid, user, fun_args, return, success, and after a failure retcode 1.
	// It is also what the job cache stores as the run's return.
	Data    *payload.Map
	Return  any
	Success bool
	Retcode int // 1 after a failure, else what the function set
}

// Outputter splits a return that names its own outputter: {data, outputter} and perhaps a retcode.
func (r *Result) Outputter() (data any, outputter string, retcode int) {
	m, ok := r.Return.(*payload.Map)
	if !ok || !m.Has("data") || !m.Has("outputter") {
		return r.Return, "", r.exit(m)
	}
	return m.Value("data"), m.Str("outputter"), r.exit(m)
}

// exit is the exit code of a tool that shows the result.
func (r *Result) exit(m *payload.Map) int {
	if n, ok := m.Int("retcode"); ok {
		return int(n)
	}
	if code, ok := r.Data.Int("retcode"); ok {
		return int(code)
	}
	return 0
}

// Run executes a runner or wheel function. fire, when not nil, gets the two events of the run: <tag>/new before
// and <tag>/ret after. A function that fails gives a result whose return is the text Salt shows; Run itself does
// not fail. The caller stores Result.Data. Source: salt/client/mixins.py, SyncClientMixin.low.
func Run(ctx context.Context, env *loader.Env, req Request, fire func(tag string, data *payload.Map)) *Result {
	data := began(req)
	if fire == nil {
		fire = func(string, *payload.Map) {}
	}
	f, ok := env.Registry.Lookup(req.Fun)
	if !ok {
		return failed(req, data, loader.ExecErr("%s", env.Registry.MissingText(req.Fun)), fire)
	}
	if req.Low {
		if err := lowError(f, req); err != nil {
			return failed(req, data, err, fire)
		}
	}
	data.Set("fun_args", funArgs(f, req))
	if req.Note != nil {
		if err := req.Note(); err != nil {
			return failed(req, data, err, fire)
		}
	}
	fire(Tag(req.Kind, req.JID)+"/new", data.Clone())
	c := loader.NewCall(ctx, env, req.Fun, payload.M("jid", req.JID, "user", data.Str("user")))
	value, err := Call(c, f, req.Args, req.KW)
	var badArgs *loader.ArgumentError
	switch {
	case errors.As(err, &badArgs):
		value = fmt.Sprintf("\nPassed invalid arguments: %s\n\nUsage:\n%s", badArgs.Message, f.Doc)
	case err != nil:
		return failed(req, data, err, fire)
	}
	return finished(c, req, data, value, fire)
}

// began is what the events of a run begin with.
func began(req Request) *payload.Map {
	user := req.User
	if user == "" {
		user = "UNKNOWN"
	}
	return payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", user)
}

// lowError is what Salt finds wrong with the fields of a load; nil when they fit the function.
func lowError(f *loader.Func, req Request) error {
	extra := req.KW.Clone()
	needed, given := 0, 0
	for i, p := range f.Params {
		if p.Required {
			needed++
			if i < len(req.Args) || extra.Has(p.Name) {
				given++
			}
		}
		extra.Delete(p.Name)
	}
	var names []string
	for _, k := range extra.Keys() {
		names = append(names, fmt.Sprintf("'%v'", k))
	}
	_, name, _ := strings.Cut(f.Name, ".")
	owner := "for 'salt.loaded.int." + string(req.Kind) + "." + f.Name + "'"
	last := len(names) - 1
	switch {
	case given < needed && needed == 1:
		return &loader.InvocationError{Message: name + " takes at least 1 argument (0 given)"}
	case given < needed:
		return &loader.InvocationError{
			Message: fmt.Sprintf("%s takes at least %d arguments (%d given)", name, needed, given)}
	case f.KWArgs || last < 0:
		return nil
	case last == 0:
		return &loader.InvocationError{Message: names[0] + " is an invalid keyword argument " + owner}
	}
	return &loader.InvocationError{Message: strings.Join(names[:last], ", ") + " and " + names[last] +
		" are invalid keyword arguments " + owner}
}

// funArgs are the arguments as events tell them. f is the function, where that is known.
func funArgs(f *loader.Func, req Request) []any {
	args, kw := append([]any{}, req.Args...), req.KW
	if req.Low && f != nil {
		args, kw = byDeclaration(f, args, kw)
	}
	if kw.Len() > 0 {
		args = append(args, toldOf(req.Fun, kw))
	}
	return args
}

// byDeclaration sorts arguments that were fields of a load: what a function must have goes by position, all else by
// name, with what was not given as it is then (salt/utils/args.py, format_call).
func byDeclaration(f *loader.Func, args []any, kw *payload.Map) ([]any, *payload.Map) {
	given, left, named := args, kw.Clone(), payload.NewMap(len(f.Params))
	args = []any{}
	for _, p := range f.Params {
		v, by := left.Get(p.Name)
		left.Delete(p.Name)
		if len(given) > 0 {
			v, by, given = given[0], true, given[1:]
		}
		switch {
		case p.Required && by:
			args = append(args, v)
		case by:
			named.Set(p.Name, v)
		case !p.Required:
			named.Set(p.Name, p.Default)
		}
	}
	named.Update(left)
	return append(args, given...), named
}

func finished(c *loader.Call, req Request, data *payload.Map, value any,
	fire func(string, *payload.Map)) *Result {
	res := &Result{Data: data, Return: value, Retcode: c.Retcode()}
	res.Success = res.Retcode == 0
	if m, ok := value.(*payload.Map); ok && m.Has("data") {
		res.Success = states.Succeeded(m.Value("data"))
	}
	data.Set("return", value).Set("success", res.Success)
	fire(Tag(req.Kind, req.JID)+"/ret", data.Clone())
	return res
}

// Died is the event of the end of a run that was killed before it could tell it.
func Died(req Request) *payload.Map {
	text := fmt.Sprintf("Exception occurred in %s %s: the runner died", req.Kind, req.Fun)
	return began(req).Set("fun_args", funArgs(nil, req)).Set("return", text).Set("success", false).Set("retcode", 1)
}

func failed(req Request, data *payload.Map, err error, fire func(string, *payload.Map)) *Result {
	text := fmt.Sprintf("Exception occurred in %s %s: %s", req.Kind, req.Fun, loader.Traceback(req.Fun, err))
	data.Set("return", text).Set("success", false).Set("retcode", 1)
	fire(Tag(req.Kind, req.JID)+"/ret", data.Clone())
	return &Result{Data: data, Return: text, Retcode: 1}
}

// Call binds and runs, and turns a panic of the function into an error: a run must not take the master down.
func Call(c *loader.Call, f *loader.Func, args []any, kw *payload.Map) (v any, err error) {
	bound, err := loader.Bind(f, args, kw)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, loader.Raise("RuntimeError", "%v", p)
		}
	}()
	return f.Run(c, bound)
}
