package payload

// view reads a load by the names of its fields. It is made once, where the load comes in, and does not copy: what the
// load has beside the fields that are named here stays where it is, and goes on with the rest. A field of a wrong type
// reads as if it were not there, unless its method says otherwise, and goes on as it came, too: Salt looks at a field
// only when it needs it, and so every other program that gets the load does what it does with such a field.
type view struct{ load *Map }

// Map is the load with all its fields, in the order in which they came.
func (v view) Map() *Map { return v.load }

// Has tells whether there is a field, of whatever type.
func (v view) Has(name string) bool {
	_, has := v.load.field(name)
	return has
}

// lacks names the first of some fields that is not there, "" when all are. Their types do not count.
func (v view) lacks(names ...string) string {
	for _, name := range names {
		if !v.Has(name) {
			return name
		}
	}
	return ""
}

// aim puts another target in the place of the one that is there, for minions that know nothing of delimiters then.
func (v view) aim(tgt any, tgtType string) {
	v.load.Set(FieldTgt, tgt).Set(FieldTgtType, tgtType)
	v.load.Delete(fieldDelimiter)
}

// Field is a field as it came, of whatever type; nil when there is none.
func (v view) Field(name string) any {
	f, _ := v.load.field(name)
	return f
}

// Pass sets in another load those of some fields that are here, as they came.
func (v view) Pass(to *Map, names ...string) {
	for _, name := range names {
		if f, ok := v.load.field(name); ok {
			to.Set(name, f)
		}
	}
}

// DefaultDelimiter stands between the parts of a grain or pillar target where a load names no other.
const DefaultDelimiter = ":"

// Names of fields, for those that pass them on as they came.
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
	fieldUncalled     = "returners_not_called" // brine's: Salt keeps it and does not look at it
	fieldReturn       = "return"
	fieldSuccess      = "success"
)

// Command is what a request asks a master to do, one of the Cmd constants; "" when that is no text.
func Command(load *Map) string { return load.Str(fieldCmd) }
