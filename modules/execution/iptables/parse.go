package iptables

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python/shlex"
)

// parse reads what iptables-save wrote: {table: {chain: {policy, packet count, byte count, rules, rules_comment}}}.
func parse(text string) (*payload.Map, error) {
	out, table := payload.NewMap(0), payload.NewMap(0)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "*"):
			table = payload.NewMap(0)
			out.Set(strings.ReplaceAll(line, "*", ""), table)
		case strings.HasPrefix(line, ":"):
			words := strings.Fields(line)
			if len(words) < 3 {
				return nil, loader.ExecErr("a line of saved rules is no chain: %s", line)
			}
			packets, size, _ := strings.Cut(strings.Trim(words[2], "[]"), ":")
			table.Set(strings.ReplaceAll(words[0], ":", ""), payload.M("policy", words[1], "packet count", packets,
				"byte count", size, "rules", []any{}, "rules_comment", payload.NewMap(0)))
		case strings.HasPrefix(line, "-A"):
			if err := addRule(table, line); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// addRule adds the rule of a line to its chain.
func addRule(table *payload.Map, line string) error {
	words, err := shlex.Split(line)
	if err != nil {
		return loader.ExecErr("a saved rule cannot be read: %s: %v", line, err)
	}
	found := map[string][]any{}
	for _, option := range paired(words) {
		name, ok := short[option[0]]
		if !ok {
			name = strings.TrimPrefix(option[0], "--")
			if name == option[0] || !slices.Contains(strings.Fields(listed), name) {
				continue
			}
		}
		found[name] = append(found[name], option[1])
	}
	rule := payload.NewMap(0)
	for name := range strings.FieldsSeq(listed) {
		if values := found[name]; len(values) > 0 && name != "append" {
			rule.Set(name, values)
		}
	}
	if len(found["append"]) == 0 {
		return loader.ExecErr("a saved rule names no chain: %s", line)
	}
	chain := table.Map(found["append"][0].(string))
	if chain == nil {
		return loader.ExecErr("a saved rule is of an unknown chain: %s", line)
	}
	if comment := found["comment"]; len(comment) > 0 {
		chain.Map("rules_comment").Set(strings.Trim(comment[0].(string), `"`), rule)
	}
	chain.Set("rules", append(chain.List("rules"), rule))
	return nil
}

// paired are options with their values, joined by a blank each. One that is negated has "!" before its value.
func paired(words []string) (out [][2]string) {
	isOption := func(i int) bool { return i < len(words) && strings.HasPrefix(words[i], "-") }
	for i := 0; i < len(words); {
		var value []string
		if words[i] == "!" && isOption(i+1) {
			value = append(value, "!")
			i++
		}
		if !isOption(i) {
			i++
			continue
		}
		option := words[i]
		for i++; i < len(words) && !isOption(i) && words[i] != "!"; i++ {
			value = append(value, words[i])
		}
		if i < len(words) && words[i] == "!" && len(value) == 0 && !isOption(i+1) {
			i++ // a lone mark is passed over
		}
		out = append(out, [2]string{option, strings.Join(value, " ")})
	}
	return out
}
