// Package iptables is the state module iptables: rules, chains and policies of the packet filter. Rules that are set
// together are one state whose argument rules has them. Answers to salt/states/iptables.py.
package iptables

import (
	"slices"
	"strings"

	"brine/modules/execution/iptables"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module iptables.
func Module() loader.Module {
	return loader.Module{File: "iptables", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("chain_present", chainPresent, "A chain is there.", "CUSTOM:", "  iptables.chain_present"),
			states.Fn("chain_absent", chainAbsent, "A chain is not there.", "CUSTOM:", "  iptables.chain_absent"),
			states.Fn("append", verb{appends}.plan, "A rule is in a chain; a new one comes last.",
				"ssh:", "  iptables.append:", "    - chain: INPUT", "    - protocol: tcp", "    - dport: 22", "    - jump: ACCEPT"),
			states.Fn("insert", verb{inserts}.plan, "A rule is in a chain; a new one comes to a position.",
				"ssh:", "  iptables.insert:", "    - position: 1", "    - chain: INPUT", "    - jump: ACCEPT"),
			states.Fn("delete", verb{deletes}.plan, "A rule is not in a chain.",
				"ssh:", "  iptables.delete:", "    - chain: INPUT", "    - jump: ACCEPT"),
			states.Fn("set_policy", setPolicy, "A chain has a policy.",
				"input:", "  iptables.set_policy:", "    - chain: INPUT", "    - policy: DROP"),
			states.Fn("flush", flush, "A chain, or a table, has no rules.", "all:", "  iptables.flush"),
			loader.Fn("mod_aggregate", aggregate, "Have one state set the rules of others."),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("iptables.version") {
		return false, "iptables module could not be loaded"
	}
	return true, ""
}

type chain struct {
	Name   string `arg:"name"`
	Table  string `arg:"table=filter"`
	Family string `arg:"family=ipv4"`
}

// chained finds the program, and whether there is the chain.
func (a chain) look(c *states.Call) (bool, error) {
	f, err := iptables.New(c.Call, a.Family)
	if err != nil {
		return false, err
	}
	return f.HasChain(a.Table, a.Name)
}

// ask calls a function of the module iptables on the chain, and gives what it complains of; "" is nothing.
func (a chain) ask(c *states.Call, function string) (string, error) {
	v, err := c.Salt("iptables."+function, nil, a.Table, a.Name, a.Family)
	if v == true {
		v = ""
	}
	return strings.TrimSpace(loader.Text(v)), err
}

func changes(name any) *payload.Map { return payload.M("locale", name) }

func chainPresent(c *states.Call, a chain) (states.Plan, error) {
	there, err := a.look(c)
	if err != nil {
		return states.Plan{}, err
	}
	what := "iptables " + a.Name + " chain "
	if there {
		return states.Correct(what + "is already exist in " + a.Table + " table for " + a.Family), nil
	}
	return states.Would(what+"in "+a.Table+" table needs to be set for "+a.Family, nil, func() (states.Done, error) {
		if wrong, err := a.ask(c, "new_chain"); wrong != "" || err != nil {
			return a.failed("create", wrong, err)
		}
		return states.Changed(what+"in "+a.Table+" table create success for "+a.Family, changes(a.Name))
	}), nil
}

func (a chain) failed(do, wrong string, err error) (states.Done, error) {
	if err != nil {
		return states.Done{}, err
	}
	return states.Failed("Failed to "+do+" "+a.Name+" chain in "+a.Table+" table: "+wrong+" for "+a.Family, nil)
}

func chainAbsent(c *states.Call, a chain) (states.Plan, error) {
	there, err := a.look(c)
	if err != nil {
		return states.Plan{}, err
	}
	what := "iptables " + a.Name + " chain "
	if !there {
		return states.Correct(what + "is already absent in " + a.Table + " table for " + a.Family), nil
	}
	return states.Would(what+"in "+a.Table+" table needs to be removed "+a.Family, nil, func() (states.Done, error) {
		for _, do := range []string{"flush", "delete"} {
			function := do
			if do == "delete" {
				function = "delete_chain"
			}
			if wrong, err := a.ask(c, function); wrong != "" || err != nil {
				return a.failed(do, wrong, err)
			}
		}
		return states.Changed(what+"in "+a.Table+" table delete success for "+a.Family, changes(a.Name))
	}), nil
}

type other struct {
	chain
	KW *payload.Map `arg:"**kwargs"`
}

func setPolicy(c *states.Call, a other) (states.Plan, error) {
	for _, key := range []string{"chain", "policy"} {
		if !a.KW.Has(key) {
			return states.Plan{}, loader.Raise("KeyError", "'%s'", key)
		}
	}
	of, policy := python.Str(a.KW.Value("chain")), python.Str(a.KW.Value("policy"))
	f, err := iptables.New(c.Call, a.Family)
	if err != nil {
		return states.Plan{}, err
	}
	now, err := f.Policy(a.Table, of)
	if err != nil {
		return states.Plan{}, err
	}
	what := "iptables default policy for chain " + of + " on table " + a.Table + " for " + a.Family
	if now == policy {
		return states.Correct(what + " already set to " + policy), nil
	}
	return states.Would(what+" needs to be set to "+policy, nil, func() (states.Done, error) {
		wrong, err := c.Salt("iptables.set_policy", nil, a.Table, of, policy, a.Family)
		switch {
		case err != nil:
			return states.Done{}, err
		case python.Truth(wrong):
			return states.Failed("Failed to set iptables default policy", nil)
		}
		told, to := "Set", of+" to "+policy+" family "+a.Family
		if file, wanted := saveTo(a.KW); wanted {
			if _, err := f.Save(file); err != nil {
				return states.Done{}, err
			}
			told = "Set and saved"
		}
		return states.Changed(told+" default policy for "+to, changes(a.Name))
	}), nil
}

// saveTo tells whether the rules are to be saved, and in which file; "" is that of the host.
func saveTo(kw *payload.Map) (file string, wanted bool) {
	v := kw.Value("save")
	if v == true {
		return "", true
	}
	return python.Str(v), python.Truth(v)
}

func flush(c *states.Call, a other) (states.Plan, error) {
	of := loader.Text(a.KW.Value("chain"))
	would := "iptables rules in " + a.Name + " table " + a.Table + " chain " + a.Family + " family needs to be flushed"
	return states.Would(would, nil, func() (states.Done, error) {
		wrong, err := c.Salt("iptables.flush", nil, a.Table, of, a.Family)
		switch {
		case err != nil:
			return states.Done{}, err
		case python.Truth(wrong):
			return states.Failed("Failed to flush iptables rules", nil)
		}
		return states.Changed("Flush iptables rules in "+a.Table+" table "+of+" chain "+a.Family+" family", changes(a.Name))
	}), nil
}

type together struct {
	Low     *payload.Map `arg:"low"`
	Chunks  []any        `arg:"chunks"`
	Running *payload.Map `arg:"running"`
}

// aggregate has a chunk set the rules of others of its function that have not run yet. Unlike Salt: its own rule is
// among them, which Salt loses.
func aggregate(_ *loader.Call, a together) (*payload.Map, error) {
	function := a.Low.Str("fun")
	if function != appends.name && function != inserts.name {
		return a.Low, nil
	}
	rules := []any{a.Low.Clone()}
	for _, v := range a.Chunks {
		chunk, ok := v.(*payload.Map)
		if !ok || chunk == a.Low || chunk.Str("state") != "iptables" || chunk.Str("fun") != function ||
			chunk.Has("__agg__") || a.Running.Has(low.Tag(chunk)) {
			continue
		}
		rules = append(rules, chunk.Clone())
		chunk.Set("__agg__", true)
	}
	if len(rules) > 1 {
		a.Low.Set("rules", append(slices.Clone(a.Low.List("rules")), rules...))
	}
	return a.Low, nil
}
