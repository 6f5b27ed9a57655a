package payload

// Return is the result of a job on one minion: the load of a _return request, of the event that a master makes from it,
// and of the entry in the job store. cmd and id are missing until the minion sends it. Source: salt/minion.py,
// Minion._prepare_return_pub; salt/master.py, AESFuncs._return.
//
//	cmd          text     _return
//	id           text     of the minion
//	jid          text     job id; "req": the master must choose one
//	fun          text, or a list of texts
//	fun_args     list     arg of the job
//	return       any      result of the function; with several functions a map, or a list
//	retcode      integer; with several functions a map, or a list
//	success      bool; with several functions a map, or a list
//	out          text     outputter
//	user         text     of the job
//	metadata     map      of the job
//	schedule     text     name in the schedule
//	resource_id  text     of a resource that the minion manages (3008): replaces id
//	returners_not_called  list of texts: returners of the job that the minion does not have or may not call
//	             (only brine's minions send it; Salt keeps the field and ignores it)
//	master_id, ret_config, ret_kwargs, tgt, tgt_type, arg, pid, nocache, sig, _stamp: passed on
type Return struct{ view }

// NewReturn is the view of a load.
func NewReturn(load *Map) *Return { return &Return{view{load}} }

// Clone is a view of a copy of the load.
func (r *Return) Clone() *Return { return NewReturn(r.load.Clone()) }

// ID is the id of the minion.
func (r *Return) ID() string { return r.load.Str(FieldID) }

// JID is the job id.
func (r *Return) JID() string { return r.load.Str(FieldJID) }

// Fun is the called function, unchanged: a text, or a list of texts.
func (r *Return) Fun() any { return r.load.Value(FieldFun) }

// Function is the single function that was called; "" if there are several or it is not a text.
func (r *Return) Function() string { return r.load.Str(FieldFun) }

// FunArgs are the arguments; nil if they are not a list.
func (r *Return) FunArgs() []any { return r.load.List(FieldFunArgs) }

// Value is the result of the function.
func (r *Return) Value() any { return r.load.Value(fieldReturn) }

// Text is the result of the function if it is a text, else "".
func (r *Return) Text() string { return r.load.Str(fieldReturn) }

// HasValue tells whether the field return exists; a load without it is not a return. None is a value.
func (r *Return) HasValue() bool { return r.load.Has(fieldReturn) }

// Retcode is the exit code, unchanged: an integer, or with several functions a map or a list.
func (r *Return) Retcode() any { return r.load.Value(FieldRetcode) }

// Code is the exit code of a single function; 0 if it is not an integer.
func (r *Return) Code() int64 {
	n, _ := r.load.Int(FieldRetcode)
	return n
}

// Success tells whether the function succeeded, and whether the field exists. Any value other than true is a failure.
func (r *Return) Success() (good, said bool) {
	return r.load.Bool(fieldSuccess), r.load.Has(fieldSuccess)
}

// Fail replaces the result by the reason of a failure.
func (r *Return) Fail(why string) *Return {
	r.load.Set(fieldReturn, why).Set(FieldRetcode, int64(1)).Set(fieldSuccess, false)
	return r
}

// DropArgs removes the arguments.
func (r *Return) DropArgs() *Return {
	r.load.Set(FieldFunArgs, []any{})
	return r
}

// Out is the minion's outputter; "" if it names none.
func (r *Return) Out() string { return r.load.Str(FieldOut) }

// NotCalled sets the returners that the minion cannot call.
func (r *Return) NotCalled(names []string) *Return {
	r.load.Set(fieldUncalled, AnyList(names))
	return r
}

// Uncalled are the returners that the minion could not call.
func (r *Return) Uncalled() (names []string) {
	for _, v := range r.load.List(fieldUncalled) {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// Rest is a copy of the load without the result of the function.
func (r *Return) Rest() *Map {
	rest := r.load.Clone()
	rest.Delete(fieldReturn)
	return rest
}

// NoCache tells whether the return must not be stored. Only the value true counts.
func (r *Return) NoCache() bool { return r.load.Bool(fieldNoCache) }

// Resource is the resource of the return, or "" if it is not a text; has tells whether the field exists.
func (r *Return) Resource() (id string, has bool) {
	return r.load.Str(fieldResource), r.load.Has(fieldResource)
}

// TakeResource replaces the minion's id by the resource's id.
func (r *Return) TakeResource() { r.load.Set(FieldID, r.load.Str(fieldResource)).Delete(fieldResource) }

// Number sets the job id of a return whose job the minion started itself. It also adds the fields of a publish load, so
// that the return can serve as the load of its job.
func (r *Return) Number(jid string) {
	arg := r.Field(FieldArg)
	if arg == nil {
		arg = r.Field(FieldFunArgs)
	}
	r.load.Set(FieldArg, arg).Set(FieldTgtType, "glob").Set(FieldTgt, r.ID()).Set(FieldJID, jid)
}
