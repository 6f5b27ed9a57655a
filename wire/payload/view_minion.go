package payload

// EventRequest brings events of a minion: the load of _minion_event. It is either a single event or contains a list of
// events. Source: salt/minion.py, Minion._fire_master; salt/daemons/masterapi.py, RemoteFuncs._minion_event.
//
//	tag     text  of a single event
//	data    any   of a single event
//	events  list  of maps with tag and data
//	pretag  text  prefix of the tags in the list
type EventRequest struct{ view }

// NewEventRequest is the view of a load, or of a member of its list.
func NewEventRequest(load *Map) EventRequest { return EventRequest{view{load}} }

// Events is the list, and whether there is one.
func (e EventRequest) Events() (list []any, several bool) {
	list, several = e.Field("events").([]any)
	return list, several
}

// Pretag is the prefix of the tags in the list.
func (e EventRequest) Pretag() string { return e.load.Str(fieldPretag) }

// Tag is the tag of a single event; "" if it is not a text.
func (e EventRequest) Tag() string { return e.load.Str(fieldTag) }

// HasData tells whether a single event has data.
func (e EventRequest) HasData() bool { return e.Has(fieldData) }

// Data is the data of a member of a list: its map data, or else the whole member.
func (e EventRequest) Data() *Map {
	if data := e.load.Map(fieldData); data != nil {
		return data
	}
	return e.load
}

// Error is the text of a minion's _salt_error, and the id in it.
func (e EventRequest) Error() (id, text string) {
	return e.load.Str(FieldID), e.load.Map(fieldData).Str("message")
}

// MineRequest is a request about mines: the load of _mine, _mine_get and _mine_delete.
//
//	data       map   functions and their results, for _mine
//	clear      bool  _mine replaces the old data
//	fun        text, or a list of texts
//	tgt        minions whose mines are requested
//	tgt_type   text  kind of target; expr_form in older releases
type MineRequest struct{ view }

// NewMineRequest is the view of a load.
func NewMineRequest(load *Map) MineRequest { return MineRequest{view{load}} }

// Data is the data for the mine, and whether it is a map.
func (m MineRequest) Data() (data *Map, ok bool) {
	data, ok = m.Field(fieldData).(*Map)
	return data, ok
}

// Clear tells whether the new data replaces the old data.
func (m MineRequest) Clear() bool { return m.load.Bool("clear") }

// Fun is the function or the functions, unchanged, and whether the field exists.
func (m MineRequest) Fun() (fun any, has bool) { return m.load.field(FieldFun) }

// Tgt is the target, unchanged, and whether the field exists.
func (m MineRequest) Tgt() (tgt any, has bool) { return m.load.field(FieldTgt) }

// TgtType is the kind of target; "" is glob.
func (m MineRequest) TgtType() string {
	if kind := m.load.Str(FieldTgtType); kind != "" {
		return kind
	}
	return m.load.Str("expr_form")
}

// PillarRequest asks for the pillar of a minion: the load of _pillar.
//
//	grains             map   of the minion
//	saltenv            text  environment of the states, or nil; env with old minions
//	pillarenv          text  environment of the pillar, or nil
//	pillar_override    map   overrides values of the pillar
//	extra_minion_data  map   for external pillars
//	ext                map   an additional external pillar
//	clean_cache        bool  do not answer with a cached pillar (pillar_cache)
type PillarRequest struct{ view }

// NewPillarRequest is the view of a load.
func NewPillarRequest(load *Map) PillarRequest { return PillarRequest{view{load}} }

// Grains are the grains of the minion; nil if they are not a map.
func (p PillarRequest) Grains() *Map { return p.load.Map("grains") }

// Envs are the environments of states and pillar: text, or nil.
func (p PillarRequest) Envs() (saltenv, pillarenv any) {
	saltenv, ok := p.load.Get("saltenv")
	if !ok {
		saltenv = p.load.Value("env")
	}
	return textOrNil(saltenv), textOrNil(p.load.Value("pillarenv"))
}

func textOrNil(v any) any {
	if s, ok := v.(string); ok {
		return s
	}
	return nil
}

// Override overrides values of the pillar; it may be nil or empty.
func (p PillarRequest) Override() *Map { return p.load.Map("pillar_override") }

// Extra is the data about the minion for external pillars.
func (p PillarRequest) Extra() *Map { return p.load.Map("extra_minion_data") }

// Ext is an additional external pillar; nil: none.
func (p PillarRequest) Ext() any { return p.load.Value("ext") }

// Clean tells whether the pillar must be compiled again.
func (p PillarRequest) Clean() bool { return p.load.Bool("clean_cache") }

// FilePiece is a piece of a file that a minion pushes: the load of _file_recv.
//
//	path  list     parts of the path below the minion's own folder
//	loc   integer  offset of the piece, in bytes
//	data  bytes    the piece
type FilePiece struct{ view }

// NewFilePiece is the view of a load.
func NewFilePiece(load *Map) FilePiece { return FilePiece{view{load}} }

// Parts are the parts of the path. whole tells whether path, offset and data all exist.
func (f FilePiece) Parts() (parts []any, whole bool) {
	parts, whole = f.Field("path").([]any)
	return parts, whole && f.Has(fieldData) && f.Loc() >= 0
}

// Loc is the offset of the piece, in bytes; -1 if it is not an integer.
func (f FilePiece) Loc() int64 {
	if loc, ok := f.load.Int("loc"); ok {
		return loc
	}
	return -1
}

// Data is the piece.
func (f FilePiece) Data() []byte { return f.load.Bytes(fieldData) }

// Fields of requests that have only one field.
const (
	fieldEnvOnly       = "env_only"
	fieldPreserveCache = "preserve_minion_cache"
	fieldResources     = "resources"
	fieldJobs          = "jobs"
)

// EnvOnly tells whether a load of _master_opts asks only for the options of environments.
func EnvOnly(load *Map) bool { return load.Bool(fieldEnvOnly) }

// PreservesCache tells whether a load of revoke_auth lets the master keep its cached data of the minion.
func PreservesCache(load *Map) bool { return load.Bool(fieldPreserveCache) }

// Resources are the resources in a load of _register_resources (3008), a map of lists of ids, and whether the field
// exists.
func Resources(load *Map) (ids []string, has bool) {
	for _, list := range load.Map(fieldResources).All() {
		ids = append(ids, Texts(list)...)
	}
	return ids, load.Has(fieldResources)
}

// FactsOfJobs are the facts in a load of _brine_facts, by job id; nil if they are not a map.
func FactsOfJobs(load *Map) *Map { return load.Map(fieldJobs) }
