package matchers

import (
	"slices"
)

func (e *expansion) compoundExact(tgt any) (Expansion, error) {
	e.exact = true
	return e.compound(tgt)
}

func (e *expansion) compound(tgt any) (Expansion, error) {
	words, err := compoundWords(tgt, e.Nodegroups)
	out, evalErr := e.compoundWords(words)
	return out, joinErr(err, evalErr)
}

// compoundWords evaluates a compound target as algebra on sets of ids. Without a data cache every accepted
// minion may be meant.
func (e *expansion) compoundWords(words []string) (Expansion, error) {
	if !e.DataCache {
		ids, err := e.all()
		return Expansion{Minions: ids}, err
	}
	c := &setCompound{expansion: e, index: map[string]int{}}
	if err := c.load(); err != nil {
		return Expansion{}, err
	}
	x := expression[idSet]{algebra: setAlgebra(c.everyone), autoClose: true}
	for i, word := range words {
		if e.limit.over() {
			return Expansion{}, e.limit.reason()
		}
		if isOperator(word) {
			x.tokens = append(x.tokens, token[idSet]{op: word})
			continue
		}
		found, err := c.word(word, i > 0 && words[i-1] == "not")
		if err != nil {
			return Expansion{}, err
		}
		x.tokens = append(x.tokens, token[idSet]{val: found})
	}
	set, err := x.eval()
	if err != nil {
		return Expansion{}, err
	}
	return Expansion{Minions: c.names(set), Missing: c.missing}, nil
}

// setCompound gives each id an index: the accepted ones, then, when the expansion is not greedy, those that are
// only in the data cache.
type setCompound struct {
	*expansion
	ids      []string
	index    map[string]int
	everyone idSet // the accepted ids
	missing  []string
}

func (c *setCompound) load() error {
	accepted, err := c.all()
	if err != nil {
		return err
	}
	c.ids = accepted
	if !c.greedy {
		cached, err := c.cachedIDs()
		if err != nil {
			return err
		}
		c.ids = append(slices.Clone(accepted), cached...)
	}
	c.everyone = newSet(len(c.ids))
	for i, id := range c.ids {
		if _, twice := c.index[id]; !twice {
			c.index[id] = i
		}
		if i < len(accepted) {
			c.everyone.add(i)
		}
	}
	return nil
}

// word expands one word. Missing ids of a list count unless the list is excluded.
func (c *setCompound) word(word string, excluded bool) (idSet, error) {
	a := parseAtom(word)
	found, err := c.atom(a, word)
	if err != nil {
		return nil, err
	}
	if !excluded {
		c.missing = append(c.missing, found.Missing...)
	}
	set := newSet(len(c.ids))
	for _, id := range found.Minions {
		if i, ok := c.index[id]; ok {
			set.add(i)
		}
	}
	return set, nil
}

func (c *setCompound) atom(a atom, word string) (Expansion, error) {
	pillarGlob, pillarRegexp := ModeGlob, ModeRegexp
	if c.exact {
		pillarGlob, pillarRegexp = ModeExact, ModeExact
	}
	switch a.engine {
	case "", "M":
		return c.byGlob(a.pattern)
	case "G":
		return c.byData(BankGrains, a.pattern, a.delimiter, ModeGlob)
	case "P":
		return c.byData(BankGrains, a.pattern, a.delimiter, ModeRegexp)
	case "I":
		return c.byData(BankPillar, a.pattern, a.delimiter, pillarGlob)
	case "J":
		return c.byData(BankPillar, a.pattern, a.delimiter, pillarRegexp)
	case "L":
		return c.list(a.pattern)
	case "S":
		return c.ipcidr(a.pattern)
	case "E":
		return c.pcre(a.pattern)
	case "R": // ranges are left to the minions: everyone may be meant
		return c.filter(func(string) bool { return true })
	case "T": // no resources are managed through this master
		return Expansion{}, nil
	}
	return Expansion{}, targetErr("Unrecognized target engine %q for target expression %q", a.engine, word)
}

func (c *setCompound) names(set idSet) []string {
	out := make([]string, 0, set.count())
	for i, id := range c.ids {
		if set.has(i) {
			out = append(out, id)
		}
	}
	return out
}
