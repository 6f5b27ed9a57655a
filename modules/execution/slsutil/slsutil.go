// Package slsutil holds the execution functions of the modules slsutil, defaults and jinja: templates rendered, data
// written and read in formats, maps merged, files of the tree found and read. It answers to salt/modules/slsutil.py,
// defaults.py and jinja.py.
package slsutil

import "brine/modules"

// Functions lists the functions of these modules.
func Functions() []modules.Func {
	var all []modules.Func
	for _, m := range []struct {
		source string
		funcs  []modules.Func
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

func mergers() []modules.Func {
	merging := []modules.Param{modules.Opt("strategy", "smart"), modules.Opt("renderer", "yaml"), modules.Opt("merge_lists", false)}
	return []modules.Func{
		{Name: "slsutil.update", Params: []modules.Param{modules.Req("dest"), modules.Req("upd"), modules.Opt("recursive_update", true),
			modules.Opt("merge_lists", false)}, Run: runUpdate, Doc: `Put a map over another one, and the maps in them over each other.

CLI Example:

    salt '*' slsutil.update '{foo: Foo}' '{bar: Bar}'`},
		{Name: "slsutil.merge", Params: append([]modules.Param{modules.Req("obj_a"), modules.Req("obj_b")}, merging...), Run: runMerge,
			Doc: `Merge data by a strategy: aggregate, list, overwrite, recurse or smart.

CLI Example:

    salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'`},
		{Name: "slsutil.merge_all", Params: append([]modules.Param{modules.Req("lst")}, merging...), Run: runMergeAll,
			Doc: `Merge the maps of a list, one after the other.

CLI Example:

    salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'`},
	}
}

func formats() []modules.Func {
	return []modules.Func{
		{Name: "slsutil.renderer", Params: []modules.Param{modules.Opt("path", nil), modules.Opt("string", nil),
			modules.Opt("default_renderer", "jinja|yaml")}, KWArgs: true, Run: render, Doc: `Render a file or a text through a pipe of renderers.

CLI Example:

    salt '*' slsutil.renderer /path/to/file.sls default_renderer='jinja|yaml'
    salt '*' slsutil.renderer string='a: {{ b }}' b=1`},
		{Name: "slsutil.serialize", Params: []modules.Param{modules.Req("serializer"), modules.Req("obj")}, KWArgs: true, Run: serialize,
			Doc: `Write data in a format: json, yaml.

CLI Example:

    salt '*' --no-parse=obj slsutil.serialize json obj="{'foo': 'Foo!'}"`},
		{Name: "slsutil.deserialize", Params: []modules.Param{modules.Req("serializer"), modules.Req("stream_or_string")}, KWArgs: true,
			Run: deserialize, Doc: `Read data that is written in a format: json, yaml.

CLI Example:

    salt '*' --no-parse=stream_or_string slsutil.deserialize json stream_or_string='{"foo": "Foo!"}'`},
		{Name: "slsutil.banner", Params: []modules.Param{modules.Opt("width", int64(72)), modules.Opt("commentchar", "#"),
			modules.Opt("borderchar", "#"), modules.Opt("blockstart", nil), modules.Opt("blockend", nil), modules.Opt("title", nil),
			modules.Opt("text", nil), modules.Opt("newline", false)}, Run: banner, Doc: `Make a comment for the head of a managed file.

CLI Example:

    salt '*' slsutil.banner`},
		{Name: "slsutil.boolstr", Params: []modules.Param{modules.Req("value"), modules.Opt("true", "true"), modules.Opt("false", "false")},
			Run: boolstr, Doc: `Give one of two texts by the truth of a value.

CLI Example:

    salt '*' slsutil.boolstr True yes no`},
	}
}

func defaults() []modules.Func {
	convert := []modules.Param{modules.Opt("in_place", true), modules.Opt("convert_none", true)}
	return []modules.Func{
		{Name: "defaults.get", Params: []modules.Param{modules.Req("key"), modules.Opt("default", "")}, Run: defaultsGet,
			Doc: `Give a value of the file defaults.yaml or defaults.json of a formula.

CLI Example:

    salt '*' defaults.get core:users:root`},
		{Name: "defaults.merge", Params: append([]modules.Param{modules.Req("dest"), modules.Req("src"), modules.Opt("merge_lists", false)},
			convert...), Run: defaultsMerge, Doc: `Put a map over another one, as formulas do with their defaults.

CLI Example:

    salt '*' defaults.merge '{a: b}' '{d: e}'`},
		{Name: "defaults.deepcopy", Params: []modules.Param{modules.Req("source")}, Run: deepcopy, Doc: `Give a copy of a value.

CLI Example:

    salt '*' defaults.deepcopy '{a: b}'`},
		{Name: "defaults.update", Params: append([]modules.Param{modules.Req("dest"), modules.Req("defaults"), modules.Opt("merge_lists", true)},
			convert...), Run: defaultsUpdate, Doc: `Put each map of a map over the same defaults.

CLI Example:

    salt '*' defaults.update '{host01: {ip: 1}}' '{enabled: True}'`},
	}
}
