package payload

import (
	"slices"
	"strings"
)

// RunRequest asks a master to run a runner or a wheel function: the load of a runner or wheel request. Every field of a
// wheel request that is not its own is an argument of the function. Source: salt/master.py, ClearFuncs.runner and
// wheel.
//
//	cmd    text  runner, or wheel
//	fun    text  the function
//	arg    list  its arguments
//	kwarg  map   its keywords; from salt-run {arg: list, kwarg: map}
//	token, or eauth with its fields, or key and user: see Credentials
type RunRequest struct{ view }

// NewRunRequest is the view of a load.
func NewRunRequest(load *Map) RunRequest { return RunRequest{view{load}} }

// Function is what is to be run, "" when it is no text, and whether it is one.
func (r RunRequest) Function() (name string, ok bool) {
	name, ok = r.Field(FieldFun).(string)
	return name, ok
}

// Arguments are those of a runner function. Of two keywords with one name that beside arg and kwarg counts. The list is
// the caller's.
func (r RunRequest) Arguments() (args []any, kw *Map) {
	kw, args = r.load.Map(fieldKwarg), slices.Clone(r.load.List(FieldArg))
	if !kw.Has(FieldArg) && !kw.Has(fieldKwarg) {
		return args, kw
	}
	args = append(args, kw.List(FieldArg)...)
	inner := kw.Map(fieldKwarg).Clone()
	for k, v := range kw.All() {
		if k != FieldArg && k != fieldKwarg {
			inner.Set(k, v)
		}
	}
	return args, inner
}

// Apart says whether the arguments stand apart from the other fields of a load, in arg and kwarg.
func (r RunRequest) Apart() bool { return r.load.Has(FieldArg) && r.load.Has(fieldKwarg) }

// ofWheel are the fields of a wheel request that are not arguments.
var ofWheel = []string{fieldCmd, FieldFun, fieldKey, FieldArg, fieldKwarg, FieldUser, "print_event", fieldToken,
	fieldUsername, fieldPassword, fieldEauth, "client", "full_return"}

// ofFunction tells whether a field of a wheel request is an argument of the function. Names that begin with __ are
// between masters and their own tools.
func ofFunction(name string) bool {
	return !strings.HasPrefix(name, "__") && !slices.Contains(ofWheel, name)
}

// WheelArguments are those of a wheel function.
func (r RunRequest) WheelArguments() (args []any, kw *Map) {
	args, kw = r.Arguments()
	all := pick(r.load, ofFunction)
	all.Update(kw)
	return args, all
}

// WheelFor is the load of a wheel request that a tool sends for a user, out of what he said: the function, its
// arguments in the places where they may stand, and his credentials.
func WheelFor(fun string, said *Map) *Map {
	load := M(fieldCmd, CmdWheel, FieldFun, fun)
	view{said}.Pass(load, FieldArg, fieldKwarg)
	load.Update(pick(said, ofFunction))
	load.Update(NewCredentials(said).Shown())
	return load
}
