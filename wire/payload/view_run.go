package payload

import (
	"slices"
	"strings"
)

// RunRequest asks a master to run a runner or a wheel function: the load of a runner or wheel request. Fields of a
// wheel request that have no meaning of their own are arguments of the function. Source: salt/master.py,
// ClearFuncs.runner and wheel.
//
//	cmd    text  runner, or wheel
//	fun    text  the function
//	arg    list  its arguments
//	kwarg  map   its keywords; from salt-run {arg: list, kwarg: map}
//	token, or eauth with its fields, or key and user: see Credentials
type RunRequest struct{ view }

// NewRunRequest is the view of a load.
func NewRunRequest(load *Map) RunRequest { return RunRequest{view{load}} }

// Function is the function to run, or "" if it is not a text; ok tells whether it is one.
func (r RunRequest) Function() (name string, ok bool) {
	name, ok = r.Field(FieldFun).(string)
	return name, ok
}

// Arguments are the arguments of a runner function. If a keyword appears both inside the nested kwarg and beside it,
// the one beside it wins. The caller owns the list.
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

// Apart tells whether a load has its arguments in the fields arg and kwarg.
func (r RunRequest) Apart() bool { return r.load.Has(FieldArg) && r.load.Has(fieldKwarg) }

// ofWheel are the fields of a wheel request that are not arguments.
var ofWheel = []string{fieldCmd, FieldFun, fieldKey, FieldArg, fieldKwarg, FieldUser, "print_event", fieldToken,
	fieldUsername, fieldPassword, fieldEauth, "client", "full_return"}

// ofFunction tells whether a field of a wheel request is an argument of the function. Names that begin with __ are
// private to masters and their tools.
func ofFunction(name string) bool {
	return !strings.HasPrefix(name, "__") && !slices.Contains(ofWheel, name)
}

// WheelArguments are the arguments of a wheel function.
func (r RunRequest) WheelArguments() (args []any, kw *Map) {
	args, kw = r.Arguments()
	all := pick(r.load, ofFunction)
	all.Update(kw)
	return args, all
}

// WheelFor is the load of a wheel request that a tool sends for a user, copied from the user's fields: the function,
// its arguments in all their possible places, and the user's credentials.
func WheelFor(fun string, said *Map) *Map {
	load := M(fieldCmd, CmdWheel, FieldFun, fun)
	view{said}.Pass(load, FieldArg, fieldKwarg)
	load.Update(pick(said, ofFunction))
	load.Update(NewCredentials(said).Shown())
	return load
}
