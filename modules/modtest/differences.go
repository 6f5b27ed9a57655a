package modtest

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
)

// Difference is one grain that may differ from Salt's on the same host: an entry of
// modules/grains/testdata/differences.json, whose README explains the words.
type Difference struct {
	Key    string `json:"key"`
	Rule   string `json:"rule"` // any, type, absent, extra
	When   string `json:"when"` // "" (always), host, id
	Reason string `json:"reason"`
}

// GrainDifferences compares the grains of Salt (want) and brine (got) and describes every difference that the list in
// the file does not allow, and every entry of the list that is out of date. sameID says that both minions have one id.
func GrainDifferences(file string, want, got map[string]any, sameID bool) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []Difference
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	allowed, keys := map[string]Difference{}, map[string]bool{}
	for _, d := range list {
		if d.When == "id" && sameID {
			continue
		}
		allowed[d.Key], keys[d.Key] = d, true
	}
	for _, grains := range []map[string]any{want, got} {
		for key := range grains {
			keys[key] = true
		}
	}
	var out []string
	for key := range keys {
		rule, d := ruleFor(want, got, key), allowed[key]
		switch {
		case rule != "" && rule != d.Rule && d.Rule != "any":
			out = append(out, fmt.Sprintf("%s (%s): got %v, Salt has %v", key, rule, got[key], want[key]))
		case rule == "" && d.Rule != "" && d.When != "host":
			out = append(out, fmt.Sprintf("%s does not differ from Salt's; the list says it does: %s", key, d.Reason))
		}
	}
	slices.Sort(out)
	return out, nil
}

// ruleFor names the rule that allows what differs in one grain, "" when nothing does.
func ruleFor(want, got map[string]any, key string) string {
	w, inWant := want[key]
	g, inGot := got[key]
	switch {
	case inWant && !inGot:
		return "absent"
	case inGot && !inWant:
		return "extra"
	case reflect.DeepEqual(w, g):
		return ""
	case reflect.TypeOf(w) == reflect.TypeOf(g):
		return "type"
	}
	return "any"
}
