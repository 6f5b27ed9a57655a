// Package state is the execution module state: it applies states and shows what would be applied. modules/states/run
// compiles and carries out; this package brings it the files of the file server, the renderers, the pillar and the
// options. It answers to salt/modules/state.py.
package state

import (
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module state.
func Module() loader.Module {
	return loader.Module{File: "state", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(ofSLS(), ofTop(), applying(), alone(), switching(), pausing(), requesting())
	}}
}

// ofSLS are the functions that look at SLS by name.
func ofSLS() []loader.Func {
	return []loader.Func{
		loader.Fn("show_sls", showSLS, "Show the high data of SLS files, a list or a text with commas.",
			"state.show_sls core,edit.vim saltenv=dev"),
		loader.Fn("show_low_sls", showLowSLS, "Show the calls of SLS files in their order.",
			"state.show_low_sls core saltenv=dev"),
		loader.Fn("graph", graph, "Describe in the language of Graphviz which calls of SLS files wait for which.",
			"state.graph core,edit.vim"),
		loader.Fn("sls_exists", slsExists, "Tell whether SLS files are there and can be read.",
			"state.sls_exists core,edit.vim saltenv=dev"),
		loader.Fn("id_exists", idExists, "Tell whether IDs are in SLS files.",
			"state.id_exists create_myfile,update_template filestate saltenv=dev"),
	}
}

// ofTop are the functions that look at what the top files give the minion.
func ofTop() []loader.Func {
	return []loader.Func{
		loader.Fn("show_top", showTop, "Show the SLS files that the minion gets by the top files.", "state.show_top"),
		loader.Fn("show_highstate", showHighstate, "Show the high data of the highstate.", "state.show_highstate"),
		loader.Fn("show_lowstate", showLowstate, "Show the calls of the highstate in their order.",
			"state.show_lowstate"),
		loader.Fn("graph_highstate", graphHighstate,
			"Describe in the language of Graphviz which calls of the highstate wait for which.",
			"state.graph_highstate"),
		loader.Fn("show_states", showStates, "List the SLS files of the highstate in the order of their calls.",
			"state.show_states"),
		loader.Fn("show_state_usage", showUsage, "Tell which SLS files the highstate uses, and which not.",
			"state.show_state_usage"),
	}
}

// shown is what every function takes that shows states.
type shown struct {
	Queue any          `arg:"queue=None"`
	KW    *payload.Map `arg:"**kwargs"`
}

// named is what functions take that look at SLS by name.
type named struct {
	Mods any `arg:"mods"`
	Test any `arg:"test=None"`
	shown
}
