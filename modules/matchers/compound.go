package matchers

import (
	"errors"
	"strings"
	"unicode/utf8"

	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// engines are the letters a word of a compound target may begin with, before "@".
const engines = "GPIJLNSERTM"

// delimited are the engines that take a delimiter between letter and "@".
const delimited = "GPIJ"

// atom is one word of a compound target: engine "" is a glob.
type atom struct {
	engine, delimiter, pattern string
}

// parseAtom reads "G@os:Debian", "G|@os|Debian", "web*". A word that is no engine with a pattern is a glob.
func parseAtom(word string) atom {
	if word == "" || strings.IndexByte(engines, word[0]) < 0 {
		return atom{pattern: word}
	}
	engine, rest := word[:1], word[1:]
	if strings.Contains(delimited, engine) {
		_, size := utf8.DecodeRuneInString(rest)
		if p, ok := strings.CutPrefix(rest[size:], "@"); ok && p != "" {
			return atom{engine: engine, delimiter: rest[:size], pattern: p}
		}
	}
	if p, ok := strings.CutPrefix(rest, "@"); ok && p != "" {
		return atom{engine: engine, pattern: p}
	}
	return atom{pattern: word}
}

// compoundWords turns a compound target into words and puts the definition in place of each node group.
func compoundWords(tgt any, nodegroups *payload.Map) ([]string, error) {
	var words []string
	switch t := tgt.(type) {
	case string:
		words = strings.Fields(t)
	case []string:
		words = t
	case []any:
		for _, v := range t {
			words = append(words, python.Str(v))
		}
	default:
		return nil, targetErr("Compound target that is neither string, list nor tuple")
	}
	return expandGroups(words, nodegroups)
}

// maxWords bounds a target after its node groups are in place.
const maxWords = 1 << 16

// expandGroups replaces every N@group. A group that is not known leaves nothing in its place, as in Salt; the
// error then tells of it, beside the words.
func expandGroups(words []string, nodegroups *payload.Map) ([]string, error) {
	var out []string
	var unknown error
	for _, word := range words {
		a := parseAtom(word)
		if isOperator(word) || a.engine != "N" {
			out = append(out, word)
			continue
		}
		group, err := Nodegroup(a.pattern, nodegroups)
		unknown = errors.Join(unknown, err)
		if out = append(out, group...); len(out) > maxWords {
			return nil, targetErr("compound target of more than %d words", maxWords)
		}
	}
	return out, unknown
}

func isOperator(word string) bool {
	switch word {
	case "and", "or", "not", "(", ")":
		return true
	}
	return false
}

// Nodegroup expands a node group to the words of a compound target, groups within it included. A definition
// without operators, engines and wildcards is a list of ids, or an expression when it has the characters of one.
// Only nested groups come in parentheses. An unknown group and one that holds itself expand to nothing, and the
// error tells of it beside the words. Source: salt/utils/minions.py, nodegroup_comp.
func Nodegroup(name string, nodegroups *payload.Map) ([]string, error) {
	return nodegroup(name, nodegroups, map[string]bool{}, true)
}

func nodegroup(name string, groups *payload.Map, open map[string]bool, top bool) ([]string, error) {
	if open[name] {
		return nil, targetErr("Failed nodegroup expansion: illegal nested nodegroup %q", name)
	}
	words, err := groupWords(name, groups)
	if err != nil {
		return nil, err
	}
	open[name] = true
	defer delete(open, name)
	var out []string
	nested := false
	for _, word := range words {
		inner, isGroup := strings.CutPrefix(word, "N@")
		if isOperator(word) || !isGroup || inner == "" {
			out = append(out, word)
			continue
		}
		nested = true
		w, innerErr := nodegroup(inner, groups, open, false)
		err = errors.Join(err, innerErr)
		if out = append(out, w...); len(out) > maxWords {
			return nil, targetErr("nodegroup %q expands to more than %d words", name, maxWords)
		}
	}
	if top && nested {
		return inParentheses(out), err
	}
	if plain, ok := plainGroup(words); ok {
		return []string{plain}, err
	}
	if top {
		return words, err
	}
	return inParentheses(out), err
}

func inParentheses(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	return append(append([]string{"("}, words...), ")")
}

func groupWords(name string, groups *payload.Map) ([]string, error) {
	def, ok := groups.Get(name)
	if !ok {
		return nil, targetErr("Failed nodegroup expansion: unknown nodegroup %q", name)
	}
	switch d := def.(type) {
	case string:
		return strings.Fields(d), nil
	case []any:
		out := make([]string, len(d))
		for i, v := range d {
			out[i] = python.Str(v)
		}
		return out, nil
	}
	return nil, targetErr("Nodegroup %q is neither string nor list", name)
}

// groupEngine tells words that name an engine, known or not.
var groupEngine = pattern.New(`^[A-Z]@`)

// plainGroup turns a definition of nothing but ids into one word.
func plainGroup(words []string) (string, bool) {
	prefix := "L@"
	for _, w := range words {
		if isOperator(w) || strings.Contains(w, "*") || groupEngine.MatchString(w) {
			return "", false
		}
		if strings.ContainsAny(w, `([{\?}])`) {
			prefix = "E@"
		}
	}
	return prefix + strings.Join(words, ","), true
}
