package eauth

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"brine/modules/pytext"
	"brine/wire/payload"
)

// listFor collects what external_auth allows a user of a backend: his own entries (glob or regular
// expression), those of his groups ("name%"), and "*" when he has none of his own or permissive_acl is on.
func (s *Service) listFor(eauth, user string, groups []any) []any {
	conf := s.opt.External.Map(eauth)
	list, matched := []any{}, false
	for k, v := range conf.All() {
		pattern, _ := k.(string)
		switch {
		case pattern == "" || strings.HasPrefix(pattern, "^"), pattern == "*" && !s.opt.Permissive:
		case strings.HasSuffix(pattern, "%"):
			if slices.Contains(groups, any(strings.TrimRight(pattern, "%"))) {
				list = append(list, asList(v)...)
			}
		case exprMatch(pattern, user):
			matched = true
			list = append(list, asList(v)...)
		}
	}
	if !s.opt.Permissive && !matched {
		list = append(list, asList(conf.Value("*"))...)
	}
	return list
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
	Args [][]any  // their arguments, one list per function
	// Covers tells whether all targeted minions lie inside a compound target.
	Covers func(target string) bool
}

// findJob may be asked by everybody who got as far as a publication: the command line needs it to wait.
const findJob = "saltutil.find_job"

// Allowed tells whether a list of matchers allows a job. An entry is a pattern of functions for all minions,
// or {target: patterns}; a pattern is a regular expression anchored at its start, or {pattern: {args, kwargs}}.
//
// Unlike Salt: with RequireAll every function of the job must be allowed; Salt lets one suffice.
// Source: salt/utils/minions.py, CkMinions.auth_check.
func (s *Service) Allowed(list []any, w Want) bool {
	for i, fun := range w.Funs {
		var args []any
		if i < len(w.Args) {
			args = w.Args[i]
		}
		ok := fun == findJob || s.allowsOne(list, fun, args, w.Covers)
		if ok && !s.opt.RequireAll {
			return true
		}
		if !ok && s.opt.RequireAll {
			return false
		}
	}
	return s.opt.RequireAll && len(w.Funs) > 0
}

func (s *Service) allowsOne(list []any, fun string, args []any, covers func(string) bool) bool {
	pos, kw := splitKwargs(args)
	for _, entry := range list {
		switch e := entry.(type) {
		case string:
			if matches(e, fun) {
				return true
			}
		case *payload.Map:
			target, patterns, ok := single(e)
			if ok && !strings.HasPrefix(target, "@") && (target == "*" || covers(target)) && allowsFun(patterns, fun, pos, kw) {
				return true
			}
		}
	}
	return false
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

func splitKwargs(args []any) ([]any, *payload.Map) {
	if len(args) > 0 {
		if m, ok := args[len(args)-1].(*payload.Map); ok && m.Has("__kwarg__") {
			return args[:len(args)-1], m
		}
	}
	return args, nil
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
		if c, ok := cond.(*payload.Map); ok && allowsPositional(c.List("args"), args) && allowsKeywords(c.Map("kwargs"), kw) {
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
		if pattern, ok := w.(string); w != nil && (!ok || !matches(pattern, pytext.Str(args[i]))) {
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
		if pattern, isText := w.(string); w != nil && (!isText || !matches(pattern, pytext.Str(v))) {
			return false
		}
	}
	return true
}

// matches is a regular expression anchored at its start, Python's re.match. A pattern that Go cannot read
// allows nothing.
func matches(pattern, text string) bool {
	re, err := regexp.Compile(`\A(?:` + pattern + `)`)
	return err == nil && re.MatchString(text)
}

// exprMatch is salt.utils.stringutils.expr_match: equal, glob, or a whole regular expression.
func exprMatch(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if ok, err := path.Match(pattern, name); err == nil && ok {
		return true
	}
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	return err == nil && re.MatchString(name)
}

// Blacklisted tells whether publisher_acl_blacklist forbids a user or one of the functions.
func Blacklisted(blacklist *payload.Map, user string, funs []string) bool {
	for _, p := range blacklist.List("users") {
		if s, ok := p.(string); ok && exprMatch(s, user) {
			return true
		}
	}
	for _, p := range blacklist.List("modules") {
		s, ok := p.(string)
		if ok && slices.ContainsFunc(funs, func(fun string) bool { return exprMatch(s, fun) }) {
			return true
		}
	}
	return false
}

// PeerAllowed reads peer or peer_run: {id pattern: [function patterns]}, both anchored at their start.
func PeerAllowed(peer *payload.Map, id, fun string) bool {
	for k, v := range peer.All() {
		pattern, _ := k.(string)
		if pattern == "" || !matches(pattern, id) {
			continue
		}
		for _, f := range asList(v) {
			if s, ok := f.(string); ok && matches(s, fun) {
				return true
			}
		}
	}
	return false
}
