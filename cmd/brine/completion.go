package main

import (
	"fmt"
	"strings"

	"brine/cmd/options"
	"brine/cmd/tool"
)

// completion prints the completion of all tools for bash: the names behind brine, and the options. bash
// completes other words as files.
func completion(c *tool.Call) error {
	p := options.NewParser(c, "%prog", "Prints the completion of all tools for bash.")
	p.Usage = "brine completion"
	v, err := p.Parse(c.Args)
	if err != nil {
		return err
	}
	if len(v.Args) != 0 {
		return p.Errorf("no words are wanted")
	}
	var b strings.Builder
	b.WriteString("# Made by brine completion.\n_brine() {\n  local tool=${1##*/} cur=${COMP_WORDS[COMP_CWORD]} " +
		"words=\n  COMPREPLY=()\n")
	b.WriteString("  if [ \"$tool\" = brine ]; then\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n")
	var names, linked []string
	for _, t := range shown() {
		names = append(names, t.name)
		if t.link {
			linked = append(linked, t.name)
		}
	}
	fmt.Fprintf(&b, "      COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n      return\n    fi\n    "+
		"tool=${COMP_WORDS[1]}\n  fi\n", strings.Join(names, " "))
	b.WriteString("  [[ $cur == -* ]] || return 0\n  case $tool in\n")
	for _, t := range shown() {
		own, err := t.commandLine()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "    %s) words='%s' ;;\n", t.name, strings.Join(own.Flags(), " "))
	}
	fmt.Fprintf(&b, "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _brine "+
		"brine %s\n", strings.Join(linked, " "))
	_, err = fmt.Fprint(c.Stdout, b.String())
	return err
}
