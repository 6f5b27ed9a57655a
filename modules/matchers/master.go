package matchers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// Source is what a master knows of its minions. It is read while a target is expanded.
type Source interface {
	// Accepted lists the ids with an accepted key, ordered ignoring case.
	Accepted() ([]string, error)
	// Cached lists the ids whose data a bank ("grains" or "pillar") holds.
	Cached(bank string) ([]string, error)
	// Data returns the cached data of one id; nil and no error when there is none.
	Data(bank, id string) (*payload.Map, error)
	// Fields is Data, with the entries under keys at least.
	Fields(bank, id string, keys ...any) (*payload.Map, error)
}

// The banks of the data cache a target may ask for.
const (
	BankGrains = "grains"
	BankPillar = "pillar"
)

// Expander works out which minions a target means, as a master does before it publishes.
type Expander struct {
	Source     Source
	Nodegroups *payload.Map // option nodegroups
	// Groups, when set, tells the node groups of this moment; one expansion asks once.
	Groups    func() *payload.Map
	DataCache bool // option minion_data_cache
	// KeepUnknown keeps accepted minions without cached data in greedy grain and pillar expansions, so that
	// they are waited for. Masters before 3006.28, 3007.15 and 3008.3 did so; these leave them out.
	KeepUnknown bool
	Range       func(expr string) ([]string, error) // a range server; nil without
}

// Expansion is what a target means.
type Expansion struct {
	Minions []string // ids that should answer
	Missing []string // ids named in a list that have no accepted key
}

// Expand works a target out. tgtType "" is glob; the delimiter counts for grain and pillar types, "" is ":".
// Greedy is the way of publishing: minions that may match are in. Without it only minions with cached data are,
// as mine and peer permissions want it. An error says what is wrong with the target; the answer beside it is
// usable, and empty as a rule. When ctx ends, or a single match takes too long, the error wraps ErrTime and the answer
// is empty. Source: salt/utils/minions.py, CkMinions.check_minions.
func (x *Expander) Expand(ctx context.Context, tgt any, tgtType, delimiter string, greedy bool) (Expansion, error) {
	if tgtType == "" {
		tgtType = "glob"
	}
	if tgt == nil {
		tgt = ""
	}
	expand, ok := expanders[tgtType]
	if !ok {
		return Expansion{}, targetErr("unknown target type %q", tgtType)
	}
	if x.Groups != nil {
		now := *x
		now.Nodegroups, now.Groups = x.Groups(), nil
		x = &now
	}
	e := &expansion{Expander: x, delimiter: delimiter, greedy: greedy, limit: untilDone(ctx)}
	out, err := expand(e, tgt)
	if late := e.limit.reason(); late != nil {
		return Expansion{}, late
	}
	return out, err
}

// Within tells whether every minion of a target is among those the compound target valid means
// (CkMinions.validate_tgt).
func (x *Expander) Within(ctx context.Context, valid string, tgt any, tgtType string) (bool, error) {
	if valid == "*" {
		return true, nil
	}
	if strings.HasPrefix(valid, "@") {
		return false, nil
	}
	target, err := x.Expand(ctx, tgt, tgtType, "", true)
	if err != nil {
		return false, err
	}
	return x.AllWithin(ctx, valid, target.Minions)
}

// AllWithin tells whether every id is among those the compound target valid means.
func (x *Expander) AllWithin(ctx context.Context, valid string, ids []string) (bool, error) {
	if valid == "*" {
		return true, nil
	}
	if strings.HasPrefix(valid, "@") {
		return false, nil
	}
	allowed, err := x.Expand(ctx, valid, "compound", "", true)
	if err != nil {
		return false, err
	}
	in := map[string]bool{}
	for _, id := range allowed.Minions {
		in[id] = true
	}
	return !slices.ContainsFunc(ids, func(id string) bool { return !in[id] }), nil
}

// expansion is one run of Expand.
type expansion struct {
	*Expander
	delimiter string
	greedy    bool
	exact     bool // pillar words of a compound target compare exactly
	limit     *limit

	accepted []string
	loaded   bool
	known    map[string]bool // ids with cached grains
}

type expandFunc func(e *expansion, tgt any) (Expansion, error)

// expanders are the target types a master knows.
var expanders = map[string]expandFunc{
	"glob":                  (*expansion).glob,
	"pcre":                  (*expansion).pcre,
	"list":                  (*expansion).list,
	"grain":                 cached(BankGrains, ModeGlob),
	"grain_pcre":            cached(BankGrains, ModeRegexp),
	"pillar":                cached(BankPillar, ModeGlob),
	"pillar_pcre":           cached(BankPillar, ModeRegexp),
	"pillar_exact":          cached(BankPillar, ModeExact),
	"ipcidr":                (*expansion).ipcidr,
	"range":                 (*expansion).ranges,
	"compound":              (*expansion).compound,
	"compound_pillar_exact": (*expansion).compoundExact,
	"nodegroup":             (*expansion).nodegroup,
	"managing_minion":       (*expansion).glob,
}

func (e *expansion) all() ([]string, error) {
	if e.loaded {
		return e.accepted, nil
	}
	ids, err := e.Source.Accepted()
	if err != nil {
		return nil, fmt.Errorf("list accepted minions: %w", err)
	}
	e.accepted, e.loaded = ids, true
	return ids, nil
}

// filter keeps the accepted ids a test likes.
func (e *expansion) filter(keep func(id string) bool) (Expansion, error) {
	ids, err := e.all()
	if err != nil {
		return Expansion{}, err
	}
	var out []string
	for _, id := range ids {
		if e.limit.over() {
			break
		}
		if keep(id) {
			out = append(out, id)
		}
	}
	return Expansion{Minions: out}, nil
}

func (e *expansion) glob(tgt any) (Expansion, error) {
	pattern, ok := tgt.(string)
	if !ok {
		return Expansion{}, targetErr("glob target is no text")
	}
	return e.byGlob(pattern)
}

func (e *expansion) byGlob(pattern string) (Expansion, error) {
	if err := fits(pattern); err != nil {
		return Expansion{}, err
	}
	g := fnmatch.Compile(pattern)
	e.limit.weigh(len(pattern))
	return e.filter(func(id string) bool {
		e.limit.weigh(g.Work(id))
		return g.Match(id)
	})
}

func (e *expansion) pcre(tgt any) (Expansion, error) {
	pattern, ok := tgt.(string)
	if !ok {
		return Expansion{}, targetErr("pcre target is no text")
	}
	re, err := re.Compile(pattern)
	e.limit.look()
	if err != nil {
		return Expansion{}, err
	}
	return e.filter(func(id string) bool {
		e.limit.weigh(re.Work(id))
		hit, err := re.Match(id)
		if err != nil {
			e.limit.failed(err)
		}
		return hit
	})
}

// listed is how many steps it takes to put an id into a set.
const listed = 16

func (e *expansion) list(tgt any) (Expansion, error) {
	wanted, ok := listOf(tgt)
	if !ok {
		return Expansion{}, targetErr("list target is neither text nor list")
	}
	ids, err := e.all()
	if err != nil {
		return Expansion{}, err
	}
	e.limit.weigh(len(ids) * listed)
	accepted := make(map[string]bool, len(ids))
	for _, id := range ids {
		accepted[id] = true
	}
	var out Expansion
	seen := map[string]bool{}
	for _, id := range wanted {
		if e.limit.over() {
			break
		}
		switch {
		case seen[id]:
		case accepted[id]:
			out.Minions = append(out.Minions, id)
		default:
			out.Missing = append(out.Missing, id)
		}
		seen[id] = true
	}
	return out, nil
}

// listOf reads ids in one text with commas, or a list of them.
func listOf(tgt any) ([]string, bool) {
	var out []string
	switch t := tgt.(type) {
	case string:
		for id := range strings.SplitSeq(t, ",") {
			if id != "" {
				out = append(out, id)
			}
		}
	case []any:
		for _, v := range t {
			if id, ok := v.(string); ok {
				out = append(out, id)
			}
		}
	default:
		return nil, false
	}
	return out, true
}

func (e *expansion) ranges(tgt any) (Expansion, error) {
	if e.Range == nil {
		return Expansion{}, targetErr("Range matcher unavailable (unable to import seco.range, " +
			"module most likely not installed)")
	}
	expr, _ := tgt.(string)
	ids, err := e.Range(expr)
	if err != nil {
		return Expansion{}, fmt.Errorf("expand range: %w", err)
	}
	return Expansion{Minions: ids}, nil
}

func (e *expansion) nodegroup(tgt any) (Expansion, error) {
	name, _ := tgt.(string)
	words, err := Nodegroup(name, e.Nodegroups)
	if len(words) == 0 {
		return Expansion{}, err
	}
	e.delimiter = ""
	out, evalErr := e.compoundWords(words)
	return out, joinErr(err, evalErr)
}
