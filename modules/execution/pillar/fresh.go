package pillar

import (
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

func fromMaster() []loader.Func {
	return []loader.Func{
		loader.Fn("items", items, "Get a fresh pillar from the master. With keys, those of the pillar in memory.",
			"pillar.items",
			"pillar.items pillar='{a: b}' pillarenv=dev unmask=True"),
		loader.Fn("data", items, "The same as pillar.items.", "pillar.data"),
		loader.Fn("obfuscate", obfuscate, "Get a fresh pillar from the master, with types in place of values.",
			"pillar.obfuscate"),
		loader.Fn("ls", ls, "List the keys of a fresh pillar from the master.", "pillar.ls"),
		loader.Fn("ext", ext,
			"Get a fresh pillar with one more external pillar, which the master must allow (on_demand_ext_pillar).",
			"pillar.ext '{nodegroups: {pillar_name: groups}}'"),
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
		if python.Truth(c.Opts().Value("pillarenv_from_saltenv")) {
			if pillarenv = r.saltenv; !python.Truth(pillarenv) {
				pillarenv = c.Opts().Value("saltenv")
			}
		}
	}
	override, _ := r.override.(*payload.Map) // anything else is left out, as in Salt
	query := loader.PillarQuery{Pillarenv: loader.Text(pillarenv), Override: override, Ext: r.ext, Onto: true}
	return source.Compile(c.Ctx, query)
}

// masksItems tells whether pillar.items masks unless it is told otherwise.
func masksItems(c *loader.Call) bool {
	v, ok := c.Opts().Get("pillar_mask_output")
	return !ok || python.Truth(v)
}

type fresh struct {
	Keys     []any `arg:"*args"`
	Override any   `arg:"pillar=None"`
	Enc      bool  `arg:"pillar_enc=None"`
	seen
}

func items(c *loader.Call, a fresh) (any, error) {
	if len(a.Keys) > 0 { // an old form of pillar.item
		return item(c, some{Keys: a.Keys, seen: a.seen})
	}
	if python.Truth(a.Override) && a.Enc {
		return nil, loader.ExecErr("Failed to decrypt pillar override: brine does not decrypt it yet")
	}
	out, err := compile(c, request{saltenv: a.Saltenv, pillarenv: a.Pillarenv, override: a.Override})
	if err != nil {
		return nil, err
	}
	plain := unmasked(c, a.Unmask)
	if a.Unmask == nil && !masksItems(c) {
		plain = true
	}
	return shown(out, plain), nil
}

// obfuscate shows the types of what pillar.items shows: masks are texts.
func obfuscate(c *loader.Call, a fresh) (any, error) {
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
	return "<" + python.Type(v) + ">"
}

func ls(c *loader.Call, a fresh) (any, error) {
	v, err := items(c, a)
	if err != nil {
		return nil, err
	}
	m, _ := v.(*payload.Map)
	return m.Keys(), nil
}

type extended struct {
	External any `arg:"external"`
	Override any `arg:"pillar=None"`
	Unmask   any `arg:"unmask=None"`
}

func ext(c *loader.Call, a extended) (any, error) {
	external, err := fromYAML(a.External)
	if err != nil {
		return nil, err
	}
	out, err := compile(c, request{override: a.Override, ext: external})
	if err != nil {
		return nil, err
	}
	return shown(out, unmasked(c, a.Unmask)), nil
}
