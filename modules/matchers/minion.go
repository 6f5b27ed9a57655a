package matchers

import (
	"errors"
	"fmt"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// ErrTarget means an expression nothing can match: wrong words, an unknown type, a bad pattern.
var ErrTarget = errors.New("matchers: bad target")

func targetErr(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrTarget, fmt.Sprintf(format, a...))
}

// Facts is what a minion knows of itself. The functions are asked only by matchers that need them; a nil one
// stands for nothing known.
type Facts struct {
	ID         string
	Grains     func() *payload.Map
	Grain      func(name string) (any, bool) // one of them without the others; nil: Grains is asked
	Pillar     func() *payload.Map
	Nodegroups *payload.Map // option nodegroups
	Resources  *payload.Map // type → list of ids this minion manages (3008)
	Data       func(key string) any
	Range      func(expr string) ([]string, error) // a range server; nil without

	limit *limit // of the whole target; nil: each word has its own
}

func (f *Facts) grains() *payload.Map { return provided(f.Grains) }

// grainsUnder are the grains under the keys at least; nil is all of them.
func (f *Facts) grainsUnder(keys []any) *payload.Map {
	out := payload.NewMap(len(keys))
	for _, k := range keys {
		name, text := k.(string)
		if !text || f.Grain == nil {
			return f.grains()
		}
		if v, ok := f.Grain(name); ok {
			out.Set(name, v)
		}
	}
	if keys == nil {
		return f.grains()
	}
	return out
}
func (f *Facts) pillar() *payload.Map { return provided(f.Pillar) }

func provided(get func() *payload.Map) *payload.Map {
	if get == nil {
		return nil
	}
	return get()
}

// Match tells whether a publication's target means this minion. tgtType "" is glob; the delimiter counts only
// for grain, grain_pcre and pillar, "" is ":". An error says what is wrong with the target and is worth a log
// line; the answer stands beside it. Sources: salt/minion.py, salt/matchers.
func Match(tgt any, tgtType, delimiter string, f *Facts) (bool, error) {
	if tgtType == "" {
		tgtType = "glob"
	}
	m, ok := minionMatchers[tgtType]
	if !ok {
		return false, targetErr("unknown target type %q", tgtType)
	}
	return m(f, tgt, delimiter)
}

type minionMatcher func(f *Facts, tgt any, delimiter string) (bool, error)

// minionMatchers are the matchers a publication can name.
var minionMatchers = map[string]minionMatcher{
	"glob":            matchGlob,
	"pcre":            matchPCRE,
	"list":            matchList,
	"grain":           matchGrains(ModeGlob),
	"grain_pcre":      matchGrains(ModeRegexp),
	"pillar":          matchPillar(ModeGlob),
	"pillar_pcre":     fixedDelimiter(matchPillar(ModeRegexp)),
	"pillar_exact":    fixedDelimiter(matchPillar(ModeExact)),
	"ipcidr":          matchIPCIDR,
	"data":            matchData,
	"range":           matchRange,
	"compound":        matchCompound,
	"nodegroup":       matchNodegroup,
	"resource":        matchResource,
	"managing_minion": matchManaging,
}

func matchGlob(f *Facts, tgt any, _ string) (bool, error) {
	pattern, ok := tgt.(string)
	if err := fits(pattern); err != nil {
		return false, err
	}
	return ok && fnmatch.Match(pattern, f.ID), nil
}

func matchPCRE(f *Facts, tgt any, _ string) (bool, error) {
	pattern, ok := tgt.(string)
	if !ok {
		return false, targetErr("pcre target is no text")
	}
	re, err := re.Compile(pattern)
	if err != nil {
		return false, err
	}
	return re.Match(f.ID)
}

// matchList takes ids in one text with commas, or a list of them.
func matchList(f *Facts, tgt any, _ string) (bool, error) {
	switch t := tgt.(type) {
	case string:
		return t == f.ID || strings.HasPrefix(t, f.ID+",") || strings.HasSuffix(t, ","+f.ID) ||
			strings.Contains(t, ","+f.ID+","), nil
	case []any:
		for _, v := range t {
			if v == any(f.ID) {
				return true, nil
			}
		}
	case *payload.Map:
		return t.Has(f.ID), nil
	}
	return false, nil
}

func matchGrains(mode Mode) minionMatcher {
	return func(f *Facts, tgt any, delimiter string) (bool, error) {
		return f.matchTree("grains", tgt, delimiter, mode, f.grainsUnder)
	}
}

func matchPillar(mode Mode) minionMatcher {
	return func(f *Facts, tgt any, delimiter string) (bool, error) {
		return f.matchTree("pillar", tgt, delimiter, mode, func([]any) *payload.Map { return f.pillar() })
	}
}

// fixedDelimiter is for matchers the minion gives no delimiter.
func fixedDelimiter(m minionMatcher) minionMatcher {
	return func(f *Facts, tgt any, _ string) (bool, error) { return m(f, tgt, defaultDelimiter) }
}

func (f *Facts) matchTree(what string, tgt any, delimiter string, mode Mode, data func(keys []any) *payload.Map) (bool,
	error) {
	expr, ok := tgt.(string)
	if !ok {
		return false, targetErr("%s target is no text", what)
	}
	end := f.limit
	if end == nil {
		end = forMinion()
	}
	s, ok := compileSubdict(expr, delimiter, mode, end)
	if !ok {
		return false, targetErr("Got insufficient arguments for %s match statement from master", what)
	}
	hit := s.Match(data(s.topKeys()))
	return hit, end.reason()
}

// matchData compares with the minion's local data store (salt/matchers/data_match.py).
func matchData(f *Facts, tgt any, _ string) (bool, error) {
	expr, ok := tgt.(string)
	key, want, two := strings.Cut(expr, ":")
	if !ok || !two || f.Data == nil {
		return false, nil
	}
	want, _, _ = strings.Cut(want, ":")
	switch v := f.Data(key).(type) {
	case nil:
		return false, nil
	case []any:
		for _, member := range v {
			if fnmatch.Match(strings.ToLower(want), strings.ToLower(python.Str(member))) {
				return true, nil
			}
		}
		return false, nil
	case *payload.Map:
		return v.Has(want), nil
	case string:
		return fnmatch.Match(want, v), nil
	}
	return false, nil
}

func matchRange(f *Facts, tgt any, _ string) (bool, error) {
	if f.Range == nil {
		return false, nil
	}
	hosts, err := f.Range(python.Str(tgt))
	if err != nil {
		return false, fmt.Errorf("expand range: %w", err)
	}
	fqdn := f.grainsUnder([]any{"fqdn"}).Str("fqdn")
	for _, h := range hosts {
		if h == fqdn {
			return true, nil
		}
	}
	return false, nil
}

// matchNodegroup is not used by publications of a Salt master, which sends the group's definition; states do.
func matchNodegroup(f *Facts, tgt any, _ string) (bool, error) {
	name, ok := tgt.(string)
	if !ok || !f.Nodegroups.Has(name) {
		return false, nil
	}
	words, err := Nodegroup(name, f.Nodegroups)
	hit, evalErr := evalCompound(f, words)
	return hit, errors.Join(err, evalErr)
}

// matchResource tells whether the minion manages a resource: "type" or "type:id".
func matchResource(f *Facts, tgt any, _ string) (bool, error) {
	expr, _ := tgt.(string)
	kind, id, full := strings.Cut(expr, ":")
	ids := f.Resources.List(kind)
	if !full {
		return len(ids) > 0, nil
	}
	for _, v := range ids {
		if v == any(id) {
			return true, nil
		}
	}
	return false, nil
}

func matchManaging(f *Facts, tgt any, _ string) (bool, error) {
	return tgt == any(f.ID), nil
}
