package payload

// Say is who may set a field of a publish request. Whoever asks a master, and whoever asks it for somebody else, takes
// over by name what these tables allow, and nothing else: a field that code begins to read is closed until it stands
// here.
type Say uint8

const (
	SayNobody Say = iota // no request: so is what stands in no table
	SayMaster            // who may do everything: the master's own user, a syndic beside it
	SayOpened            // likewise, and a user with rules if publisher_acl_fields names the field
	SayUser              // whoever may publish
)

// ofPublish is who may set the fields of a publish request. The key is read before, and goes no further.
var ofPublish = map[string]Say{
	fieldCmd: SayUser, FieldTgt: SayUser, FieldTgtType: SayUser, FieldFun: SayUser, FieldArg: SayUser,
	FieldJID: SayUser, FieldRet: SayUser, FieldUser: SayUser, fieldTo: SayUser, fieldKwargs: SayUser,
}

// ofExtras is who may set the fields of kwargs of a publish request. Rules cannot speak of those that say more to a
// minion, or to the job store, than which function runs with which arguments: a profile or an option of a returner can
// name a template and its renderer, an executor the place where a function runs.
var ofExtras = map[string]Say{
	fieldDelimiter: SayUser, FieldMetadata: SayUser, fieldStartEvent: SayUser,
	fieldToken: SayUser, fieldEauth: SayUser, fieldUsername: SayUser, fieldPassword: SayUser,
	FieldRetConfig: SayOpened, FieldRetKwargs: SayOpened, fieldExecutors: SayOpened, fieldExecutorOpts: SayOpened,
	FieldMasterID: SayOpened, FieldID: SayOpened, fieldNoCache: SayOpened,
	fieldAuthList: SayMaster,
}

// SayOfPublish is who may set a field of a publish request.
func SayOfPublish(field string) Say { return ofPublish[field] }

// SayOfExtras is who may set a field of kwargs of a publish request.
func SayOfExtras(field string) Say { return ofExtras[field] }

// pick is a new map with those fields of another that may be there, in their order. A name that is no text is none.
func pick(from *Map, may func(name string) bool) *Map {
	out := NewMap(from.Len())
	for k, v := range from.All() {
		if name, ok := k.(string); ok && may(name) {
			out.Set(name, v)
		}
	}
	return out
}

// ExtrasFor are the kwargs of a publish request that a tool sends for a user, out of what he said: his credentials
// among them. What he may not say beside them the master knows.
func ExtrasFor(said *Map) *Map {
	return pick(said, func(name string) bool { return ofExtras[name] >= SayOpened })
}

// Whose are the kwargs by which a tool asks for somebody about a job of his: who he is, and how the target is read.
func Whose(kwargs *Map) *Map {
	out := NewMap(len(shown) + 1)
	view{kwargs}.Pass(out, fieldDelimiter)
	view{kwargs}.Pass(out, shown...)
	return out
}

// ByUser is a request of a user with rules: what he may say, in a map of its own. opened are the fields that
// publisher_acl_fields opens. closed is a field of kwargs that is not for him, "" when there is none.
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
