package pkg

import (
	"slices"

	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// hooks are the functions that a run calls by itself.
func hooks() []loader.Func {
	return []loader.Func{
		loader.Fn("mod_init", modInit, "Mark that the lists of packages are to be fetched, before the first state."),
		loader.Fn("mod_aggregate", modAggregate, "Take the packages of later states into one."),
		loader.Fn("mod_watch", modWatch, "Run a state again because of what it watches."),
		loader.Fn("mod_beacon", modBeacon, "Add a beacon for what a state ensures."),
	}
}

type lowArgs struct {
	Low *payload.Map `arg:"low"`
}

// modInit tells whether it did something: of other functions it is asked again.
func modInit(c *loader.Call, a lowArgs) (any, error) {
	done := any(true)
	if c.Env.Has("pkg.ex_mod_init") {
		var err error
		if done, err = c.Call("pkg.ex_mod_init", []any{a.Low}, nil); err != nil {
			return nil, err
		}
	}
	if fun := a.Low.Str("fun"); fun != "installed" && fun != "latest" {
		return false, nil
	}
	pkg_resource.MarkRefresh(c)
	return done, nil
}

type aggregateArgs struct {
	Low     *payload.Map `arg:"low"`
	Chunks  []any        `arg:"chunks"`
	Running *payload.Map `arg:"running"`
}

// mark is a key of chunks whose packages are in another one.
const mark = "__agg__"

// modAggregate gives a chunk the packages of those that are still to run, and marks these. Unlike Salt: a chunk that
// names one package keeps it, a version goes with its package, and packages with versions can be aggregated.
func modAggregate(_ *loader.Call, a aggregateArgs) (*payload.Map, error) {
	fun := a.Low.Str("fun")
	if !slices.Contains([]string{"installed", "latest", "removed", "purged"}, fun) {
		return a.Low, nil
	}
	kind := "pkgs"
	if a.Low.Has("sources") {
		kind = "sources"
	}
	more := &bundle{}
	for _, v := range a.Chunks {
		chunk, ok := v.(*payload.Map)
		if !ok || chunk == a.Low || chunk.Value("state") != any("pkg") || chunk.Value("fun") != any(fun) || chunk.Has(mark) ||
			chunk.Value("fromrepo") != a.Low.Value("fromrepo") || chunk.Has("hold") ||
			a.Running.Has(low.Tag(chunk)) {
			continue
		}
		switch list, given := chunk.Get(kind); {
		case given:
			more.add(list)
		case kind == "pkgs" && chunk.Has("name"):
			more.one(chunk.Value("name"), chunk.Value("version"))
			chunk.Delete("version")
		default:
			continue
		}
		chunk.Set(mark, true)
	}
	if len(more.items) == 0 {
		return a.Low, nil
	}
	all := &bundle{}
	if list, given := a.Low.Get(kind); given {
		all.add(list)
	} else {
		all.one(a.Low.Value("name"), a.Low.Value("version"))
		a.Low.Delete("version")
	}
	for _, item := range more.items {
		all.one(item.name, item.version)
	}
	return a.Low.Set(kind, all.list()), nil
}

// bundle are packages with their versions, each once.
type bundle struct{ items []packed }

type packed struct{ name, version any }

func (b *bundle) add(list any) {
	items, _ := list.([]any)
	for _, item := range items {
		b.one(nameAndVersion(item))
	}
}

// one adds a package. One without a version is the same as one with any.
func (b *bundle) one(name, version any) {
	for i, known := range b.items {
		switch {
		case known.name != name:
		case version == nil, python.Repr(known.version) == python.Repr(version):
			return
		case known.version == nil:
			b.items[i].version = version
			return
		}
	}
	b.items = append(b.items, packed{name, version})
}

func (b *bundle) list() []any {
	out := make([]any, len(b.items))
	for i, item := range b.items {
		if out[i] = item.name; item.version != nil {
			out[i] = payload.M(item.name, item.version)
		}
	}
	return out
}

type watchArgs struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// modWatch runs the state once more.
func modWatch(c *loader.Call, a watchArgs) (any, error) {
	kw := a.KW.Clone()
	fun := python.Str(kw.Value("sfun"))
	kw.Delete("sfun")
	for _, f := range watched() {
		if f.Name != fun {
			continue
		}
		bound, err := loader.Bind(&f, []any{a.Name}, kw)
		if err != nil {
			return nil, err
		}
		return f.Run(c, bound)
	}
	return payload.M("name", a.Name, "changes", payload.NewMap(0),
		"comment", "pkg."+fun+" does not work with the watch requisite", "result", false), nil
}

// modBeacon adds a beacon where the chunk wants one.
func modBeacon(c *loader.Call, a watchArgs) (any, error) {
	fun := python.Str(a.KW.Value("sfun"))
	ret := payload.M("name", a.Name, "changes", payload.NewMap(0), "result", true, "comment", "")
	if fun != "installed" && fun != "removed" {
		return ret.Set("result", false).Set("comment",
			"pkg."+fun+" does not work with the mod_beacon state function"), nil
	}
	if !python.Truth(a.KW.Value("beacon")) {
		return ret.Set("comment", "Not adding beacon."), nil
	}
	all := c.Registry().Program().States
	f, ok := all.Lookup("beacon.present")
	if !ok {
		return nil, loader.ExecErr("%s", all.MissingText("beacon.present"))
	}
	packs, given := a.KW.Get("pkgs")
	if !given {
		packs = []any{a.Name}
	}
	bound, err := loader.Bind(f, nil, payload.M("name", "beacon_pkg_"+python.Str(a.Name), "pkgs", packs,
		"interval", int64(60), "beacon_module", "pkg"))
	if err != nil {
		return nil, err
	}
	return f.Run(c, bound)
}
