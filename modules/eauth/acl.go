package eauth

import (
	"slices"
	"strings"

	"brine/modules/text/args"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// listFor collects what external_auth allows a user of a backend: his own entries, those of his groups ("name%"), and
// "*" when he has none of his own or permissive_acl is on. An entry may be a glob or a regular expression. What is no
// list is one rule if it is a text, and else an error, with which he may do nothing at all.
//
// Unlike Salt: 3008.3 compares the wrong way round (CkMinions.fill_auth_list), so that entries are no patterns,
// permissive_acl adds nothing, and who may call himself "*" has the rules of all users. And a text in the place of a
// list is taken letter by letter there, so that "test.ping" allows all functions, by its dot.
func (s *Service) listFor(eauth, user string, groups []any) []any {
	conf := s.opt.External.Map(eauth)
	var entries []any
	matched := false
	for k, v := range conf.All() {
		pattern, _ := k.(string)
		_, rules := v.([]any)
		switch {
		case pattern == "" || strings.HasPrefix(pattern, "^") && !rules:
			// ^filename and the like are options of the backend
		case pattern == "*" && !s.opt.Permissive:
		case strings.HasSuffix(pattern, "%"):
			if slices.Contains(groups, any(strings.TrimRight(pattern, "%"))) {
				entries = append(entries, v)
			}
		case entryMatch(pattern, user):
			matched = true
			entries = append(entries, v)
		}
	}
	if all, ok := conf.Get("*"); ok && !s.opt.Permissive && !matched {
		entries = append(entries, all)
	}
	return joined(entries)
}

// joined are the rules of all entries, none when one of them is neither a list nor a text.
func joined(entries []any) []any {
	list := []any{}
	for _, e := range entries {
		switch e := e.(type) {
		case []any:
			list = append(list, e...)
		case string:
			list = append(list, e)
		default:
			return nil
		}
	}
	return list
}

// entryMatch is exprMatch for users of external_auth. The entry of ann.lee@example.org is for nobody else, whatever its
// dots could mean.
func entryMatch(entry, user string) bool {
	return entry == user || strings.ContainsAny(entry, `*?[](){}|^$`) && exprMatch(entry, user)
}

func asList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// Want is what somebody asks to run on minions.
type Want struct {
	Funs []string // the functions of the job
	Args [][]any  // their arguments as they are published, one list per function
	// Covers tells whether all targeted minions lie inside a compound target.
	Covers func(target string) bool
	// FindJob lets saltutil.find_job through: the command line of everybody who may publish anything needs it to wait.
	FindJob bool
}

const findJob = "saltutil.find_job"

// Grant is what a list of matchers says to a job.
type Grant struct {
	OK bool
	// Bound is set when a function is allowed on some minions only: the job must reach no other one.
	Bound bool
}

// Allowed compares a job with a list of matchers. An entry is a pattern of functions for all minions, or
// {target: patterns}; a pattern is a regular expression anchored at its start, or {pattern: {args, kwargs}}.
//
// Unlike Salt: with RequireAll every function of the job must be allowed; Salt lets one suffice, and find_job is that
// one even for a user without any rule. Arguments are looked at as a minion takes them apart, not as they were written.
// Source: salt/utils/minions.py, CkMinions.auth_check.
func (s *Service) Allowed(list []any, w Want) Grant {
	if len(list) == 0 || len(w.Funs) == 0 {
		return Grant{}
	}
	some, every, bound := false, true, false
	for i, fun := range w.Funs {
		var own []any
		if i < len(w.Args) {
			own = w.Args[i]
		}
		if w.FindJob && fun == findJob {
			continue
		}
		one := s.allowsOne(list, fun, own, w.Covers)
		some, every, bound = some || one.OK, every && one.OK, bound || one.Bound
	}
	return Grant{OK: every || some && !s.opt.RequireAll, Bound: bound}
}

// allowsOne prefers an entry for all minions to one that binds. With auth.enable_expanded_auth_matching entries for
// some minions count together: each minion must be in one that allows the function.
//
// Unlike Salt: 3008.3 then looks minions up among the keys of an answer (auth_check_expanded), so that entries for
// minions allow nothing, or everything where no minion is targeted.
func (s *Service) allowsOne(list []any, fun string, published []any, covers func(string) bool) Grant {
	pos, kw := args.Load(published)
	var targets []string
	for _, entry := range list {
		switch e := entry.(type) {
		case string:
			if matches(e, fun) {
				return Grant{OK: true}
			}
		case *payload.Map:
			target, patterns, ok := single(e)
			if !ok || strings.HasPrefix(target, "@") || !allowsFun(patterns, fun, pos, kw) {
				continue
			}
			if target == "*" {
				return Grant{OK: true}
			}
			targets = append(targets, target)
		}
	}
	ok := slices.ContainsFunc(targets, covers) ||
		s.opt.Expanded && len(targets) > 1 && covers("( "+strings.Join(targets, " ) or ( ")+" )")
	return Grant{OK: ok, Bound: ok}
}

// AllowedForm tells whether a list allows a runner or wheel function (form is "runner" or "wheel"): entries
// "@form", "@forms", "@module", or these as keys of patterns. Source: CkMinions.spec_check.
func AllowedForm(list []any, form, fun string, args []any, kw *payload.Map) bool {
	mod, name, _ := strings.Cut(fun, ".")
	for _, entry := range list {
		switch e := entry.(type) {
		case string:
			if e == "@"+mod || e == "@"+form || e == "@"+form+"s" {
				return true
			}
		case *payload.Map:
			key, patterns, ok := single(e)
			if !ok {
				continue
			}
			if key == "@"+mod && allowsFun(patterns, name, args, kw) {
				return true
			}
			if (key == "@"+form || key == "@"+form+"s") && allowsFun(patterns, fun, args, kw) {
				return true
			}
		}
	}
	return false
}

// single is the only pair of a map; entries with more or fewer are malformed and allow nothing.
func single(m *payload.Map) (key string, v any, ok bool) {
	if m.Len() != 1 {
		return "", nil, false
	}
	for k, val := range m.All() {
		key, ok = k.(string)
		v = val
	}
	return key, v, ok && key != ""
}

func allowsFun(patterns any, fun string, args []any, kw *payload.Map) bool {
	for _, cond := range asList(patterns) {
		switch c := cond.(type) {
		case string:
			if matches(c, fun) {
				return true
			}
		case *payload.Map:
			if pattern, conds, ok := single(c); ok && matches(pattern, fun) && allowsArgs(conds, args, kw) {
				return true
			}
		}
	}
	return false
}

// allowsArgs compares arguments with {args: [...], kwargs: {...}} or a list of such maps; null allows any value.
func allowsArgs(conds any, args []any, kw *payload.Map) bool {
	for _, cond := range asList(conds) {
		if c, ok := cond.(*payload.Map); ok && allowsPositional(c.List("args"), args) && allowsKeywords(c.Map("kwargs"),
			kw) {
			return true
		}
	}
	return false
}

func allowsPositional(want, args []any) bool {
	for i, w := range want {
		if i >= len(args) {
			return false
		}
		if pattern, ok := w.(string); w != nil && (!ok || !matches(pattern, python.Str(args[i]))) {
			return false
		}
	}
	return true
}

func allowsKeywords(want, kw *payload.Map) bool {
	for k, w := range want.All() {
		v, ok := kw.Get(k)
		if !ok {
			return false
		}
		if pattern, isText := w.(string); w != nil && (!isText || !matches(pattern, python.Str(v))) {
			return false
		}
	}
	return true
}

// matches is Python's re.match: anchored at the start only. A pattern that Python could not read allows nothing.
func matches(pattern, text string) bool { return re.Match(pattern, text) }

// exprMatch compares a name with an entry that lets it in: equal, as a glob, or as a regular expression over the whole
// name. Unlike Salt: alternatives are anchored as a whole, so that "ann|bob" does not let "annika" in.
func exprMatch(pattern, name string) bool {
	return pattern == name || fnmatch.Match(pattern, name) || re.Match(`\A(?:`+pattern+`)\Z`, name)
}

// forbids is exprMatch for an entry that keeps names out: every way of reading it counts, Salt's too, and a pattern
// that takes too long forbids.
func forbids(pattern, name string) bool {
	if pattern == name || fnmatch.Match(pattern, name) {
		return true
	}
	for _, expr := range [...]string{`\A` + pattern + `\Z`, `\A(?:` + pattern + `)\Z`} {
		re, err := re.Compile(expr)
		if err != nil {
			continue // a glob
		}
		if ok, err := re.Match(name); ok || err != nil {
			return true
		}
	}
	return false
}

// Blacklisted tells whether publisher_acl_blacklist forbids a user or one of the functions.
func Blacklisted(blacklist *payload.Map, user string, funs []string) bool {
	for _, p := range blacklist.List("users") {
		if s, ok := p.(string); ok && forbids(s, user) {
			return true
		}
	}
	for _, p := range blacklist.List("modules") {
		s, ok := p.(string)
		if ok && slices.ContainsFunc(funs, func(fun string) bool { return forbids(s, fun) }) {
			return true
		}
	}
	return false
}

// PeerRules are the entries of peer for a minion: what Allowed reads. Ids are compared from their start on.
func PeerRules(peer *payload.Map, id string) []any {
	var list []any
	for k, v := range peer.All() {
		if pattern, _ := k.(string); pattern != "" && matches(pattern, id) {
			list = append(list, asList(v)...)
		}
	}
	return list
}

// PeerAllowed reads peer_run: {id pattern: [function patterns]}, both anchored at their start.
func PeerAllowed(peer *payload.Map, id, fun string) bool {
	return slices.ContainsFunc(PeerRules(peer, id), func(f any) bool {
		pattern, ok := f.(string)
		return ok && matches(pattern, fun)
	})
}
