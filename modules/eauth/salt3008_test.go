package eauth

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// recorded are decisions of Salt 3008.3 (testdata/generate.py).
func recorded(t *testing.T) *payload.Map {
	t.Helper()
	b, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*payload.Map)
}

// told is what differs from Salt on purpose: how often, by reason. A reason that no case has any more is an error, too.
type told struct {
	t     *testing.T
	want  map[string]int
	count map[string]int
}

func (d *told) differs(got, want any, why, what string, args ...any) {
	d.t.Helper()
	switch same := python.Repr(got) == python.Repr(want); {
	case same:
	case why == "":
		d.t.Errorf("%s: got %s, Salt says %s", fmt.Sprintf(what, args...), python.Repr(got), python.Repr(want))
	default:
		d.count[why]++
	}
}

func (d *told) check() {
	d.t.Helper()
	if fmt.Sprint(d.count) != fmt.Sprint(d.want) {
		d.t.Errorf("differences on purpose: got %v, want %v", d.count, d.want)
	}
}

// denied is Salt's answer with an error as a refusal.
func denied(v any) any {
	if v == "error" {
		return false
	}
	return v
}

// TestListsOfSalt: which rules hold for which user, compared with what Salt says once it compares entries with names,
// and not the other way round. How often that makes a difference is counted, too.
func TestListsOfSalt(t *testing.T) {
	all := recorded(t)
	d := &told{t, map[string]int{
		"an entry with alternatives means whole names": 12,
		"an entry without wildcards means one user":    12,
		"a text is one rule, not its letters":          6,
		"a map is no list, and its keys no functions":  6,
		"Salt compares the wrong way round":            333,
	}, map[string]int{}}
	for _, row := range all.List("lists") {
		r := row.([]any)
		kind, name, groups := r[0].(string), r[1].(string), r[2].([]any)
		s := service(t, func(o *Options) {
			o.External, o.Permissive = payload.M("x", all.Map("providers").Map(kind)), r[3].(bool)
		})
		var got any = false
		if list := s.listFor("x", name, groups); len(list) > 0 {
			got = list
		}
		d.differs(got, denied(r[5]), whyList(kind, name), "%s, user %q of %v, permissive %v", kind, name, groups, r[3])
		d.differs(r[5], r[4], "Salt compares the wrong way round", "")
	}
	d.check()
}

func whyList(kind, name string) string {
	switch {
	case kind == "alternatives" || kind == "expressions" && name == "ann|bob":
		return "an entry with alternatives means whole names"
	case kind == "expressions" && (name == "ann" || name == "bob"):
		return "an entry without wildcards means one user"
	case kind == "text":
		return "a text is one rule, not its letters"
	case kind == "map" && strings.HasPrefix(name, "ann"):
		return "a map is no list, and its keys no functions"
	}
	return ""
}

// TestJobsOfSalt: which functions with which arguments on which minions a list allows.
func TestJobsOfSalt(t *testing.T) {
	d := &told{t, map[string]int{
		"every function of a job must be allowed": 61,
		"who has no rules may not ask for jobs":   1,
	}, map[string]int{}}
	eachJob(t, "jobs", func(o *Options) { o.RequireAll = true }, func(list []any, w Want, got, salt any, what string) {
		d.differs(got, salt, whyJob(list, w), "%s", what)
	})
	d.check()
}

// TestExpandedOfSalt: with auth.enable_expanded_auth_matching.
func TestExpandedOfSalt(t *testing.T) {
	d := &told{t, map[string]int{"entries for minions allow something": 14, "a job for nobody": 1}, map[string]int{}}
	eachJob(t, "expanded", func(o *Options) {
		o.RequireAll, o.Expanded = true, true
	}, func(list []any, w Want, got, salt any, what string) {
		why := ""
		switch first, _ := list[0].(*payload.Map); {
		case salt == true && got == false:
			why = "a job for nobody"
		case first != nil:
			why = "entries for minions allow something"
		}
		d.differs(got, salt, why, "%s", what)
	})
	d.check()
}

// eachJob hands what is allowed here, and what Salt says, to take.
func eachJob(t *testing.T, part string, change func(*Options), take func(list []any, w Want, got, salt any,
	what string)) {
	t.Helper()
	all := recorded(t)
	inside := all.Map("inside")
	s := service(t, change)
	for _, row := range all.List(part) {
		r := row.([]any)
		w := Want{FindJob: true}
		for i, fun := range r[1].([]any) {
			w.Funs, w.Args = append(w.Funs, fun.(string)), append(w.Args, r[2].([]any)[i].([]any))
		}
		var minions []string
		for _, m := range r[3].([]any) {
			minions = append(minions, m.(string))
		}
		w.Covers = func(target string) bool {
			in, known := inside.Map(target).Get(strings.Join(minions, ","))
			if !known {
				t.Fatalf("Salt was not asked about target %q", target)
			}
			return in.(bool)
		}
		list := all.Map("rules").List(r[0].(string))
		take(list, w, s.Allowed(list, w).OK, denied(r[4]), fmt.Sprintf("%s: %v %v on %v", r[0], w.Funs, w.Args,
			minions))
	}
}

func whyJob(list []any, w Want) string {
	switch {
	case len(w.Funs) > 1:
		return "every function of a job must be allowed"
	case len(list) == 0 && w.Funs[0] == findJob:
		return "who has no rules may not ask for jobs"
	}
	return ""
}

// TestFormsOfSalt: which runner and wheel functions a list allows. That a name has one dot is the caller's to check, so
// that Salt's answer to others is an error.
func TestFormsOfSalt(t *testing.T) {
	all := recorded(t)
	for _, row := range all.List("forms") {
		r := row.([]any)
		if r[5] == "error" {
			continue
		}
		list := all.Map("form_rules").List(r[0].(string))
		if got := AllowedForm(list, r[1].(string), r[2].(string), r[3].([]any), r[4].(*payload.Map)); got != r[5] {
			t.Errorf("%s: %s %s %v %v: got %v, Salt says %v", r[0], r[1], r[2], r[3], python.Repr(r[4]), got, r[5])
		}
	}
}

// TestTokensOfSalt: what the owner of a token may do. With rest among the backends keep_acl_in_token is on, whatever is
// said.
func TestTokensOfSalt(t *testing.T) {
	for _, row := range recorded(t).List("tokens") {
		r := row.([]any)
		external, tok := r[1].(*payload.Map), r[2].(*payload.Map)
		if !r[0].(bool) && external.Has("rest") {
			continue
		}
		s := service(t, func(o *Options) { o.External, o.KeepACL = external, r[0].(bool) })
		if got := s.listOfToken(tok); !slices.EqualFunc(got, r[3].([]any), func(a, b any) bool { return a == b }) {
			t.Errorf("%v: got %v, Salt says %v", python.Repr(row), got, r[3])
		}
	}
}
