package main

import (
	"context"
	"fmt"
	"strings"

	"brine/modules/keys"
	"brine/modules/matchers"
	"brine/modules/pytext"
	"brine/modules/returners"
	"brine/wire/payload"
)

// wireTarget is the target as it goes to the master, with node groups written out.
func (t *saltTool) wireTarget() (tgt any, tgtType string, err error) {
	switch t.cmd.tgtType {
	case "nodegroup":
		words, err := t.nodegroup(pytext.Str(t.cmd.tgt))
		return strings.Join(words, " "), "compound", err
	case "compound":
		words, err := t.withoutNodegroups(strings.Fields(pytext.Str(t.cmd.tgt)))
		return strings.Join(words, " "), "compound", err
	}
	return t.cmd.tgt, t.cmd.tgtType, nil
}

// withoutNodegroups puts the words of node groups in the place of N@name.
func (t *saltTool) withoutNodegroups(words []string) ([]string, error) {
	var out []string
	for _, w := range words {
		name, ok := strings.CutPrefix(w, "N@")
		if !ok || name == "" {
			out = append(out, w)
			continue
		}
		group, err := t.nodegroup(name)
		if err != nil {
			return nil, err
		}
		out = append(out, group...)
	}
	return out, nil
}

// nodegroup is the compound target that a node group stands for.
func (t *saltTool) nodegroup(name string) ([]string, error) {
	if !t.master.Nodegroups.Has(name) {
		return nil, &refusal{fmt.Sprintf("Node group %s unavailable in %s", name, t.master.ConfFile)}
	}
	words, err := matchers.Nodegroup(name, t.master.Nodegroups)
	if err != nil {
		t.log.Error(err.Error())
	}
	return words, nil
}

// preview shows which minions the target means by the keys and the cached data of the master.
func (t *saltTool) preview() error {
	ids, err := t.expand()
	if err != nil {
		return err
	}
	if err := t.display(payload.AnyList(ids), show{}); err != nil {
		return err
	}
	if len(ids) == 0 {
		return exit(exitNoReturn, "ERROR: No return received")
	}
	return nil
}

// expand works the target out from the files of the master.
func (t *saltTool) expand() ([]string, error) {
	found, err := t.expander().Expand(context.Background(), t.cmd.tgt, t.cmd.tgtType, t.opt.Str("delimiter"), true)
	if err != nil {
		t.log.Error(err.Error())
	}
	return found.Minions, nil
}

// expander works targets out from the files of the master.
func (s *session) expander() *matchers.Expander {
	return &matchers.Expander{Source: masterFiles{s.keyTool().store, s.cache()}, Nodegroups: s.master.Nodegroups,
		DataCache: s.master.MinionDataCache}
}

// masterFiles are the keys and the cached data of a master on this machine, as targets need them.
type masterFiles struct {
	keys *keys.Store
	*returners.Banks
}

// Accepted lists the ids with an accepted key.
func (f masterFiles) Accepted() ([]string, error) { return f.keys.IDs(keys.Accepted) }
