package payload

// Say is the right to set a field of a publish request. A master, and a program that asks a master for a user, copies
// only fields that these tables allow. So a new field that code begins to read stays closed until it is in a table.
type Say uint8

const (
	SayNobody Say = iota // not allowed in a request; fields in no table have this value
	SayMaster            // users with all rights: the master's own user, a syndic beside it
	SayOpened            // also users with rules, if publisher_acl_fields names the field
	SayUser              // every user who may publish
)

// ofPublish says who may set which field of a publish request. The key is read earlier and not passed on.
var ofPublish = map[string]Say{
	fieldCmd: SayUser, FieldTgt: SayUser, FieldTgtType: SayUser, FieldFun: SayUser, FieldArg: SayUser,
	FieldJID: SayUser, FieldRet: SayUser, FieldUser: SayUser, fieldTo: SayUser, fieldKwargs: SayUser,
}

// ofExtras says who may set which field of kwargs in a publish request. Rules only cover which function runs with which
// arguments. They cannot judge fields that tell a minion or the job store more: a profile or an option of a returner
// can name a template and its renderer, and an executor the place where a function runs.
var ofExtras = map[string]Say{
	fieldDelimiter: SayUser, FieldMetadata: SayUser, fieldStartEvent: SayUser,
	fieldToken: SayUser, fieldEauth: SayUser, fieldUsername: SayUser, fieldPassword: SayUser,
	FieldRetConfig: SayOpened, FieldRetKwargs: SayOpened, fieldExecutors: SayOpened, fieldExecutorOpts: SayOpened,
	FieldMasterID: SayOpened, FieldID: SayOpened, fieldNoCache: SayOpened,
	fieldAuthList: SayMaster,
}

// SayOfPublish is the right that a field of a publish request needs.
func SayOfPublish(field string) Say { return ofPublish[field] }

// SayOfExtras is the right that a field of kwargs in a publish request needs.
func SayOfExtras(field string) Say { return ofExtras[field] }

// pick copies the allowed fields of a map into a new one, in their order. It drops a key that is not a text.
func pick(from *Map, may func(name string) bool) *Map {
	out := NewMap(from.Len())
	for k, v := range from.All() {
		if name, ok := k.(string); ok && may(name) {
			out.Set(name, v)
		}
	}
	return out
}

// ExtrasFor are the kwargs of a publish request that a tool sends for a user, copied from the user's own fields,
// including the credentials. It drops all fields that only the master may set.
func ExtrasFor(said *Map) *Map {
	return pick(said, func(name string) bool { return ofExtras[name] >= SayOpened })
}

// Whose are the kwargs with which a tool asks for a user about one of the user's jobs: the credentials, and the
// delimiter of the target.
func Whose(kwargs *Map) *Map {
	out := NewMap(len(shown) + 1)
	view{kwargs}.Pass(out, fieldDelimiter)
	view{kwargs}.Pass(out, shown...)
	return out
}

// ByUser is a copy of a request with only the fields that a user with rules may set. opened are the fields that
// publisher_acl_fields opens. closed is a field of kwargs that the user may not set, or "".
func (p PublishRequest) ByUser(opened []string) (said PublishRequest, closed string) {
	load := pick(p.load, func(name string) bool { return ofPublish[name] == SayUser })
	if !load.Has(fieldKwargs) {
		return PublishRequest{view{load}}, ""
	}
	open := make(map[string]bool, len(opened))
	for _, name := range opened {
		open[name] = true
	}
	load.Set(fieldKwargs, pick(p.Sent(), func(name string) bool {
		say := ofExtras[name]
		if say == SayUser || say == SayOpened && open[name] {
			return true
		}
		if say != SayNobody && closed == "" {
			closed = name
		}
		return false
	}))
	return PublishRequest{view{load}}, closed
}
