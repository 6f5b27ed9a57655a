package payload

// PublishRequest is what a tool asks a master to have minions do: the load of a publish request. The job store keeps it
// with the job, without its secrets. Source: salt/client/__init__.py, LocalClient._prep_pub; salt/master.py,
// ClearFuncs.publish.
//
//	cmd       text  publish
//	tgt       text, or a list of ids with tgt_type list
//	tgt_type  text  how tgt is meant; glob when there is none
//	fun       text, or a list of texts: several functions in one job
//	arg       list of arguments; with several functions a list of such lists
//	jid       text  job id that the tool wants; "" or none: the master chooses
//	ret       text  names of returners, with commas
//	user      text  who asks, as he says
//	key       text  of a local user
//	kwargs    map   see PublishExtras
//	to        integer, seconds that the tool waits, for a master of masters
type PublishRequest struct{ view }

// NewPublishRequest is the view of a load.
func NewPublishRequest(load *Map) PublishRequest { return PublishRequest{view{load}} }

// Lacks names the first of some fields that is not there, "" when all are. Their types do not count.
func (p PublishRequest) Lacks(fields ...string) string { return p.lacks(fields...) }

// JID is the job id that the tool wants, or that the master has given; "" when there is none.
func (p PublishRequest) JID() string { return p.load.Str(FieldJID) }

// Fun is what is to be called, as it came: a text, or a list of texts.
func (p PublishRequest) Fun() any { return p.load.Value(FieldFun) }

// Function is the one function to be called; "" when there are several, or it is no text.
func (p PublishRequest) Function() string { return p.load.Str(FieldFun) }

// Arg are the arguments as they came.
func (p PublishRequest) Arg() any { return p.load.Value(FieldArg) }

// Args are the arguments; nil when they are no list.
func (p PublishRequest) Args() []any { return p.load.List(FieldArg) }

// Tgt is whom the job is for, as it came.
func (p PublishRequest) Tgt() any { return p.load.Value(FieldTgt) }

// TgtType is how Tgt is meant; "" is glob.
func (p PublishRequest) TgtType() string { return p.load.Str(FieldTgtType) }

// User is who asks.
func (p PublishRequest) User() string { return p.load.Str(FieldUser) }

// Waits tells whether the seconds that the tool waits are a number of them, of a day at most, or absent. A syndic
// counts with them.
func (p PublishRequest) Waits() bool {
	n, whole := p.load.Int(fieldTo)
	return !p.Has(fieldTo) || whole && n >= 0 && n <= 24*60*60
}

// Functions are the functions, each with its arguments: one with arg, or the members of two lists.
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

// DropKey takes the key out of the load.
func (p PublishRequest) DropKey() { p.load.Delete(fieldKey) }

// Number gives the job its id.
func (p PublishRequest) Number(jid string) { p.load.Set(FieldJID, jid) }

// ActFor names the user of the job.
func (p PublishRequest) ActFor(user string) { p.load.Set(FieldUser, user) }

// AimAt is AimAt of a Job, before it is one.
func (p PublishRequest) AimAt(ids []string) { p.aim(AnyList(ids), "list") }

// Sent is the map of kwargs as it came; nil, which reads as empty, when it is none.
func (p PublishRequest) Sent() *Map { return p.load.Map(fieldKwargs) }

// Extras are a copy of kwargs.
func (p PublishRequest) Extras() PublishExtras { return PublishExtras{view{p.Sent().Clone()}} }

// secrets never leave a load: neither to the bus, nor to the job store, nor to the log.
var secrets = []string{fieldKey, fieldToken, fieldPassword}

// WithoutSecrets is a copy of the load without keys, tokens and passwords, those in kwargs included.
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

// PublishExtras are what a tool says of a job beside what is to be called by whom: kwargs of a publish request. Who may
// say what stands in SayOfExtras. A field has a method here, or nobody outside reads it.
//
//	delimiter         text  between the parts of a grain or pillar target; ":" when there is none
//	auth_list         list  rules by which the master above has judged the user; of a syndic
//	nocache           bool  the job is not stored
//	start_event       bool  minions tell when they begin
//	ret_config, ret_kwargs, metadata, module_executors, executor_opts, master_id, id: to the minions
//	token, or eauth with its fields: see Credentials
type PublishExtras struct{ said view }

// Delimiter separates the parts of a target; "" is ":".
func (x PublishExtras) Delimiter() string { return x.said.load.Str(fieldDelimiter) }

// NoCache tells whether the job is not to be stored. Only true does.
func (x PublishExtras) NoCache() bool { return x.said.load.Bool(fieldNoCache) }

// StartEvent tells whether minions are to tell when they begin. Only true does.
func (x PublishExtras) StartEvent() bool { return x.said.load.Bool(fieldStartEvent) }

// TakeAuthList takes the rules of another master out. given tells whether there were any, ok whether they are a list or
// there were none; nothing is none.
func (x PublishExtras) TakeAuthList() (list []any, given, ok bool) {
	v := x.said.Field(fieldAuthList)
	x.said.load.Delete(fieldAuthList)
	list, ok = v.([]any)
	return list, v != nil, ok || v == nil
}

// passed are the keywords that go into the publication as they came.
var passed = []string{FieldRetConfig, FieldMetadata, fieldExecutors, fieldExecutorOpts, FieldRetKwargs}

// NewPublication is what the minions get of a request that has its id, in Salt's order. masterID is that of the
// configuration, which the request may replace; nil: there is none. Source: salt/master.py, ClearFuncs._prep_pub.
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
