package main

import (
	"fmt"
	"strings"

	"brine/cmd/tool"
)

// ownHelp is brine without the name of a tool: it prints the version or the list of tools.
func ownHelp(c *tool.Call) error {
	if len(c.Args) > 0 && c.Args[0] == "--version" {
		fmt.Fprintf(c.Stdout, "brine %s (Salt %s)\n", tool.Version, tool.SaltVersion)
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
	if len(c.Args) > 0 && c.Args[0] != "-h" && c.Args[0] != "--help" {
		return tool.Exit(tool.ExitUsage, "%s\nbrine: error: no such tool: %s", b.String(), c.Args[0])
	}
	fmt.Fprint(c.Stdout, b.String())
	return nil
}
