package salt

import (
	"context"
	"strings"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/wire/payload"
	"brine/wire/python"
)

// wireTarget is the target as the master gets it, with node groups written out.
func (t *saltTool) wireTarget() (tgt any, tgtType string, err error) {
	switch t.cmd.tgtType {
	case "nodegroup":
		words, err := masterlink.Nodegroup(t.Session, python.Str(t.cmd.tgt))
		return strings.Join(words, " "), "compound", err
	case "compound":
		words, err := masterlink.WithoutNodegroups(t.Session, strings.Fields(python.Str(t.cmd.tgt)))
		return strings.Join(words, " "), "compound", err
	}
	return t.cmd.tgt, t.cmd.tgtType, nil
}

// preview shows which minions the target matches, according to the master's keys and cached data.
func (t *saltTool) preview() error {
	ids, err := t.expand()
	if err != nil {
		return err
	}
	if err := display.Show(t.Session, payload.AnyList(ids), display.How{}); err != nil {
		return err
	}
	if len(ids) == 0 {
		return tool.Exit(tool.ExitNoReturn, "ERROR: No return received")
	}
	return nil
}

// expand computes the target's minions from the files of the master.
func (t *saltTool) expand() ([]string, error) {
	found, err := masterlink.Expander(t.Session).Expand(context.Background(), t.cmd.tgt, t.cmd.tgtType,
		t.Opt.Str("delimiter"), true)
	if err != nil {
		t.Log.Error(err.Error())
	}
	return found.Minions, nil
}
