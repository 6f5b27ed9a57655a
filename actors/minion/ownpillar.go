package minion

import (
	"context"
	"sync/atomic"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
)

// ownPillarTimeout bounds one compilation on this machine.
const ownPillarTimeout = 3 * time.Minute

// ownPillar is the pillar of a minion that compiles it itself (file_client: local).
type ownPillar struct {
	source loader.PillarSource         // nil: masters compile it
	data   atomic.Pointer[payload.Map] // for jobs of no master; the others find theirs at their link
}

// compile compiles it. The environments are those of the question where asked has none.
func (o *ownPillar) compile(ctx context.Context, q loader.PillarQuery, asked pillarQuestion) (*payload.Map, error) {
	ctx, cancel := context.WithTimeout(ctx, ownPillarTimeout)
	defer cancel()
	if q.Saltenv == "" {
		q.Saltenv = asked.saltenv
	}
	if q.Pillarenv == "" {
		q.Pillarenv = asked.pillarenv
	}
	return o.source.Compile(ctx, q)
}

// at is where the pillar of a link is kept; of none, with nil.
func (o *ownPillar) at(l *link) *atomic.Pointer[payload.Map] {
	if l == nil {
		return &o.data
	}
	return &l.pillarData
}
