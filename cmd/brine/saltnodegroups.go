package main

import (
	"fmt"
	"strings"

	"brine/modules/matchers"
)

// withoutNodegroups puts the words of node groups in the place of N@name.
func (s *session) withoutNodegroups(words []string) ([]string, error) {
	var out []string
	for _, w := range words {
		name, ok := strings.CutPrefix(w, "N@")
		if !ok || name == "" {
			out = append(out, w)
			continue
		}
		group, err := s.nodegroup(name)
		if err != nil {
			return nil, err
		}
		out = append(out, group...)
	}
	return out, nil
}

// nodegroup is the compound target that a node group stands for.
func (s *session) nodegroup(name string) ([]string, error) {
	if !s.master.Nodegroups.Has(name) {
		return nil, &refusal{fmt.Sprintf("Node group %s unavailable in %s", name, s.master.ConfFile)}
	}
	words, err := matchers.Nodegroup(name, s.master.Nodegroups)
	if err != nil {
		s.log.Error(err.Error())
	}
	return words, nil
}
