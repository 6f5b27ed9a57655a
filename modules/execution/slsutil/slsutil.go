// Package slsutil holds the execution functions of the modules slsutil, defaults and jinja: templates rendered, data
// written and read in formats, maps merged, files of the tree found and read. It answers to salt/modules/slsutil.py,
// defaults.py and jinja.py.
package slsutil

import "brine/modules/loader"

// Functions lists the functions of these modules.
func Functions() []loader.Func {
	var all []loader.Func
	for _, m := range []struct {
		source string
		funcs  []loader.Func
	}{
		{"slsutil", append(append(mergers(), formats()...), inTree()...)},
		{"defaults", defaults()},
		{"jinja", loaders()},
	} {
		for _, f := range m.funcs {
			f.Source = "salt/modules/" + m.source + ".py"
			all = append(all, f)
		}
	}
	return all
}

func mergers() []loader.Func {
	merging := []loader.Param{loader.Opt("strategy", "smart"), loader.Opt("renderer", "yaml"), loader.Opt("merge_lists", false)}
	return []loader.Func{
		{Name: "slsutil.update", Params: []loader.Param{loader.Req("dest"), loader.Req("upd"), loader.Opt("recursive_update", true),
			loader.Opt("merge_lists", false)}, Run: runUpdate, Doc: `Put a map over another one, and the maps in them over each other.

CLI Example:

    salt '*' slsutil.update '{foo: Foo}' '{bar: Bar}'`},
		{Name: "slsutil.merge", Params: append([]loader.Param{loader.Req("obj_a"), loader.Req("obj_b")}, merging...), Run: runMerge,
			Doc: `Merge data by a strategy: aggregate, list, overwrite, recurse or smart.

CLI Example:

    salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'`},
		{Name: "slsutil.merge_all", Params: append([]loader.Param{loader.Req("lst")}, merging...), Run: runMergeAll,
			Doc: `Merge the maps of a list, one after the other.

CLI Example:

    salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'`},
	}
}

func formats() []loader.Func {
	return []loader.Func{
		{Name: "slsutil.renderer", Params: []loader.Param{loader.Opt("path", nil), loader.Opt("string", nil),
			loader.Opt("default_renderer", "jinja|yaml")}, KWArgs: true, Run: render, Doc: `Render a file or a text through a pipe of renderers.

CLI Example:

    salt '*' slsutil.renderer /path/to/file.sls default_renderer='jinja|yaml'
    salt '*' slsutil.renderer string='a: {{ b }}' b=1`},
		{Name: "slsutil.serialize", Params: []loader.Param{loader.Req("serializer"), loader.Req("obj")}, KWArgs: true, Run: serialize,
			Doc: `Write data in a format: json, yaml.

CLI Example:

    salt '*' --no-parse=obj slsutil.serialize json obj="{'foo': 'Foo!'}"`},
		{Name: "slsutil.deserialize", Params: []loader.Param{loader.Req("serializer"), loader.Req("stream_or_string")}, KWArgs: true,
			Run: deserialize, Doc: `Read data that is written in a format: json, yaml.

CLI Example:

    salt '*' --no-parse=stream_or_string slsutil.deserialize json stream_or_string='{"foo": "Foo!"}'`},
		{Name: "slsutil.banner", Params: []loader.Param{loader.Opt("width", int64(72)), loader.Opt("commentchar", "#"),
			loader.Opt("borderchar", "#"), loader.Opt("blockstart", nil), loader.Opt("blockend", nil), loader.Opt("title", nil),
			loader.Opt("text", nil), loader.Opt("newline", false)}, Run: banner, Doc: `Make a comment for the head of a managed file.

CLI Example:

    salt '*' slsutil.banner`},
		{Name: "slsutil.boolstr", Params: []loader.Param{loader.Req("value"), loader.Opt("true", "true"), loader.Opt("false", "false")},
			Run: boolstr, Doc: `Give one of two texts by the truth of a value.

CLI Example:

    salt '*' slsutil.boolstr True yes no`},
	}
}

func defaults() []loader.Func {
	convert := []loader.Param{loader.Opt("in_place", true), loader.Opt("convert_none", true)}
	return []loader.Func{
		{Name: "defaults.get", Params: []loader.Param{loader.Req("key"), loader.Opt("default", "")}, Run: defaultsGet,
			Doc: `Give a value of the file defaults.yaml or defaults.json of a formula.

CLI Example:

    salt '*' defaults.get core:users:root`},
		{Name: "defaults.merge", Params: append([]loader.Param{loader.Req("dest"), loader.Req("src"), loader.Opt("merge_lists", false)},
			convert...), Run: defaultsMerge, Doc: `Put a map over another one, as formulas do with their defaults.

CLI Example:

    salt '*' defaults.merge '{a: b}' '{d: e}'`},
		{Name: "defaults.deepcopy", Params: []loader.Param{loader.Req("source")}, Run: deepcopy, Doc: `Give a copy of a value.

CLI Example:

    salt '*' defaults.deepcopy '{a: b}'`},
		{Name: "defaults.update", Params: append([]loader.Param{loader.Req("dest"), loader.Req("defaults"), loader.Opt("merge_lists", true)},
			convert...), Run: defaultsUpdate, Doc: `Put each map of a map over the same defaults.

CLI Example:

    salt '*' defaults.update '{host01: {ip: 1}}' '{enabled: True}'`},
	}
}
