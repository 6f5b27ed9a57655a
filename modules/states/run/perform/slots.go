package perform

import (
	"log/slog"
	"strings"
	"unicode"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
)

const slotMark = "__slot__:"

// fillSlots calls the functions that stand in an argument as "__slot__:salt:FUN(ARGS).path ~ more": in a text, in the
// values of a map, in the items of a list, and in the values of maps in one. The argument itself is not changed.
// Source: State.format_slots.
func fillSlots(c *loader.Call, v any) (any, error) {
	if text, ok := v.(string); ok {
		return slot(c, text)
	}
	if !hasSlot(v) {
		return v, nil
	}
	return fillInside(c, v, 2)
}

// hasSlot tells whether a list or a map holds a slot, at most two steps down.
func hasSlot(v any) bool {
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			if text, ok := item.(string); ok && strings.HasPrefix(text, slotMark) {
				return true
			}
			if m, ok := item.(*payload.Map); ok && hasSlot(m) {
				return true
			}
		}
	case *payload.Map:
		for _, item := range x.All() {
			if text, ok := item.(string); ok && strings.HasPrefix(text, slotMark) {
				return true
			}
		}
	}
	return false
}

// fillInside copies a list or a map with its slots filled in.
func fillInside(c *loader.Call, v any, depth int) (any, error) {
	switch x := v.(type) {
	case string:
		return slot(c, x)
	case []any:
		if depth < 2 {
			return v, nil
		}
		out := make([]any, len(x))
		for i, item := range x {
			filled, err := fillInside(c, item, depth-1)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	case *payload.Map:
		out := x.Clone()
		for key, item := range x.All() {
			text, ok := item.(string)
			if !ok {
				continue
			}
			filled, err := slot(c, text)
			if err != nil {
				return nil, err
			}
			out.Set(key, filled)
		}
		return out, nil
	}
	return v, nil
}

// slot is the value of a text that may be a slot. One that is not well formed stays as it is.
func slot(c *loader.Call, text string) (any, error) {
	parts := strings.SplitN(text, ":", 3)
	if !strings.HasPrefix(text, slotMark) {
		return text, nil
	}
	wrong := func() (any, error) {
		c.LogAs("salt.state", slog.LevelWarn, "Malformed slot: "+text)
		return text, nil
	}
	if len(parts) != 3 || parts[1] != "salt" {
		return wrong()
	}
	fun, args, kw, ok := parseCall(parts[2])
	if _, known := c.Registry().Lookup(fun); !ok || !known {
		return wrong()
	}
	v, err := c.Call(fun, args, kw)
	if err != nil {
		return nil, err
	}
	call, more, appends := strings.Cut(parts[2], "~")
	if at := strings.LastIndexByte(call, ')'); at >= 0 {
		if _, path, found := strings.Cut(call[at+1:], "."); found {
			v, _ = dicts.Traverse(v, strings.TrimSpace(path), ".")
		}
	}
	if !appends {
		return v, nil
	}
	base, isText := v.(string)
	if !isText {
		c.LogAs("salt.state", slog.LevelError, "Ignoring slot append, slot result is not a string")
		return v, nil
	}
	more = strings.TrimSpace(more)
	if n := len(more); n >= 2 && more[0] == more[n-1] && (more[0] == '"' || more[0] == '\'') {
		more = more[1 : n-1]
	}
	return base + more, nil
}

// parseCall reads "module.function(arg, key=value)". Arguments are texts. Source: parse_function of
// salt/utils/args.py.
func parseCall(text string) (fun string, args []any, kw *payload.Map, ok bool) {
	tokens := tokensOf(text)
	open := 0
	for open < len(tokens) && (tokens[open].quoted || tokens[open].text != "(") {
		fun += tokens[open].text
		open++
	}
	if open == 0 || open >= len(tokens) {
		return "", nil, nil, false
	}
	kw = payload.NewMap(0)
	var words []string
	var brackets []string
	key := ""
	closing := map[string]string{"[": "]", "{": "}", "(": ")"}
	for _, token := range tokens[open+1:] {
		switch t := token.text; {
		case t == "[" || t == "{" || t == "(":
			words, brackets = append(words, t), append(brackets, t)
		case (t == "," || t == ")") && len(brackets) == 0:
			if key != "" {
				kw.Set(key, strings.Join(words, ""))
			} else if len(words) > 0 {
				args = append(args, strings.Join(words, ""))
			}
			if t == ")" {
				return fun, args, kw, true
			}
			key, words = "", nil
		case t == "]" || t == "}" || t == ")":
			if len(brackets) == 0 || closing[brackets[len(brackets)-1]] != t {
				return "", nil, nil, false
			}
			words, brackets = append(words, t), brackets[:len(brackets)-1]
		case t == "=" && len(brackets) == 0:
			key, words = strings.Join(words, ""), nil
		default:
			words = append(words, t)
		}
	}
	return "", nil, nil, false
}

type token struct {
	text   string
	quoted bool
}

// tokensOf splits as Python's shlex does in its POSIX mode: words of letters, digits and underscores, with what is
// quoted in them, and single other characters. A comment begins with #.
func tokensOf(text string) (out []token) {
	var word strings.Builder
	inWord, quoted := false, false
	end := func() {
		if inWord {
			out = append(out, token{word.String(), quoted})
		}
		word.Reset()
		inWord, quoted = false, false
	}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '#':
			end()
			for i < len(runes) && runes[i] != '\n' {
				i++
			}
		case unicode.IsSpace(r):
			end()
		case r == '"' || r == '\'':
			inWord, quoted = true, true
			for i++; i < len(runes) && runes[i] != r; i++ {
				if runes[i] == '\\' && i+1 < len(runes) && (runes[i+1] == r || runes[i+1] == '\\') {
					i++
				}
				word.WriteRune(runes[i])
			}
		case r == '\\' && i+1 < len(runes):
			inWord = true
			i++
			word.WriteRune(runes[i])
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			inWord = true
			word.WriteRune(r)
		default:
			end()
			out = append(out, token{string(r), false})
		}
	}
	end()
	return out
}
