package targets

import (
	"strings"
	"unicode/utf8"

	"brine/wire/payload"
)

// engineOf are the letters by which a compound target has a target of another type that data of minions decides.
var engineOf = map[string]string{"grain": "G", "grain_pcre": "P", "pillar": "I", "pillar_pcre": "J", "ipcidr": "S"}

// AimBelow binds a publication of a master of masters, which goes on to minions that it does not know: of its own
// minions only those are meant that were compared with the rules, and what lies below its syndics is left to the target
// and to the rules that go along. False: the target cannot be bound.
func (t *Targets) AimBelow(pub *payload.Job, minions []string) bool {
	own, err := t.Expander.Source.Accepted()
	if err != nil {
		return false
	}
	tgt, tgtType := pub.Tgt(), pub.TgtType()
	text, _ := tgt.(string)
	var words []any
	switch engine := engineOf[tgtType]; {
	case tgtType == "" || tgtType == "glob" || tgtType == "pcre" || tgtType == "list":
		return true // ids decide, which no minion can read in another way
	case tgtType == "compound":
		if list, isList := tgt.([]any); isList {
			words = append(words, list...)
		} else {
			for word := range strings.FieldsSeq(text) {
				words = append(words, word)
			}
		}
	case engine != "":
		if d := Delimiter(pub.Delimiter()); d != DefaultDelimiter {
			if utf8.RuneCountInString(d) != 1 || tgtType == "ipcidr" {
				return false
			}
			engine += d
		}
		words = []any{engine + "@" + text}
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
	pub.Aim(append(aimed, ")"), "compound")
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
