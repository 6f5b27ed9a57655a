// Package mine answers who may read what of the minions' mines: the questions of minions and of the runner mine.get, in
// the master and in tools that read the same files. It stores nothing. Answers to salt/daemons/masterapi.py (_mine_get)
// and salt/utils/mine.py.
package mine

import (
	"context"
	"slices"
	"strings"
	"time"

	"brine/modules/eauth"
	"brine/wire/payload"
)

// Keys of an entry that carries its own access rule (salt/utils/mine.py).
const (
	ruleKey = "__saltmine_acl__"
	dataKey = "__data__"
)

// ruleTime bounds the work on the rule of one entry.
const ruleTime = 300 * time.Millisecond

// Reader reads the mines of one master.
type Reader struct {
	Opts *payload.Map // the master's options; read: mine_get
	// Mine is what a minion offers; nil when it offers nothing.
	Mine func(id string) (*payload.Map, error)
	// Expand is who a target means; greedy counts minions that nothing is known of as well. An error means nobody.
	Expand func(ctx context.Context, tgt any, tgtType string, greedy bool) ([]string, error)
}

// Question asks for the values of functions in the mines of some minions.
type Question struct {
	Asker   string // id of the minion that asks; the master's own for a runner
	Tgt     any
	TgtType string // "" is glob
	Fun     any    // one name, a comma list, or a list
}

// Get collects the values of one function (id → value), or of several (function → id → value), as far as the option
// mine_get and the rules of the entries allow. An error means that ctx ended.
func (r *Reader) Get(ctx context.Context, q Question) (*payload.Map, error) {
	funs, several := functions(q.Fun)
	funs = r.allowed(q.Asker, funs)
	out := payload.NewMap(0)
	if len(funs) == 0 {
		return out, nil
	}
	ids, _ := r.Expand(ctx, q.Tgt, exact(q.TgtType), false) // what cannot be worked out means nobody
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		data, err := r.Mine(id)
		if err != nil || data == nil {
			continue
		}
		for _, fun := range funs {
			v, ok := data.Get(fun)
			if ok {
				v, ok = r.open(ctx, v, q.Asker)
			}
			switch {
			case !ok:
			case !several:
				out.Set(id, v)
			default:
				if !out.Has(fun) {
					out.Set(fun, payload.NewMap(1))
				}
				out.Map(fun).Set(id, v)
			}
		}
	}
	return out, nil
}

// functions reads fun. Several are asked for by a list, of one name too, or by a text with a comma between two names.
func functions(v any) (funs []string, several bool) {
	switch v := v.(type) {
	case string:
		for f := range strings.SplitSeq(v, ",") {
			if !slices.Contains(funs, f) {
				funs = append(funs, f)
			}
		}
		return funs, len(funs) > 1
	case []any:
		for _, f := range v {
			if name, ok := f.(string); ok {
				funs = append(funs, name)
			}
		}
	}
	return funs, true
}

// Functions tells whether fun names any function.
func Functions(fun any) bool { funs, _ := functions(fun); return len(funs) > 0 }

// allowed applies the option mine_get: {id pattern: [function patterns]}. Once it is set, what it does not name is
// forbidden, to the runner too.
func (r *Reader) allowed(id string, funs []string) []string {
	rules, set := r.Opts.Get("mine_get")
	if !set {
		return funs
	}
	lists := payload.NewMap(0)
	if m, ok := rules.(*payload.Map); ok {
		for who, what := range m.All() {
			if list, ok := what.([]any); ok { // as in Salt a lone word allows nothing
				lists.Set(who, list)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(funs), func(f string) bool { return !eauth.PeerAllowed(lists, id, f) })
}

// exact is a target type that leaves no guessing at pillars by patterns.
func exact(tgtType string) string {
	switch strings.ToLower(tgtType) {
	case "":
		return "glob"
	case "pillar":
		return "pillar_exact"
	case "compound":
		return "compound_pillar_exact"
	}
	return tgtType
}

// open unwraps an entry that carries a rule; not ok when the rule excludes who asks.
func (r *Reader) open(ctx context.Context, v any, asker string) (any, bool) {
	entry, ok := v.(*payload.Map)
	if !ok || !entry.Has(ruleKey) {
		return v, true
	}
	if tgt, limited := entry.Get("allow_tgt"); limited {
		tgtType := entry.Str("allow_tgt_type")
		if tgtType == "" {
			tgtType = "glob"
		}
		// The rule is of the minion whose mine it is: it must not use up the time of who asks.
		ctx, cancel := context.WithTimeout(ctx, ruleTime)
		defer cancel()
		ids, err := r.Expand(ctx, tgt, tgtType, true)
		if err != nil || !slices.Contains(ids, asker) {
			return nil, false
		}
	}
	return entry.Get(dataKey) // Unlike Salt: an entry without data is passed over, it breaks no question
}
