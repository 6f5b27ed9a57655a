package pillarmod

import (
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

func fromMaster() []loader.Func {
	params := []loader.Param{loader.Opt("pillar", nil), loader.Opt("pillar_enc", nil), loader.Opt("pillarenv", nil), loader.Opt("saltenv", nil),
		loader.Opt("unmask", nil)}
	return []loader.Func{
		{Name: "pillar.items", VarArgs: true, ByName: true, Params: params, Run: items, Doc: `Get a fresh pillar from the master. With keys, those of the pillar in memory.

CLI Example:

    salt '*' pillar.items
    salt '*' pillar.items pillar='{a: b}' pillarenv=dev unmask=True`},
		{Name: "pillar.data", VarArgs: true, ByName: true, Params: params, Run: items, Doc: `The same as pillar.items.

CLI Example:

    salt '*' pillar.data`},
		{Name: "pillar.obfuscate", VarArgs: true, ByName: true, Params: params, Run: obfuscate, Doc: `Get a fresh pillar from the master, with types in place of values.

CLI Example:

    salt '*' pillar.obfuscate`},
		{Name: "pillar.ls", VarArgs: true, ByName: true, Params: params, Run: ls, Doc: `List the keys of a fresh pillar from the master.

CLI Example:

    salt '*' pillar.ls`},
		{Name: "pillar.ext", Params: []loader.Param{loader.Req("external"), loader.Opt("pillar", nil), loader.Opt("unmask", nil)}, Run: ext,
			Doc: `Get a fresh pillar with one more external pillar, which the master must allow (on_demand_ext_pillar).

CLI Example:

    salt '*' pillar.ext '{nodegroups: {pillar_name: groups}}'`},
	}
}

// request is what is asked of the master.
type request struct {
	saltenv, pillarenv any
	override, ext      any
}

// compile asks the master for a fresh pillar.
func compile(c *loader.Call, r request) (*payload.Map, error) {
	source := c.Host().Secrets
	if source == nil {
		return nil, loader.ExecErr("there is no master to ask for a pillar")
	}
	pillarenv := r.pillarenv
	if pillarenv == nil {
		pillarenv = c.Opts().Value("pillarenv")
		if loader.Truthy(c.Opts().Value("pillarenv_from_saltenv")) {
			if pillarenv = r.saltenv; !loader.Truthy(pillarenv) {
				pillarenv = c.Opts().Value("saltenv")
			}
		}
	}
	override, _ := r.override.(*payload.Map) // anything else is left out, as in Salt
	return source.Compile(c.Ctx, loader.PillarQuery{Pillarenv: loader.Text(pillarenv), Override: override, Ext: r.ext, Onto: true})
}

// masksItems tells whether pillar.items masks unless it is told otherwise.
func masksItems(c *loader.Call) bool {
	v, ok := c.Opts().Get("pillar_mask_output")
	return !ok || loader.Truthy(v)
}

func items(c *loader.Call, a loader.Args) (any, error) {
	if len(a.Rest) > 0 { // an old form of pillar.item
		return someItems(c, a, nil, nil)
	}
	if a.Bool("pillar") && a.Bool("pillar_enc") {
		return nil, loader.ExecErr("Failed to decrypt pillar override: brine does not decrypt it yet")
	}
	out, err := compile(c, request{saltenv: a.Get("saltenv"), pillarenv: a.Get("pillarenv"), override: a.Get("pillar")})
	if err != nil {
		return nil, err
	}
	plain := unmasked(c, a.Get("unmask"))
	if a.Get("unmask") == nil && !masksItems(c) {
		plain = true
	}
	return shown(out, plain), nil
}

// obfuscate shows the types of what pillar.items shows: masks are texts.
func obfuscate(c *loader.Call, a loader.Args) (any, error) {
	v, err := items(c, a)
	if err != nil {
		return nil, err
	}
	return types(v), nil
}

func types(v any) any {
	switch v := v.(type) {
	case *payload.Map:
		out := v.Clone()
		for k, e := range v.All() {
			out.Set(k, types(e))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = types(v[i])
		}
		return out
	}
	return "<" + pytext.Type(v) + ">"
}

func ls(c *loader.Call, a loader.Args) (any, error) {
	v, err := items(c, a)
	if err != nil {
		return nil, err
	}
	m, _ := v.(*payload.Map)
	return m.Keys(), nil
}

func ext(c *loader.Call, a loader.Args) (any, error) {
	external, err := fromYAML(a.Get("external"))
	if err != nil {
		return nil, err
	}
	out, err := compile(c, request{override: a.Get("pillar"), ext: external})
	if err != nil {
		return nil, err
	}
	return shown(out, unmasked(c, a.Get("unmask"))), nil
}
