package facts

import (
	"context"
	"time"

	"brine/actors/minion/link"
	"brine/modules/loader"
	"brine/wire/payload"
)

// ownPillarTimeout bounds one compilation on this machine.
const ownPillarTimeout = 3 * time.Minute

// pillarVersion is the form of the private reply (not the protocol version).
const pillarVersion = "2"

// Question is whose pillar is asked for, in which environments; "": in none.
type Question struct {
	ID, Saltenv, Pillarenv string
	Passed                 *payload.Map // for external pillars (pass_to_ext_pillars)
}

// load is a _pillar request in Salt's order (salt/pillar/__init__.py, RemotePillar.compile_pillar).
func (q Question) load(grains *payload.Map) *payload.Map {
	return payload.M("id", q.ID, "grains", grains, "saltenv", textOrNil(q.Saltenv), "pillarenv", textOrNil(q.Pillarenv),
		"pillar_override", payload.NewMap(0), "extra_minion_data", q.extra(), "ver", pillarVersion, "cmd",
		payload.CmdPillar)
}

// extra is what external pillars get, a map in any case.
func (q Question) extra() *payload.Map {
	if q.Passed == nil {
		return payload.NewMap(0)
	}
	return q.Passed
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// compile compiles the pillar on this machine. The environments are those of the question where q has none.
func compile(ctx context.Context, source loader.PillarSource, q loader.PillarQuery, asked Question) (*payload.Map,
	error) {
	ctx, cancel := context.WithTimeout(ctx, ownPillarTimeout)
	defer cancel()
	if q.Saltenv == "" {
		q.Saltenv = asked.Saltenv
	}
	if q.Pillarenv == "" {
		q.Pillarenv = asked.Pillarenv
	}
	return source.Compile(ctx, q)
}

// CompilePillar gets a fresh pillar without keeping it: from the master, or from source where there is one.
func CompilePillar(ctx context.Context, source loader.PillarSource, asked Question, f *Facts, l *link.Link,
	q loader.PillarQuery) (*payload.Map, error) {
	if source != nil {
		return compile(ctx, source, q, asked)
	}
	if l == nil {
		return nil, link.ErrNoMaster
	}
	load := asked.load(f.Of(l).Grains())
	load.Set("saltenv", textOrNil(q.Saltenv)).Set("pillarenv", textOrNil(q.Pillarenv))
	if q.Override.Len() > 0 {
		load.Set("pillar_override", q.Override)
	}
	if q.Ext != nil {
		load.Set("ext", q.Ext)
	}
	return l.Pillar(ctx, load)
}
