// Package iptables is the execution module iptables: it looks at, builds, adds and deletes rules of the packet filter by
// the programs iptables and ip6tables. Filter is one of them, for the states of that name. It answers to
// salt/modules/iptables.py.
package iptables

import (
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module iptables.
func Module() loader.Module {
	return loader.Module{File: "iptables", Virtual: virtual, Funcs: func() []loader.Func {
		return append(looking(), changing()...)
	}}
}

func virtual(loader.Place) (bool, string) {
	if program.Which("iptables") == "" {
		return false, "The iptables execution module cannot be loaded: iptables not installed."
	}
	return true, ""
}

func looking() []loader.Func {
	return []loader.Func{
		loader.Fn("version", version, "Show the version of iptables.", "iptables.version", "iptables.version family=ipv6"),
		loader.Fn("build_rule", buildRule, "Build a rule, or with full=True the command that sets it.",
			"iptables.build_rule match=state connstate=RELATED,ESTABLISHED jump=ACCEPT",
			"iptables.build_rule filter INPUT command=A full=True source='!127.0.0.1' jump=ACCEPT"),
		loader.Fn("get_saved_rules", getSavedRules, "Show the rules in a file.", "iptables.get_saved_rules"),
		loader.Fn("get_rules", getRules, "Show the rules that hold.", "iptables.get_rules"),
		loader.Fn("get_saved_policy", getSavedPolicy, "Show the policy of a chain in a file.",
			"iptables.get_saved_policy filter INPUT"),
		loader.Fn("get_policy", getPolicy, "Show the policy of a chain.", "iptables.get_policy filter INPUT"),
		loader.Fn("check", check, "Tell whether there is a rule.",
			"iptables.check filter INPUT rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'"),
		loader.Fn("check_chain", checkChain, "Tell whether there is a chain.", "iptables.check_chain filter INPUT"),
	}
}

func changing() []loader.Func {
	return []loader.Func{
		loader.Fn("set_policy", setPolicy, "Set the policy of a chain.", "iptables.set_policy filter INPUT ACCEPT"),
		loader.Fn("save", save, "Save the rules that hold to a file.", "iptables.save /etc/sysconfig/iptables"),
		loader.Fn("new_chain", newChain, "Make a chain.", "iptables.new_chain filter CUSTOM_CHAIN"),
		loader.Fn("delete_chain", deleteChain, "Delete a chain.", "iptables.delete_chain filter CUSTOM_CHAIN"),
		loader.Fn("append", appendRule, "Append a rule to a chain.",
			"iptables.append filter INPUT rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'"),
		loader.Fn("insert", insert, "Insert a rule into a chain; a position below zero counts from the end.",
			"iptables.insert filter INPUT position=3 rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'"),
		loader.Fn("delete", deleteRule, "Delete a rule, by its text or its position.",
			"iptables.delete filter INPUT position=3"),
		loader.Fn("flush", flush, "Delete all rules of a chain, or of a table.", "iptables.flush filter INPUT"),
	}
}

// Arguments.
type (
	ofFamily struct {
		Family string `arg:"family=ipv4"`
	}
	inFile struct {
		File string `arg:"conf_file=None"`
		ofFamily
	}
	ofChain struct {
		Table string `arg:"table=filter"`
		Chain string `arg:"chain=None"`
	}
	chained struct {
		ofChain
		ofFamily
	}
	flushed struct {
		Table string `arg:"table=filter"`
		Chain string `arg:"chain=''"`
		ofFamily
	}
	chainedInFile struct {
		ofChain
		inFile
	}
	withPolicy struct {
		ofChain
		Policy string `arg:"policy=None"`
		ofFamily
	}
	ruled struct {
		ofChain
		Rule string `arg:"rule=None"`
		ofFamily
	}
	placed struct {
		ofChain
		Position any    `arg:"position=None"`
		Rule     string `arg:"rule=None"`
		ofFamily
	}
	deleted struct {
		Table    string `arg:"table"`
		Chain    string `arg:"chain=None"`
		Position any    `arg:"position=None"`
		Rule     string `arg:"rule=None"`
		ofFamily
	}
	savedTo struct {
		File string `arg:"filename=None"`
		ofFamily
	}
	built struct {
		Table    string       `arg:"table=filter"`
		Chain    string       `arg:"chain=None"`
		Command  string       `arg:"command=None"`
		Position string       `arg:"position=''"`
		Full     bool         `arg:"full=None"`
		Family   string       `arg:"family=ipv4"`
		KW       *payload.Map `arg:"**kwargs"`
	}
)

// Answers to arguments that are missing, which are no errors in the reference.
const (
	noChain    = "Error: Chain needs to be specified"
	noRule     = "Error: Rule needs to be specified"
	noPolicy   = "Error: Policy needs to be specified"
	noTable    = "Error: Table needs to be specified"
	noCommand  = "Error: Command needs to be specified"
	noPosition = "Error: Position needs to be specified or use append (-A)"
)
