package payload

// view reads a load by the names of its fields. It is made once, where the load comes in, and does not copy: what the load
// has beside the fields that are named here stays where it is, and goes on with the rest. A field of a wrong type reads as
// if it were not there, unless its method says otherwise, and goes on as it came, too: Salt looks at a field only when it
// needs it, and so every other program that gets the load does what it does with such a field.
type view struct{ load *Map }

// Map is the load with all its fields, in the order in which they came.
func (v *view) Map() *Map { return v.load }

// Field is a field as it came, of whatever type; nil when there is none.
func (v *view) Field(name string) any { return v.load.Value(name) }

// Pass sets in another load those of some fields that are here, as they came.
func (v *view) Pass(to *Map, names ...string) {
	for _, name := range names {
		if f, ok := v.load.Get(name); ok {
			to.Set(name, f)
		}
	}
}

// Names of fields, for those that pass them on as they came.
const (
	FieldArg       = "arg"
	FieldFun       = "fun"
	FieldID        = "id"
	FieldJID       = "jid"
	FieldMasterID  = "master_id"
	FieldMetadata  = "metadata"
	FieldRetConfig = "ret_config"
	FieldRetKwargs = "ret_kwargs"
	FieldTgt       = "tgt"
	FieldTgtType   = "tgt_type"
	FieldUser      = "user"
)

const (
	fieldFunArgs  = "fun_args"
	fieldResource = "resource_id"
	fieldRetcode  = "retcode"
	fieldReturn   = "return"
	fieldSuccess  = "success"
)

// Command is what a request asks a master to do, one of the Cmd constants; "" when that is no text.
func Command(load *Map) string { return load.Str("cmd") }
