package master

import (
	"fmt"
	"slices"

	"brine/modules/eauth"
	"brine/wire/payload"
)

// ruleFields are the keywords of a publish request that say more to a minion, or to the job store, than which function
// runs with which arguments: rules cannot speak of them. A profile or an option of a returner can name a template and
// its renderer, an executor the place where a function runs.
var ruleFields = []string{"ret_config", "ret_kwargs", "module_executors", "executor_opts", "master_id", "id", "nocache"}

// beyond says why a publication of somebody with rules is refused although the rules allow its functions; "" when
// nothing is against it. Unlike Salt: it knows rules of functions and arguments only.
func (u *rules) beyond(id *eauth.Identity, ask payload.PublishRequest, extra payload.PublishExtras, funs []string) string {
	if why := misshapen(ask); why != "" {
		return why
	}
	if eauth.Blacklisted(u.blacklist, id.Name, funs) { // the request names whom he likes to be
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
func misshapen(ask payload.PublishRequest) string {
	arg, isList := ask.Arg().([]any)
	if !isList && ask.Arg() != nil {
		return "the arguments are no list"
	}
	switch fun := ask.Fun().(type) {
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

// shown are the names of functions for a log record.
func shown(funs []string) []string {
	out := make([]string, len(funs))
	for i, f := range funs {
		out[i] = payload.Show(f)
	}
	return out
}
