package master

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/modules/eauth"
	"brine/wire/payload"
)

// ruleFields are the keywords of a publish request that say more to a minion, or to the job store, than which function
// runs with which arguments: rules cannot speak of them. A profile or an option of a returner can name a template and
// its renderer, an executor the place where a function runs.
var ruleFields = []string{"ret_config", "ret_kwargs", "module_executors", "executor_opts", "master_id", "id", "nocache"}

// beyond says why a publication of somebody with rules is refused although the rules allow its functions; "" when
// nothing is against it. Unlike Salt: it knows rules of functions and arguments only.
func (u *rules) beyond(id *eauth.Identity, load, extra *payload.Map, funs []string) string {
	if why := misshapen(load); why != "" {
		return why
	}
	if eauth.Blacklisted(u.blacklist, id.Name, funs) { // load names whom he likes to be
		return "publisher_acl_blacklist"
	}
	if id.Kind == eauth.KindUser && len(id.List) == 0 { // the rules are those of a syndic's user: this one has none
		return ""
	}
	for _, f := range ruleFields {
		if extra.Has(f) && !slices.Contains(u.fields, f) {
			return fmt.Sprintf("%s is not among publisher_acl_fields", f)
		}
	}
	return ""
}

// misshapen finds functions and arguments that a minion could read in another way than rules do.
func misshapen(load *payload.Map) string {
	arg, isList := load.Value("arg").([]any)
	if !isList && load.Value("arg") != nil {
		return "the arguments are no list"
	}
	switch fun := load.Value("fun").(type) {
	case string:
	case []any:
		if slices.ContainsFunc(fun, func(f any) bool { _, text := f.(string); return !text }) {
			return "a function is no text"
		}
		if slices.ContainsFunc(arg, func(own any) bool { _, list := own.([]any); return !list }) {
			return "the arguments of a function are no list"
		}
	default:
		return "the function is no text"
	}
	return ""
}

// aimAt replaces the target of a publication by the minions that were compared with the rules. What a minion would
// make of the target is its own affair: it may have grains that this master has not heard of.
// Unlike Salt: it publishes the target as it was written.
func aimAt(pub *payload.Map, minions []string) {
	pub.Set("tgt", payload.AnyList(minions)).Set("tgt_type", "list")
	pub.Delete("delimiter")
}

// engineOf are the letters by which a compound target has a target of another type that data of minions decides.
var engineOf = map[string]string{"grain": "G", "grain_pcre": "P", "pillar": "I", "pillar_pcre": "J", "ipcidr": "S"}

// aimBelow is aimAt for a master of masters, whose publications go on to minions that it does not know: of its own minions only
// those are meant that were compared with the rules, and what lies below its syndics is left to the target and to the rules
// that go along. False: the target cannot be bound.
func (c *core) aimBelow(pub *payload.Map, minions []string) bool {
	own, err := c.targets.Source.Accepted()
	if err != nil {
		return false
	}
	tgt, tgtType := pub.Value("tgt"), pub.Str("tgt_type")
	var words []any
	switch engine := engineOf[tgtType]; {
	case tgtType == "" || tgtType == "glob" || tgtType == "pcre" || tgtType == "list":
		return true // ids decide, which no minion can read in another way
	case tgtType == "compound":
		if list, isList := tgt.([]any); isList {
			words = append(words, list...)
		} else {
			for word := range strings.FieldsSeq(pub.Str("tgt")) {
				words = append(words, word)
			}
		}
	case engine != "":
		if d := delimiterOf(pub); d != defaultDelimiter {
			if utf8.RuneCountInString(d) != 1 || tgtType == "ipcidr" {
				return false
			}
			engine += d
		}
		words = []any{engine + "@" + pub.Str("tgt")}
	default:
		return false
	}
	if !balanced(words) {
		return false
	}
	aimed := []any{}
	if len(minions) > 0 {
		aimed = append(aimed, "L@"+strings.Join(minions, ","), "or")
	}
	aimed = append(append(append(aimed, "(", "("), words...), ")")
	if len(own) > 0 {
		aimed = append(aimed, "and", "not", "L@"+strings.Join(own, ","))
	}
	pub.Set("tgt", append(aimed, ")")).Set("tgt_type", "compound")
	pub.Delete("delimiter")
	return true
}

// balanced tells whether words can stand in parentheses without leaving them.
func balanced(words []any) bool {
	depth := 0
	for _, w := range words {
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		}
		if _, text := w.(string); !text || depth < 0 {
			return false
		}
	}
	return depth == 0 && len(words) > 0
}

// shown are the names of functions for a log record.
func shown(funs []string) []string {
	out := make([]string, len(funs))
	for i, f := range funs {
		out[i] = payload.Show(f)
	}
	return out
}
