package pillar

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// extPillar is one external pillar: what it takes besides the minion's id and the pillar so far, and what it does.
type extPillar struct {
	params   []loader.Param
	varArgs  bool
	keywords bool
	extra    bool // it takes extra_minion_data
	run      func(e *extCall) (any, error)
}

// extCall is one call of an external pillar.
type extCall struct {
	*run
	pillar *payload.Map // so far; only read
	args   map[string]any
	rest   []any
	kw     *payload.Map
}

// extPillars are the external pillars that there are.
var extPillars = map[string]extPillar{
	"cmd_yaml":   {params: []loader.Param{loader.Req("command")}, run: cmdYAML},
	"cmd_json":   {params: []loader.Param{loader.Req("command")}, run: cmdJSON},
	"cmd_yamlex": {params: []loader.Param{loader.Req("command")}, run: cmdYAMLEX},
	"file_tree":  {params: fileTreeParams, run: fileTree},
	"http_json": {params: append(webParams[:len(webParams):len(webParams)], loader.Opt("namespace", nil)),
		run: web(decodeJSON)},
	"http_yaml":  {params: webParams, run: web(decodeYAML)},
	"redis":      {params: []loader.Param{loader.Req("function")}, keywords: true, run: redisExt},
	"postgres":   {varArgs: true, keywords: true, run: postgresExt},
	"nodegroups": {params: []loader.Param{loader.Opt("pillar_name", nil)}, run: nodegroups},
	"stack":      {varArgs: true, keywords: true, run: stack},
	"gpg":        {varArgs: true, keywords: true, run: extGPG},
	"extra_minion_data_in_pillar": {params: []loader.Param{loader.Req("include"), loader.Opt("extra_minion_data", nil)},
		extra: true,
		run:   extraMinionData},
}

// gitPillarName is the external pillar that stands in no table: it compiles pillars itself.
const gitPillarName = "git"

// notYet are the external pillars of Salt and of its extensions that are missed here: a pillar that lacks them says so.
var notYet = []string{"cobbler", "confidant", "consul_pillar", "csvpillar", "digicert", "django_orm", "ec2_pillar",
	"etcd_pillar", "etcd", "consul", "foreman", "git_pillar", "hg", "hg_pillar", "hiera", "libvirt", "makostack",
	"mongo", "mysql", "nacl", "netbox", "neutron", "nsot", "pepa", "pillar_ldap", "puppet", "reclass_adapter",
	"reclass", "redismod", "rethinkdb", "rethinkdb_pillar", "s3", "saltclass", "sql_base", "sqlcipher", "sqlite3",
	"svn_pillar", "svn", "varstack_pillar", "varstack", "vault", "venafi", "virtkey",
	"vmware_pillar"}

// Missing are those of a list of external pillars (the option ext_pillar) that brine does not have: those that Salt or
// an extension has, and others, which may be somebody's own.
func Missing(option any) (later, unknown []string) {
	list, _ := option.([]any)
	for _, entry := range list {
		m, _ := entry.(*payload.Map)
		for key := range m.All() {
			name := python.Str(key)
			_, have := extPillars[name]
			switch {
			case have || name == gitPillarName || slices.Contains(later, name) || slices.Contains(unknown, name):
			case slices.Contains(notYet, name):
				later = append(later, name)
			default:
				unknown = append(unknown, name)
			}
		}
	}
	return later, unknown
}

// onDemand is the external pillar that a question asks for, if the master allows it.
func (r *run) onDemand(opts *payload.Map) any {
	if !python.Truth(r.q.Ext) {
		return nil
	}
	ext, ok := r.q.Ext.(*payload.Map)
	if !ok {
		r.log(slog.LevelError, "On-demand pillar %s is not formatted as a dictionary", python.Str(r.q.Ext))
		return nil
	}
	allowed := loader.StringList(opts.Value("on_demand_ext_pillar"))
	for key := range ext.All() {
		if name, ok := key.(string); !ok || !slices.Contains(allowed, name) {
			r.log(slog.LevelError, "The ext_pillar module %s is not allowed for on-demand pillar data: "+
				"on_demand_ext_pillar has %s", python.Str(key), strings.Join(allowed, ", "))
			return nil
		}
	}
	return dicts.Clone(ext)
}

// malformed is Salt's text for a list of external pillars that is none.
const malformed = `The "ext_pillar" option is malformed`

// external merges what the external pillars give over a pillar.
func (r *run) external(pillar *payload.Map) (*payload.Map, error) {
	option, ok := r.opts.Get("ext_pillar")
	if !ok {
		return pillar, nil
	}
	list, ok := option.([]any)
	if !ok {
		r.fail(malformed)
		return pillar, nil
	}
	var err error
	if r.override.Len() > 0 {
		if pillar, err = r.merge(pillar, r.override); err != nil {
			return nil, err
		}
	}
	excluded := loader.StringList(r.opts.Value("exclude_ext_pillar"))
	for _, entry := range list {
		m, ok := entry.(*payload.Map)
		if !ok {
			r.fail(malformed)
			return payload.NewMap(0), nil
		}
		if m.Len() == 0 {
			return nil, loader.Raise("StopIteration", "")
		}
		if first, ok := m.Keys()[0].(string); ok && slices.Contains(excluded, first) {
			continue
		}
		var ext any
		for key, given := range m.All() {
			r.callExternal(python.Str(key), given, pillar, &ext)
			if r.ctx.Err() != nil {
				return nil, r.ctx.Err()
			}
		}
		if python.Truth(ext) {
			if pillar, err = r.merge(pillar, ext); err != nil {
				return nil, err
			}
		}
	}
	return pillar, nil
}

// callExternal sets ext to what one external pillar gives; it stays as it is where that fails.
func (r *run) callExternal(name string, given any, pillar *payload.Map, ext *any) {
	p, ok := extPillars[name]
	if name == gitPillarName { // it compiles pillars itself, so it cannot stand in the table
		p, ok = extPillar{varArgs: true, run: gitPillar}, true
	}
	switch {
	case ok:
	case slices.Contains(notYet, name):
		r.fail("Failed to load ext_pillar %s: brine does not have this external pillar yet", name)
		return
	default:
		r.log(slog.LevelError, "ext_pillar interface named %s is unavailable", name)
		return
	}
	e := &extCall{run: r, pillar: pillar}
	err := e.bind(p, given)
	if err == nil {
		var out any
		if out, err = p.run(e); err == nil {
			*ext = out
			return
		}
	}
	r.fail("Failed to load ext_pillar %s: %s", name, loader.Message(err))
}

// bind sorts the arguments of the option: a map by name, a list by place, anything else as the only one. The minion's
// id and the pillar are the first two in Python's counts.
func (e *extCall) bind(p extPillar, given any) error {
	var list []any
	e.args, e.kw = map[string]any{}, payload.NewMap(0)
	switch v := given.(type) {
	case *payload.Map:
		e.kw = v.Clone()
	case []any:
		list = v
	default:
		list = []any{v}
	}
	if p.extra && e.q.Extra.Len() > 0 {
		e.kw.Set("extra_minion_data", e.q.Extra)
	}
	required := 2
	var missing error
	for i, param := range p.params {
		if param.Required {
			required++
		}
		if i < len(list) {
			e.args[param.Name] = list[i]
			continue
		}
		e.args[param.Name] = param.Default
		if v, ok := e.kw.Get(param.Name); ok {
			e.args[param.Name] = v
			e.kw.Delete(param.Name)
		} else if param.Required && missing == nil {
			missing = &loader.ArgumentError{Message: "ext_pillar() missing 1 required positional argument: '" +
				param.Name + "'"}
		}
	}
	if err := e.surplus(p, list, required); err != nil {
		return err
	}
	return missing
}

// surplus takes what is left of the arguments, or says in Python's words that there is something left.
func (e *extCall) surplus(p extPillar, list []any, required int) error {
	if !p.keywords {
		for key := range e.kw.All() {
			return &loader.ArgumentError{Message: "ext_pillar() got an unexpected keyword argument " + python.Repr(key)}
		}
	}
	n, all := len(list)+2, len(p.params)+2
	if n <= all {
		return nil
	}
	e.rest = list[len(p.params):]
	if p.varArgs {
		return nil
	}
	takes := fmt.Sprint(all)
	if required < all {
		takes = fmt.Sprintf("from %d to %d", required, all)
	}
	return &loader.ArgumentError{Message: fmt.Sprintf("ext_pillar() takes %s positional arguments but %d were given",
		takes, n)}
}

// nodegroups tells which node groups of the master the minion is in.
func nodegroups(e *extCall) (any, error) {
	name := e.args["pillar_name"]
	if !python.Truth(name) {
		name = "nodegroups"
	}
	in := []any{}
	for group, target := range e.opts.Map("nodegroups").All() {
		if e.means(target) {
			in = append(in, group)
		}
	}
	return payload.M(name, in), nil
}

// means tells whether the master takes the minion for one of a compound target's.
func (r *run) means(target any) bool {
	return r.opt.Means != nil && r.opt.Means(r.ctx, target, r.q.ID)
}

// extGPG decrypts the pillar as it is so far.
func extGPG(e *extCall) (any, error) {
	out, ok, err := e.render.Step(e.ctx, "gpg", e.gpgInput(e.pillar))
	if !ok {
		return nil, loader.Raise("TypeError", "'NoneType' object is not callable")
	}
	return out, err
}

// extraMinionData gives the minion what it has sent itself, or a part of it.
func extraMinionData(e *extCall) (any, error) {
	extra, _ := e.args["extra_minion_data"].(*payload.Map)
	out := payload.NewMap(0)
	if extra.Len() == 0 {
		return out, nil
	}
	include := e.args["include"]
	if include == any("*") || include == any("<all>") {
		return extra, nil
	}
	keys, err := iterate(include)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		name, ok := key.(string)
		if !ok {
			return nil, noAttribute(key, "split")
		}
		if v, ok := below(extra, strings.Split(name, ":")); ok {
			path := strings.Split(name, ":")
			for i := len(path) - 1; i > 0; i-- {
				v = payload.M(path[i], v)
			}
			out.Set(path[0], v)
		}
	}
	return out, nil
}

// below follows a path through maps.
func below(m *payload.Map, path []string) (any, bool) {
	at := any(m)
	for _, step := range path {
		inner, _ := at.(*payload.Map)
		v, ok := inner.Get(step)
		if !ok {
			return nil, false
		}
		at = v
	}
	return at, true
}
