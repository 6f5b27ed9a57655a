package payload

// Return is what came of a job on one minion: the load of a _return request, of the event that a master makes of it,
// and what the job store keeps. Before a minion sends it, cmd and id are not there yet. Source: salt/minion.py,
// Minion._prepare_return_pub; salt/master.py, AESFuncs._return.
//
//	cmd          text     _return
//	id           text     of the minion
//	jid          text     job id; "req": the master is to give it one
//	fun          text, or a list of texts
//	fun_args     list     arg of the job
//	return       any      what the function returned; with several functions a map, or a list
//	retcode      integer; with several functions a map, or a list
//	success      bool; with several functions a map, or a list
//	out          text     outputter
//	user         text     of the job
//	metadata     map      of the job
//	schedule     text     name in the schedule
//	resource_id  text     of a resource that the minion manages (3008): takes the place of id
//	returners_not_called  list of texts: returners that the job was to have and that the minion does not have, or may not call
//	             (brine's minions alone say so; Salt keeps the field and does not look at it)
//	master_id, ret_config, ret_kwargs, tgt, tgt_type, arg, pid, nocache, sig, _stamp: passed on
type Return struct{ view }

// NewReturn is the view of a load.
func NewReturn(load *Map) *Return { return &Return{view{load}} }

// Clone is a view of another load with the same fields.
func (r *Return) Clone() *Return { return NewReturn(r.load.Clone()) }

// ID is the minion.
func (r *Return) ID() string { return r.load.Str(FieldID) }

// JID is the job id.
func (r *Return) JID() string { return r.load.Str(FieldJID) }

// Fun is what was called, as it came: a text, or a list of texts.
func (r *Return) Fun() any { return r.load.Value(FieldFun) }

// Function is the one function that was called; "" when there are several, or it is no text.
func (r *Return) Function() string { return r.load.Str(FieldFun) }

// FunArgs are the arguments; nil when they are no list.
func (r *Return) FunArgs() []any { return r.load.List(FieldFunArgs) }

// Value is what the function returned.
func (r *Return) Value() any { return r.load.Value(fieldReturn) }

// Text is what the function returned if that is a text, else "".
func (r *Return) Text() string { return r.load.Str(fieldReturn) }

// HasValue tells whether there is a field return at all; without one the load is no return. None is a value.
func (r *Return) HasValue() bool { return r.load.Has(fieldReturn) }

// Retcode is the exit code as it came: an integer, or with several functions a map or a list.
func (r *Return) Retcode() any { return r.load.Value(FieldRetcode) }

// Code is the exit code of one function; 0 when it is no integer.
func (r *Return) Code() int64 {
	n, _ := r.load.Int(FieldRetcode)
	return n
}

// Success tells whether the function did what it was to do, and whether the load says anything about that. What is not
// true is not.
func (r *Return) Success() (good, said bool) {
	return r.load.Bool(fieldSuccess), r.load.Has(fieldSuccess)
}

// Fail puts the reason why there is no other return in its place.
func (r *Return) Fail(why string) *Return {
	r.load.Set(fieldReturn, why).Set(FieldRetcode, int64(1)).Set(fieldSuccess, false)
	return r
}

// DropArgs leaves the arguments out.
func (r *Return) DropArgs() *Return {
	r.load.Set(FieldFunArgs, []any{})
	return r
}

// Out is the outputter that the minion names; "" when it names none.
func (r *Return) Out() string { return r.load.Str(FieldOut) }

// NotCalled says which returners the minion cannot call.
func (r *Return) NotCalled(names []string) *Return {
	r.load.Set(fieldUncalled, AnyList(names))
	return r
}

// Uncalled are the returners that the minion says it cannot call.
func (r *Return) Uncalled() (names []string) {
	for _, v := range r.load.List(fieldUncalled) {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// Rest is a copy of the load without what the function returned.
func (r *Return) Rest() *Map {
	rest := r.load.Clone()
	rest.Delete(fieldReturn)
	return rest
}

// NoCache tells whether the return is not to be stored. Only true does.
func (r *Return) NoCache() bool { return r.load.Bool(fieldNoCache) }

// Resource is the resource that the return is of, "" when that is no text, and whether it is of one.
func (r *Return) Resource() (id string, has bool) {
	return r.load.Str(fieldResource), r.load.Has(fieldResource)
}

// TakeResource puts the resource in the place of the minion.
func (r *Return) TakeResource() { r.load.Set(FieldID, r.load.Str(fieldResource)).Delete(fieldResource) }

// Number gives the return of a job that the minion has begun itself its job id, and makes it the load of that job, too:
// fields of a load that it lacks say what it was, and for whom.
func (r *Return) Number(jid string) {
	arg := r.Field(FieldArg)
	if arg == nil {
		arg = r.Field(FieldFunArgs)
	}
	r.load.Set(FieldArg, arg).Set(FieldTgtType, "glob").Set(FieldTgt, r.ID()).Set(FieldJID, jid)
}
