package main

import (
	"context"
	"strings"

	"brine/modules/pytext"
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
