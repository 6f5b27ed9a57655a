package main

import (
	"slices"
	"strings"
)

// waitsFor names parts of Salt that brine does not have yet, by tool and by the beginning of a word on its
// command line. Remove an entry when its part is there. The changelog's "not yet" list says the same to
// operators.
var waitsFor = map[string]map[string]string{
	"salt": {
		"state.":   "states",
		"-I":       "pillar rendering",
		"pillar.":  "pillar rendering",
		"--return": "returners on minions",
	},
	"salt-call": {
		"state.":  "states",
		"pillar.": "pillar rendering",
		"match.":  "execution module match",
	},
	"salt-run": {
		"state.orchestrate": "states",
		"pillar.":           "pillar rendering",
		"cache.pillar":      "pillar rendering",
	},
}

// onMinion are the reasons that do not apply to minions of Salt.
var onMinion = []string{"states", "pillar rendering", "returners on minions"}

// waits says why brine cannot answer the case yet, or "". daemons is as in runGolden.
func (c *goldenCase) waits(daemons string) string {
	if goldenBin() != "" {
		return ""
	}
	if _, ok := findTool(c.Argv[0]); !ok {
		return "no " + c.Argv[0] + " yet"
	}
	for _, word := range c.Argv[1:] {
		for prefix, why := range waitsFor[c.Argv[0]] {
			if strings.HasPrefix(word, prefix) && (daemons == "" || c.Argv[0] != "salt" || !slices.Contains(onMinion,
				why)) {
				return why
			}
		}
	}
	if daemons != "" && c.Concerns == "version" && !strings.Contains(daemons, "3008") {
		return "the daemons are of another release"
	}
	if daemons == "" && strings.Contains(c.Setup, "state.") {
		return "states"
	}
	if !c.alone() && slices.ContainsFunc([]string{"salt", "salt-master", "salt-minion"}, func(name string) bool {
		_, ok := findTool(name)
		return !ok
	}) {
		return "needs a running fleet"
	}
	return ""
}
