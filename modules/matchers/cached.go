package matchers

import (
	"fmt"

	"brine/wire/payload"
)

// cached makes the expander of a type that looks at cached data.
func cached(bank string, mode Mode) expandFunc {
	return func(e *expansion, tgt any) (Expansion, error) {
		expr, ok := tgt.(string)
		if !ok {
			return Expansion{}, targetErr("%s target is no text", bank)
		}
		return e.byData(bank, expr, e.delimiter, mode)
	}
}

// byData expands a grain or pillar expression. An expression without delimiter matches no data.
func (e *expansion) byData(bank, expr, delimiter string, mode Mode) (Expansion, error) {
	s, _ := compileSubdict(expr, delimiter, mode, e.limit)
	return e.scan(bank, s.topKeys(), func(_ string, data *payload.Map) bool {
		return data != nil && s.Match(data)
	})
}

// data returns the cached data of an id, of which the test needs the entries under keys; nil is all of them.
func (e *expansion) data(bank, id string, keys []any) (*payload.Map, error) {
	if keys == nil {
		return e.Source.Data(bank, id)
	}
	return e.Source.Fields(bank, id, keys...)
}

// scan runs a test over the cached data of the minions that come into question: every accepted one when greedy,
// those with cached grains otherwise. The test gets the entries under keys, and nil for a minion without data in the
// bank.
func (e *expansion) scan(bank string, keys []any, keep func(id string, data *payload.Map) bool) (Expansion, error) {
	ids, err := e.candidates()
	if err != nil || !e.DataCache {
		return Expansion{Minions: ids}, err
	}
	known, err := e.knownIDs()
	if err != nil {
		return Expansion{}, err
	}
	var out []string
	for _, id := range ids {
		if e.limit.over() {
			break
		}
		if !known[id] {
			if e.greedy && e.KeepUnknown {
				out = append(out, id)
			}
			continue
		}
		data, err := e.data(bank, id, keys)
		if err != nil {
			return Expansion{}, fmt.Errorf("read cached %s of %s: %w", bank, id, err)
		}
		if data == nil && e.greedy && e.KeepUnknown || keep(id, data) {
			out = append(out, id)
		}
	}
	return Expansion{Minions: out}, nil
}

// candidates are the minions a test of cached data is made for.
func (e *expansion) candidates() ([]string, error) {
	if e.greedy {
		return e.all()
	}
	if !e.DataCache {
		return nil, nil
	}
	return e.cachedIDs()
}

func (e *expansion) cachedIDs() ([]string, error) {
	ids, err := e.Source.Cached(BankGrains)
	if err != nil {
		return nil, fmt.Errorf("list cached minions: %w", err)
	}
	return ids, nil
}

func (e *expansion) knownIDs() (map[string]bool, error) {
	if e.known != nil {
		return e.known, nil
	}
	ids, err := e.cachedIDs()
	if err != nil {
		return nil, err
	}
	e.known = make(map[string]bool, len(ids))
	for _, id := range ids {
		e.known[id] = true
	}
	return e.known, nil
}

// ipcidr keeps minions without cached grains when greedy, in every release.
func (e *expansion) ipcidr(tgt any) (Expansion, error) {
	text, _ := tgt.(string)
	if !e.DataCache {
		ids, err := e.candidates()
		return Expansion{Minions: ids}, err
	}
	t, err := parseIPTarget(text)
	if err != nil {
		return Expansion{}, err
	}
	keepUnknown := *e.Expander
	keepUnknown.KeepUnknown = true
	run := *e
	run.Expander = &keepUnknown
	return run.scan(BankGrains, []any{t.key()}, func(_ string, grains *payload.Map) bool {
		return grains != nil && t.match(grains)
	})
}
