package saltrun

import (
	"context"

	"brine/cmd/session"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/mine"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
)

// mineReader reads the mines of the master on this machine, with the master's own rights.
type mineReader struct {
	mine.Reader
	id string
}

func newMines(s *session.Session, targets *matchers.Expander, cache *datacache.Banks) mineReader {
	return mineReader{id: s.Master.ID, Reader: mine.Reader{Opts: s.Master.Raw, Mine: cache.Mine,
		Expand: func(ctx context.Context, tgt any, tgtType string, greedy bool) ([]string, error) {
			found, err := targets.Expand(ctx, tgt, tgtType, "", greedy)
			if err != nil {
				s.Log.Error("Failed matching available minions with "+payload.Show(tgtType)+" pattern: "+payload.Show(
					python.Str(tgt)), "err", err)
			}
			return found.Minions, err
		}}}
}

// MineGet collects the mine data of the minions that a target matches.
func (r mineReader) MineGet(ctx context.Context, tgt, fun any, tgtType string) (any, error) {
	return r.Get(ctx, mine.Question{Asker: r.id, Tgt: tgt, TgtType: tgtType, Fun: fun})
}
