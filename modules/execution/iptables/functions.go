package iptables

import (
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

func version(c *loader.Call, a ofFamily) (string, error) {
	f, err := New(c, a.Family)
	if err != nil {
		return "", err
	}
	out, err := f.run(f.path + " --version")
	if words := strings.Fields(out.Stdout); len(words) > 1 {
		return words[1], err
	}
	return "", err
}

func buildRule(c *loader.Call, a built) (string, error) {
	rule, err := Rule(a.KW)
	if err != nil || !a.Full {
		return rule, err
	}
	f, err := New(c, a.Family)
	if err != nil {
		return "", err
	}
	return f.Full(Place{Table: a.Table, Chain: a.Chain, Position: a.Position}, a.Command, rule)
}

// Place is where a rule is.
type Place struct{ Table, Chain, Position string }

// Full is the command that does something with a rule.
func (f *Filter) Full(p Place, command, rule string) (string, error) {
	switch {
	case p.Table == "":
		return noTable, nil
	case p.Chain == "":
		return noChain, nil
	case command == "":
		return noCommand, nil
	}
	flag := "--"
	if strings.Contains("ACDIRLSFZNXPE", command) {
		flag = "-"
	}
	return f.line(p.Table, flag+command, p.Chain, p.Position, rule)
}

func getSavedRules(c *loader.Call, a inFile) (*payload.Map, error) {
	f, err := New(c, a.Family)
	if err != nil {
		return nil, err
	}
	return f.Kept(a.File)
}

func getRules(c *loader.Call, a ofFamily) (*payload.Map, error) {
	f, err := New(c, a.Family)
	if err != nil {
		return nil, err
	}
	return f.Rules()
}

func getSavedPolicy(c *loader.Call, a chainedInFile) (any, error) {
	if a.Chain == "" {
		return noChain, nil
	}
	rules, err := getSavedRules(c, a.inFile)
	return rules.Map(a.Table).Map(a.Chain).Value("policy"), err
}

func getPolicy(c *loader.Call, a chained) (any, error) {
	if a.Chain == "" {
		return noChain, nil
	}
	f, err := New(c, a.Family)
	if err != nil {
		return nil, err
	}
	return f.Policy(a.Table, a.Chain)
}

// Policy is that of a chain; nil where there is no such chain.
func (f *Filter) Policy(table, chain string) (any, error) {
	rules, err := f.Rules()
	return rules.Map(table).Map(chain).Value("policy"), err
}

func check(c *loader.Call, a ruled) (any, error) {
	if a.Chain == "" {
		return noChain, nil
	}
	if a.Rule == "" {
		return noRule, nil
	}
	f, err := New(c, a.Family)
	if err != nil {
		return nil, err
	}
	return f.Check(a.Table, a.Chain, a.Rule)
}

// Check tells whether there is a rule.
func (f *Filter) Check(table, chain, rule string) (bool, error) {
	if err := names(table, chain); err != nil {
		return false, err
	}
	can, err := f.has("--check")
	if err != nil {
		return false, err
	}
	if !can {
		return f.checkByTrial(table, chain, rule)
	}
	out, err := f.run(f.path + " -t " + table + " -C " + chain + " " + rule)
	return err == nil && out.Code == 0, err
}

// checkByTrial sets the rule in a chain of its own and looks for it among those of the chain: for old programs.
func (f *Filter) checkByTrial(table, chain, rule string) (bool, error) {
	const trial = "brine-check"
	for _, line := range []string{" -N " + trial, " -A " + trial + " " + rule} {
		if _, err := f.run(f.path + " -t " + table + line); err != nil {
			return false, err
		}
	}
	text, err := f.saved("")
	for _, line := range []string{" -F " + trial, " -X " + trial} {
		if _, err := f.run(f.path + " -t " + table + line); err != nil {
			return false, err
		}
	}
	all := "\n" + text + "\n"
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "-A "+trial); ok && strings.Contains(all, "\n-A "+chain+rest+"\n") {
			return true, err
		}
	}
	return false, err
}

func checkChain(c *loader.Call, a chained) (any, error) {
	if a.Chain == "" {
		return noChain, nil
	}
	f, err := New(c, a.Family)
	if err != nil {
		return nil, err
	}
	return f.HasChain(a.Table, a.Chain)
}

// HasChain tells whether a table has a chain.
func (f *Filter) HasChain(table, chain string) (bool, error) {
	if err := names(table, chain); err != nil {
		return false, err
	}
	text, err := f.saved(table)
	return strings.Contains(text, ":"+chain+" "), err
}

// answer is what functions that change something say: the program's complaint, which is true where it has none.
func answer(text string, err error) (any, error) {
	if text == "" {
		return true, err
	}
	return text, err
}

// on runs a command on a chain.
func on(c *loader.Call, family, table, chain string, words ...string) (string, error) {
	f, err := New(c, family)
	if err != nil {
		return "", err
	}
	if err := names(table, chain); err != nil {
		return "", err
	}
	return f.do(table, words...)
}

func setPolicy(c *loader.Call, a withPolicy) (string, error) {
	switch {
	case a.Chain == "":
		return noChain, nil
	case a.Policy == "":
		return noPolicy, nil
	}
	if err := names(a.Policy); err != nil {
		return "", err
	}
	return on(c, a.Family, a.Table, a.Chain, "-P", a.Chain, a.Policy)
}

func save(c *loader.Call, a savedTo) (string, error) {
	f, err := New(c, a.Family)
	if err != nil {
		return "", err
	}
	return f.Save(a.File)
}

func newChain(c *loader.Call, a chained) (any, error) {
	if a.Chain == "" {
		return noChain, nil
	}
	return answer(on(c, a.Family, a.Table, a.Chain, "-N", a.Chain))
}

func deleteChain(c *loader.Call, a chained) (any, error) {
	if a.Chain == "" {
		return noChain, nil
	}
	return answer(on(c, a.Family, a.Table, a.Chain, "-X", a.Chain))
}

func appendRule(c *loader.Call, a ruled) (any, error) {
	there, err := check(c, a)
	if err != nil {
		return nil, err
	}
	if text, isText := there.(string); isText {
		return text, nil
	}
	if there == true {
		return false, nil
	}
	text, err := on(c, a.Family, a.Table, a.Chain, "-A", a.Chain, a.Rule)
	return text == "", err
}

func insert(c *loader.Call, a placed) (any, error) {
	switch {
	case a.Chain == "":
		return noChain, nil
	case !python.Truth(a.Position):
		return noPosition, nil
	case a.Rule == "":
		return noRule, nil
	}
	position, err := loader.ToInt(a.Position)
	if err != nil {
		return nil, err
	}
	if position < 0 {
		rules, err := getRules(c, a.ofFamily)
		if err != nil {
			return nil, err
		}
		chain := rules.Map(a.Table).Map(a.Chain)
		if chain == nil {
			return nil, loader.ExecErr("there is no chain %s in the table %s", a.Chain, a.Table)
		}
		position = max(int64(len(chain.List("rules")))+position+1, 1)
	}
	there, err := check(c, ruled{a.ofChain, a.Rule, a.ofFamily})
	if err != nil {
		return nil, err
	}
	if there == true {
		return false, nil
	}
	return on(c, a.Family, a.Table, a.Chain, "-I", a.Chain, strconv.FormatInt(position, 10), a.Rule)
}

func deleteRule(c *loader.Call, a deleted) (string, error) {
	rule := a.Rule
	if python.Truth(a.Position) {
		if rule != "" {
			return "Error: Only specify a position or a rule, not both", nil
		}
		position, err := loader.ToInt(a.Position)
		if err != nil {
			return "", err
		}
		rule = strconv.FormatInt(position, 10)
	}
	return on(c, a.Family, a.Table, a.Chain, "-D", a.Chain, rule)
}

func flush(c *loader.Call, a flushed) (string, error) {
	return on(c, a.Family, a.Table, a.Chain, "-F", a.Chain)
}
