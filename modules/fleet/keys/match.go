package keys

import (
	"slices"
	"strings"

	"brine/wire/python/fnmatch"
)

// SplitGlob reads the ID argument of salt-key: one glob, or several with commas between.
func SplitGlob(arg string) []string { return strings.Split(arg, ",") }

// Match finds keys by globs, by status and in Salt's order; groups without a hit are left out, local keys are
// looked at only on demand.
func (s *Store) Match(globs []string, local bool) (Groups, error) {
	all, err := s.groups(local)
	if err != nil {
		return nil, err
	}
	compiled := compile(globs)
	var out Groups
	for _, g := range all {
		for _, id := range g.IDs {
			if matchesAny(compiled, id) {
				out = out.add(g.Status, id)
			}
		}
	}
	return out, nil
}

func (s *Store) groups(local bool) (Groups, error) {
	if local {
		return s.ListAll()
	}
	return s.List()
}

func compile(globs []string) []*fnmatch.Pattern {
	out := make([]*fnmatch.Pattern, len(globs))
	for i, g := range globs {
		out[i] = fnmatch.Compile(g)
	}
	return out
}

// matchesAny tells whether a glob matches id. Unlike Salt, which names an id once for every glob of a list
// that matches it, an id is named once.
func matchesAny(globs []*fnmatch.Pattern, id string) bool {
	return slices.ContainsFunc(globs, func(g *fnmatch.Pattern) bool { return g.Match(id) })
}

// MatchList finds the keys of exactly these ids, in the order of the list (3008's key.list_match).
func (s *Store) MatchList(ids []string) (Groups, error) {
	var out Groups
	for _, id := range ids {
		st, _, err := s.Get(id)
		if err != nil {
			return nil, err
		}
		if st != "" {
			out = out.add(st, id)
		}
		if s.Has(Denied, id) {
			out = out.add(Denied, id)
		}
	}
	return out, nil
}

// Where tells where keys of a selection are now: what accept, reject and delete by groups answer.
func (s *Store) Where(sel Groups) (Groups, error) {
	now, err := s.List()
	if err != nil {
		return nil, err
	}
	var out Groups
	for _, g := range sel {
		ids := slices.Clone(g.IDs)
		SortIDs(ids)
		for _, id := range ids {
			for _, st := range [...]Status{Accepted, Pending, Rejected, Denied} {
				if slices.Contains(now.IDs(st), id) {
					out = out.add(st, id)
				}
			}
		}
	}
	return out, nil
}

// ListStatus answers key.list: match begins with acc, pre, un, rej, den or all; anything else lists nothing.
func (s *Store) ListStatus(match string) (Groups, error) {
	if strings.HasPrefix(match, "all") {
		return s.ListAll()
	}
	st, ok := StatusOf(match)
	if !ok {
		return nil, nil
	}
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	return Groups{{Status: st, IDs: all.IDs(st)}}, nil
}

// StatusOf reads the argument of salt-key -l other than all, by its beginning.
func StatusOf(match string) (Status, bool) {
	for _, p := range [...]struct {
		prefix string
		st     Status
	}{{"acc", Accepted}, {"pre", Pending}, {"un", Pending}, {"rej", Rejected}, {"den", Denied}} {
		if strings.HasPrefix(match, p.prefix) {
			return p.st, true
		}
	}
	return "", false
}
