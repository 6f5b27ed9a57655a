package payload

// view reads the fields of a load by name. It is made once, where the load arrives, and does not copy it: fields that
// are not named here stay in the load and are passed on with it. A field of a wrong type reads as missing, unless its
// method says otherwise, but is also passed on unchanged. Salt checks a field only when it uses it; so every other
// program that gets the load treats such a field in its own way.
type view struct{ load *Map }

// Map is the load with all its fields, in the order of arrival.
func (v view) Map() *Map { return v.load }

// Has tells whether a field exists, whatever its type.
func (v view) Has(name string) bool {
	_, has := v.load.field(name)
	return has
}

// lacks returns the first of the given fields that is missing, or "". Types do not matter.
func (v view) lacks(names ...string) string {
	for _, name := range names {
		if !v.Has(name) {
			return name
		}
	}
	return ""
}

// aim replaces the target by one without a delimiter.
func (v view) aim(tgt any, tgtType string) {
	v.load.Set(FieldTgt, tgt).Set(FieldTgtType, tgtType)
	v.load.Delete(fieldDelimiter)
}

// Field returns a field unchanged, whatever its type; nil if it is missing.
func (v view) Field(name string) any {
	f, _ := v.load.field(name)
	return f
}

// Pass copies the given fields to another load unchanged, if they exist.
func (v view) Pass(to *Map, names ...string) {
	for _, name := range names {
		if f, ok := v.load.field(name); ok {
			to.Set(name, f)
		}
	}
}

// DefaultDelimiter separates the parts of a grain or pillar target if the load names no other delimiter.
const DefaultDelimiter = ":"

// Names of fields, for callers that pass them on unchanged.
const (
	FieldArg       = "arg"
	FieldFun       = "fun"
	FieldFunArgs   = "fun_args"
	FieldID        = "id"
	FieldJID       = "jid"
	FieldMasterID  = "master_id"
	FieldMetadata  = "metadata"
	FieldOut       = "out"
	FieldRetConfig = "ret_config"
	FieldRetcode   = "retcode"
	FieldRet       = "ret"
	FieldRetKwargs = "ret_kwargs"
	FieldTgt       = "tgt"
	FieldTgtType   = "tgt_type"
	FieldUser      = "user"
)

const (
	fieldAuthList     = "auth_list"
	fieldCmd          = "cmd"
	fieldData         = "data"
	fieldDelimiter    = "delimiter"
	fieldEauth        = "eauth"
	fieldExecutors    = "module_executors"
	fieldExecutorOpts = "executor_opts"
	fieldKey          = "key"
	fieldKwarg        = "kwarg"
	fieldKwargs       = "kwargs"
	fieldNoCache      = "nocache"
	fieldPassword     = "password"
	fieldPretag       = "pretag"
	fieldStartEvent   = "start_event"
	fieldTag          = "tag"
	fieldTo           = "to"
	fieldToken        = "token"
	fieldUsername     = "username"
	fieldLoad         = "load"
	fieldResource     = "resource_id"
	fieldUncalled     = "returners_not_called" // brine's own: Salt stores it and ignores it
	fieldReturn       = "return"
	fieldSuccess      = "success"
)

// Command is the command of a request, one of the Cmd constants; "" if it is not a text.
func Command(load *Map) string { return load.Str(fieldCmd) }
