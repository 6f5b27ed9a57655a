package masterlink

import (
	"fmt"
	"strings"

	"brine/cmd/session"
	"brine/modules/matchers"
)

// WithoutNodegroups replaces each N@name by the words of that node group.
func WithoutNodegroups(s *session.Session, words []string) ([]string, error) {
	var out []string
	for _, w := range words {
		name, ok := strings.CutPrefix(w, "N@")
		if !ok || name == "" {
			out = append(out, w)
			continue
		}
		group, err := Nodegroup(s, name)
		if err != nil {
			return nil, err
		}
		out = append(out, group...)
	}
	return out, nil
}

// Nodegroup returns the compound target of a node group.
func Nodegroup(s *session.Session, name string) ([]string, error) {
	if !s.Master.Nodegroups.Has(name) {
		return nil, &Refusal{fmt.Sprintf("Node group %s unavailable in %s", name, s.Master.ConfFile)}
	}
	words, err := matchers.Nodegroup(name, s.Master.Nodegroups)
	if err != nil {
		s.Log.Error(err.Error())
	}
	return words, nil
}
