// Package slsutil holds the execution functions of the module slsutil: templates rendered, data written and read in
// formats, maps merged, files of the tree found. It answers to salt/modules/slsutil.py.
package slsutil

import (
	"slices"

	"brine/modules/loader"
)

// Module is the module slsutil.
func Module() loader.Module {
	return loader.Module{File: "slsutil", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(mergers(), formats(), inTree())
	}}
}

func mergers() []loader.Func {
	return []loader.Func{
		loader.Fn("update", runUpdate, "Put a map over another one, and the maps in them over each other.",
			"slsutil.update '{foo: Foo}' '{bar: Bar}'"),
		loader.Fn("merge", runMerge, "Merge data by a strategy: aggregate, list, overwrite, recurse or smart.",
			"slsutil.merge '{foo: Foo}' '{bar: Bar}'"),
		loader.Fn("merge_all", runMergeAll, "Merge the maps of a list, one after the other.",
			"slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'"),
	}
}

func formats() []loader.Func {
	return []loader.Func{
		loader.Fn("renderer", render, "Render a file or a text through a pipe of renderers.",
			"slsutil.renderer /path/to/file.sls default_renderer='jinja|yaml'",
			"slsutil.renderer string='a: {{ b }}' b=1"),
		loader.Fn("serialize", serialize, "Write data in a format: json, yaml.",
			`--no-parse=obj slsutil.serialize json obj="{'foo': 'Foo!'}"`),
		loader.Fn("deserialize", deserialize, "Read data that is written in a format: json, yaml.",
			`--no-parse=stream_or_string slsutil.deserialize json stream_or_string='{"foo": "Foo!"}'`),
		loader.Fn("banner", banner, "Make a comment for the head of a managed file.", "slsutil.banner"),
		loader.Fn("boolstr", boolstr, "Give one of two texts by the truth of a value.", "slsutil.boolstr True yes no"),
	}
}
