package matchers

import (
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// ExprForbids is ExprMatch for a list that keeps words out: a pattern that takes too long for a word forbids it.
func ExprForbids(word, expr string) bool {
	if word == expr || fnmatch.Match(expr, word) {
		return true
	}
	p, err := re.Compile(`\A` + expr + `\Z`)
	if err != nil { // it is a glob
		return false
	}
	ok, err := p.Match(word)
	return ok || err != nil
}

// ExprMatch is how Salt compares a word with an entry of a list such as publisher_acl: equal, or
// as a glob, or as a regular expression over the whole word (salt/utils/stringutils.py, expr_match).
func ExprMatch(word, expr string) bool {
	if word == expr || fnmatch.Match(expr, word) {
		return true
	}
	return re.Match(`\A`+expr+`\Z`, word)
}
