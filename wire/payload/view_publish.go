package payload

// PublishRequest is a tool's request to a master to run functions on minions: the load of a publish request. The job
// store keeps it with the job, without its secrets. Source: salt/client/__init__.py, LocalClient._prep_pub;
// salt/master.py, ClearFuncs.publish.
//
//	cmd       text  publish
//	tgt       text, or a list of ids with tgt_type list
//	tgt_type  text  kind of target; default: glob
//	fun       text, or a list of texts: several functions in one job
//	arg       list of arguments; with several functions a list of such lists
//	jid       text  job id that the tool wants; "" or missing: the master chooses one
//	ret       text  names of returners, with commas
//	user      text  the user, as the tool claims
//	key       text  of a local user
//	kwargs    map   see PublishExtras
//	to        integer, seconds that the tool waits, for a master of masters
type PublishRequest struct{ view }

// NewPublishRequest is the view of a load.
func NewPublishRequest(load *Map) PublishRequest { return PublishRequest{view{load}} }

// Lacks returns the first of the given fields that is missing, or "". Types do not matter.
func (p PublishRequest) Lacks(fields ...string) string { return p.lacks(fields...) }

// JID is the job id that the tool wants, or that the master has chosen; "" if there is none.
func (p PublishRequest) JID() string { return p.load.Str(FieldJID) }

// Fun is the function to call, unchanged: a text, or a list of texts.
func (p PublishRequest) Fun() any { return p.load.Value(FieldFun) }

// Function is the single function to call; "" if there are several or it is not a text.
func (p PublishRequest) Function() string { return p.load.Str(FieldFun) }

// Arg are the arguments, unchanged.
func (p PublishRequest) Arg() any { return p.load.Value(FieldArg) }

// Args are the arguments; nil if they are not a list.
func (p PublishRequest) Args() []any { return p.load.List(FieldArg) }

// Tgt is the target, unchanged.
func (p PublishRequest) Tgt() any { return p.load.Value(FieldTgt) }

// TgtType is the kind of target; "" is glob.
func (p PublishRequest) TgtType() string { return p.load.Str(FieldTgtType) }

// User is the user of the request.
func (p PublishRequest) User() string { return p.load.Str(FieldUser) }

// Waits tells whether the field "to" is valid: missing, or a number of seconds of at most a day. A syndic uses it in
// calculations.
func (p PublishRequest) Waits() bool {
	n, whole := p.load.Int(fieldTo)
	return !p.Has(fieldTo) || whole && n >= 0 && n <= 24*60*60
}

// Functions are the functions, each with its arguments: a single function with arg, or the members of two lists.
func (p PublishRequest) Functions() (funs []string, args [][]any) {
	list, several := p.Fun().([]any)
	if !several {
		return []string{p.Function()}, [][]any{p.Args()}
	}
	all := p.Args()
	for i, f := range list {
		name, _ := f.(string)
		funs = append(funs, name)
		var own []any
		if i < len(all) {
			own, _ = all[i].([]any)
		}
		args = append(args, own)
	}
	return funs, args
}

// DropKey removes the key from the load.
func (p PublishRequest) DropKey() { p.load.Delete(fieldKey) }

// Number sets the job id.
func (p PublishRequest) Number(jid string) { p.load.Set(FieldJID, jid) }

// ActFor sets the user of the job.
func (p PublishRequest) ActFor(user string) { p.load.Set(FieldUser, user) }

// AimAt is Job.AimAt for a request.
func (p PublishRequest) AimAt(ids []string) { p.aim(AnyList(ids), "list") }

// Sent is the map kwargs, unchanged; nil, which reads as empty, if it is not a map.
func (p PublishRequest) Sent() *Map { return p.load.Map(fieldKwargs) }

// Extras is a copy of kwargs.
func (p PublishRequest) Extras() PublishExtras { return PublishExtras{view{p.Sent().Clone()}} }

// secrets never leave a load: they are not sent to the bus, stored with the job or logged.
var secrets = []string{fieldKey, fieldToken, fieldPassword}

// WithoutSecrets is a copy of the load without keys, tokens and passwords, also without those in kwargs.
func (p PublishRequest) WithoutSecrets() *Map {
	out := p.load.Clone()
	for _, s := range secrets {
		out.Delete(s)
	}
	if kw := out.Map(fieldKwargs); kw != nil {
		out.Set(fieldKwargs, PublishRequest{view{kw}}.WithoutSecrets())
	}
	return out
}

// PublishExtras are the details of a job besides its functions and target: kwargs of a publish request. SayOfExtras
// says who may set which. Code outside this package can read only fields that have a method here.
//
//	delimiter         text  between the parts of a grain or pillar target; default: ":"
//	auth_list         list  rules by which the master above has judged the user; from a syndic
//	nocache           bool  do not store the job
//	start_event       bool  minions send an event when the job starts
//	ret_config, ret_kwargs, metadata, module_executors, executor_opts, master_id, id: for the minions
//	token, or eauth with its fields: see Credentials
type PublishExtras struct{ said view }

// Delimiter separates the parts of a target; "" is ":".
func (x PublishExtras) Delimiter() string { return x.said.load.Str(fieldDelimiter) }

// NoCache tells whether the job must not be stored. Only the value true counts.
func (x PublishExtras) NoCache() bool { return x.said.load.Bool(fieldNoCache) }

// StartEvent tells whether minions must send an event when the job starts. Only the value true counts.
func (x PublishExtras) StartEvent() bool { return x.said.load.Bool(fieldStartEvent) }

// TakeAuthList removes the rules of another master and returns them. given tells whether there were any. ok is false if
// they are not a list; a missing or nil value is ok.
func (x PublishExtras) TakeAuthList() (list []any, given, ok bool) {
	v := x.said.Field(fieldAuthList)
	x.said.load.Delete(fieldAuthList)
	list, ok = v.([]any)
	return list, v != nil, ok || v == nil
}

// passed are the fields that go into the publication unchanged.
var passed = []string{FieldRetConfig, FieldMetadata, fieldExecutors, fieldExecutorOpts, FieldRetKwargs}

// NewPublication makes the publication for minions from a request that has its job id, in Salt's order. masterID comes
// from the configuration, and the request may replace it; nil: there is none. Source: salt/master.py,
// ClearFuncs._prep_pub.
func NewPublication(p PublishRequest, extras PublishExtras, masterID any) Job {
	pub := M(FieldFun, p.Fun(), FieldArg, p.Arg(), FieldTgt, p.Tgt(), FieldJID, p.Field(FieldJID), FieldRet,
		p.Field(FieldRet))
	if extras.said.Has(FieldMasterID) {
		extras.said.Pass(pub, FieldMasterID)
	} else if masterID != nil {
		pub.Set(FieldMasterID, masterID)
	}
	if d := extras.Delimiter(); d != "" && d != DefaultDelimiter {
		pub.Set(fieldDelimiter, d)
	}
	extras.said.Pass(pub, FieldID)
	p.Pass(pub, FieldTgtType, fieldTo)
	extras.said.Pass(pub, passed...)
	if extras.StartEvent() {
		pub.Set(fieldStartEvent, true)
	}
	p.Pass(pub, FieldUser)
	return Job{view{pub}}
}
