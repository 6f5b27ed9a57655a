// Package args turns the words of a command line into typed arguments, and typed arguments into positional and
// keyword ones. It binds nothing to a function's signature (see modules). It answers to salt/utils/args.py.
package args

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/config/yaml"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// KwargMark is the key that tells the map of keyword arguments from a positional map.
const KwargMark = "__kwarg__"

// Parse types the words behind a function name and returns the argument list that is published: positional
// values, then, when there are keywords, one map that begins with __kwarg__: true. The values of keywords
// named in noParse stay text.
func Parse(words []string, noParse []string) []any {
	in := payload.AnyList(words)
	pos, kw := Split(in, noParse)
	return Condition(pos, kw)
}

// Split separates arguments that may be typed already: each text is taken as a word of a command line, a map
// with __kwarg__: true holds keywords, everything else is positional. The input is not changed. kw is never nil.
func Split(in []any, noParse []string) (pos []any, kw *payload.Map) {
	pos, kw = []any{}, payload.NewMap(0)
	for _, arg := range in {
		switch arg := arg.(type) {
		case string:
			if name, text, ok := Keyword(arg); ok && slices.Contains(noParse, name) {
				kw.Set(name, text)
			} else if ok {
				kw.Set(name, Yamlify(text))
			} else {
				pos = append(pos, Yamlify(arg))
			}
		case *payload.Map:
			if arg.Value(KwargMark) == true {
				kw.Update(arg)
				kw.Delete(KwargMark)
			} else {
				pos = append(pos, arg)
			}
		default:
			pos = append(pos, arg)
		}
	}
	return pos, kw
}

// Load separates a published list as a minion does before it calls a function: texts of the form name=value and maps
// with __kwarg__: true are keywords, wherever they stand, and of two with one name the later counts. Positional
// values stay as they are. kw is never nil. Source: salt/minion.py, load_args_and_kwargs.
func Load(list []any) (pos []any, kw *payload.Map) {
	kw = payload.NewMap(0)
	for _, arg := range list {
		switch a := arg.(type) {
		case string:
			if name, text, ok := Keyword(a); ok {
				kw.Set(name, Yamlify(text))
				continue
			}
		case *payload.Map:
			if a.Value(KwargMark) == true {
				kw.Update(a)
				kw.Delete(KwargMark)
				continue
			}
		}
		pos = append(pos, arg)
	}
	return pos, kw
}

// Condition puts positional and keyword arguments back into one list. An integer that reads as a job id
// becomes text again.
func Condition(pos []any, kw *payload.Map) []any {
	out := make([]any, 0, len(pos)+1)
	for _, v := range pos {
		if text, ok := integerText(v); ok && payload.IsJID(text) {
			v = text
		}
		out = append(out, v)
	}
	if kw.Len() > 0 {
		marked := payload.M(KwargMark, true)
		marked.Update(kw)
		out = append(out, marked)
	}
	return out
}

// integerText is an integer in decimal digits.
func integerText(v any) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case *big.Int:
		return v.String(), true
	}
	return "", false
}

// Keyword takes a word of the form name=value apart. The name begins with a letter or an underscore and holds
// letters, digits, "_", "." and "-"; the value does not begin with "=" and holds no line break.
func Keyword(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	if !ok || strings.HasPrefix(value, "=") || !isName(name) {
		return "", "", false
	}
	if value, last := strings.CutSuffix(value, "\n"); last && !strings.Contains(value, "\n") {
		return name, value, true // Python's $ also matches before a line break at the very end
	}
	if strings.Contains(value, "\n") {
		return "", "", false
	}
	return name, value, true
}

func isName(s string) bool {
	if s == "" {
		return false
	}
	for i, r := range s {
		switch {
		case r == utf8.RuneError:
			return false
		case r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) && !unicode.IsDigit(r):
		case i > 0 && (r == '-' || r == '.' || unicode.IsDigit(r)):
		default:
			return false
		}
	}
	return true
}

// onlyDigits matches 1_000, which YAML would read as a number.
var onlyDigits = pattern.New(`^[0-9_]+$`)

// Yamlify types one word as Salt does: YAML 1.1 where that gives null, a truth value, a number, a text, a list
// in brackets or a map in braces; the word itself in every other case, faulty YAML included.
func Yamlify(word string) any { return YamlifyWith(word, yaml.Load) }

// YamlifyWith is Yamlify with another reader of YAML. What it refuses is a text.
func YamlifyWith(word string, load func([]byte) (any, error)) any {
	trimmed := strings.TrimFunc(word, python.IsSpace)
	switch {
	case trimmed == "", trimmed == "---", trimmed == "...":
		return word
	case strings.Contains(word, "_") && onlyDigits.MatchString(trimmed):
		return word
	case strings.ContainsAny(word, "\t\r\n"):
		return word
	case word == "None":
		return nil
	}
	v, err := load([]byte(word))
	if err != nil {
		return word
	}
	if strings.Contains(word, "#") {
		if _, text := v.(string); text || v == nil {
			return word
		}
		return v
	}
	return accept(word, v)
}

// accept decides whether the value that YAML gives is taken or the word is left alone.
func accept(word string, v any) any {
	switch v := v.(type) {
	case *payload.Map:
		if strings.HasPrefix(word, "{") {
			return v
		}
	case []any:
		if strings.HasPrefix(word, "[") {
			return v
		}
	case nil:
		if word != "!" {
			return nil
		}
	case string:
		if v != "" || word != "|" && word != "!" {
			return v
		}
	case bool, int64, uint64, *big.Int, float64:
		return v
	}
	return word
}
