package payload

// EventRequest brings events of a minion: the load of _minion_event. Either it is one event itself, or it has a list of
// them. Source: salt/minion.py, Minion._fire_master; salt/daemons/masterapi.py, RemoteFuncs._minion_event.
//
//	tag     text  of one event
//	data    any   of that
//	events  list  of maps with tag and data
//	pretag  text  before the tags of a list
type EventRequest struct{ view }

// NewEventRequest is the view of a load, or of a member of its list.
func NewEventRequest(load *Map) EventRequest { return EventRequest{view{load}} }

// Events is the list, and whether there is one.
func (e EventRequest) Events() (list []any, several bool) {
	list, several = e.Field("events").([]any)
	return list, several
}

// Pretag comes before the tags of a list.
func (e EventRequest) Pretag() string { return e.load.Str(fieldPretag) }

// Tag is that of one event; "" when it is no text.
func (e EventRequest) Tag() string { return e.load.Str(fieldTag) }

// HasData tells whether the one event says anything.
func (e EventRequest) HasData() bool { return e.Has(fieldData) }

// Data is what a member of a list says: the map in it, or all of it.
func (e EventRequest) Data() *Map {
	if data := e.load.Map(fieldData); data != nil {
		return data
	}
	return e.load
}

// Error is the text of a minion's _salt_error, and the id that it names.
func (e EventRequest) Error() (id, text string) {
	return e.load.Str(FieldID), e.load.Map(fieldData).Str("message")
}

// MineRequest is about the mines of minions: the load of _mine, _mine_get and _mine_delete.
//
//	data       map   functions to what they returned, for _mine
//	clear      bool  _mine replaces what was there
//	fun        text, or a list of texts
//	tgt        whose mines are asked for
//	tgt_type   text  how tgt is meant; expr_form in older releases
type MineRequest struct{ view }

// NewMineRequest is the view of a load.
func NewMineRequest(load *Map) MineRequest { return MineRequest{view{load}} }

// Data is what the minion offers, and whether that is a map.
func (m MineRequest) Data() (data *Map, ok bool) {
	data, ok = m.Field(fieldData).(*Map)
	return data, ok
}

// Clear tells whether it replaces what was there.
func (m MineRequest) Clear() bool { return m.load.Bool("clear") }

// Fun is the function, or the functions, as they came, and whether there is such a field.
func (m MineRequest) Fun() (fun any, has bool) { return m.load.field(FieldFun) }

// Tgt is whose mines are asked for, as it came, and whether there is such a field.
func (m MineRequest) Tgt() (tgt any, has bool) { return m.load.field(FieldTgt) }

// TgtType is how Tgt is meant; "" is glob.
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
//	pillarenv          text  that of the pillar, or nil
//	pillar_override    map   goes over the pillar
//	extra_minion_data  map   for external pillars
//	ext                map   an external pillar that is wanted besides
//	clean_cache        bool  a pillar that is kept is not the answer (pillar_cache)
type PillarRequest struct{ view }

// NewPillarRequest is the view of a load.
func NewPillarRequest(load *Map) PillarRequest { return PillarRequest{view{load}} }

// Grains are those of the minion; nil when they are no map.
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

// Override goes over the pillar; nil or empty: nothing does.
func (p PillarRequest) Override() *Map { return p.load.Map("pillar_override") }

// Extra is what external pillars get of the minion.
func (p PillarRequest) Extra() *Map { return p.load.Map("extra_minion_data") }

// Ext is an external pillar that is wanted besides; nil: none.
func (p PillarRequest) Ext() any { return p.load.Value("ext") }

// Clean tells whether the answer must be compiled anew.
func (p PillarRequest) Clean() bool { return p.load.Bool("clean_cache") }

// FilePiece is a piece of a file that a minion pushes: the load of _file_recv.
//
//	path  list     parts of the path below the minion's own folder
//	loc   integer  where the piece begins, in bytes
//	data  bytes    the piece
type FilePiece struct{ view }

// NewFilePiece is the view of a load.
func NewFilePiece(load *Map) FilePiece { return FilePiece{view{load}} }

// Parts are those of the path, and whether they, the place and the piece are there.
func (f FilePiece) Parts() (parts []any, whole bool) {
	parts, whole = f.Field("path").([]any)
	return parts, whole && f.Has(fieldData) && f.Loc() >= 0
}

// Loc is where the piece begins, in bytes; -1 when that is no integer.
func (f FilePiece) Loc() int64 {
	if loc, ok := f.load.Int("loc"); ok {
		return loc
	}
	return -1
}

// Data is the piece.
func (f FilePiece) Data() []byte { return f.load.Bytes(fieldData) }

// Words of requests that have but one.
const (
	fieldEnvOnly       = "env_only"
	fieldPreserveCache = "preserve_minion_cache"
	fieldResources     = "resources"
	fieldJobs          = "jobs"
)

// EnvOnly tells whether a load of _master_opts asks for the options of environments alone.
func EnvOnly(load *Map) bool { return load.Bool(fieldEnvOnly) }

// PreservesCache tells whether a load of revoke_auth lets the master keep what it knows of the minion.
func PreservesCache(load *Map) bool { return load.Bool(fieldPreserveCache) }

// Resources are the resources that a load of _register_resources names (3008), and whether it names any kind. It is a
// map of lists of ids.
func Resources(load *Map) (ids []string, has bool) {
	for _, list := range load.Map(fieldResources).All() {
		ids = append(ids, Texts(list)...)
	}
	return ids, load.Has(fieldResources)
}

// FactsOfJobs are what a load of _brine_facts tells, by job ids; nil when that is no map.
func FactsOfJobs(load *Map) *Map { return load.Map(fieldJobs) }
