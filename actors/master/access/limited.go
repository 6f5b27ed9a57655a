package access

import (
	"slices"

	"brine/modules/eauth"
	"brine/wire/payload"
)

// Beyond says why a publication of somebody with rules is refused although the rules allow its functions; "" when
// nothing is against it. closed is a field of it that is not for him, if there was one. Unlike Salt: it knows rules of
// functions and arguments only.
func (u *Rules) Beyond(id *eauth.Identity, ask payload.PublishRequest, closed string, funs []string) string {
	if why := Misshapen(ask); why != "" {
		return why
	}
	if eauth.Blacklisted(u.Blacklist, id.Name, funs) { // the request names whom he likes to be
		return "publisher_acl_blacklist"
	}
	switch {
	case closed == "":
		return ""
	case payload.SayOfExtras(closed) == payload.SayOpened:
		return closed + " is not among publisher_acl_fields"
	}
	return closed + " is for masters to say"
}

// Misshapen finds functions and arguments that a minion could read in another way than rules do.
func Misshapen(ask payload.PublishRequest) string {
	if !ask.Waits() {
		return "the time to wait is no number of seconds"
	}
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

// Shown are the names of functions for a log record.
func Shown(funs []string) []string {
	out := make([]string, len(funs))
	for i, f := range funs {
		out[i] = payload.Show(f)
	}
	return out
}
