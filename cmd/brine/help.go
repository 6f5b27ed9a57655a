package main

import (
	"fmt"
	"strings"
)

// ownHelp is brine without a tool's name: its version, or what it can be.
func ownHelp(c *call) error {
	if len(c.args) > 0 && c.args[0] == "--version" {
		fmt.Fprintf(c.stdout, "brine %s (Salt %s)\n", version, saltVersion)
		return nil
	}
	var b strings.Builder
	b.WriteString("Usage: brine TOOL [options]\n\nTools:\n")
	for _, t := range tools() {
		if t.hidden {
			continue
		}
		fmt.Fprintf(&b, "  %-13s %s\n", t.name, t.what)
	}
	if len(c.args) > 0 && c.args[0] != "-h" && c.args[0] != "--help" {
		return exit(exitUsage, "%s\nbrine: error: no such tool: %s", b.String(), c.args[0])
	}
	fmt.Fprint(c.stdout, b.String())
	return nil
}
