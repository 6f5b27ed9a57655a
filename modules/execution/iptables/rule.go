package iptables

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

var negation = pattern.New(`(!|not)\s?`)

// isNegated tells whether a value says "not".
func isNegated(value string) bool {
	return strings.HasPrefix(value, "!") || strings.HasPrefix(value, "not")
}

func plain(value string) string { return negation.ReplaceAllString(value, "") }

// builder makes the words of a rule out of arguments.
type builder struct {
	kw    *payload.Map
	words []string
}

// Rule is the text of a rule, as it stands on the command line of iptables. It is the reference's, word for word, save
// that a comment that would end its own quotes is refused.
func Rule(kw *payload.Map) (string, error) {
	b := &builder{kw: kw.Clone()}
	if target, ok := b.kw.Get("target"); ok {
		b.kw.Delete("target")
		b.kw.Set("jump", target)
	}
	for _, key := range b.kw.Keys() {
		if name := python.Str(key); strings.HasPrefix(name, "__") || slices.Contains(internal, name) {
			b.kw.Delete(key)
		}
	}
	b.flag("if", "-i")
	b.flag("of", "-o")
	protocol := b.protocol()
	if err := b.matches(); err != nil {
		return "", err
	}
	if b.has("connstate") {
		b.once("-m state")
	}
	b.flag("connstate", "--state")
	b.flag("dport", "--dport")
	b.flag("sport", "--sport")
	for _, ports := range []string{"dports", "sports"} {
		if b.has(ports) && !b.ports(ports, protocol) {
			return "Error: protocol must be specified", nil
		}
	}
	if err := b.comment(); err != nil {
		return "", err
	}
	if python.Truth(b.kw.Value("set")) {
		b.flag("set", "--match-set")
	}
	after := b.ofJump()
	for _, key := range b.kw.Keys() {
		b.other(python.Str(key))
	}
	return strings.Join(append(b.words, after...), " "), nil
}

func (b *builder) has(key string) bool { return b.kw.Has(key) }

func (b *builder) add(words ...string) { b.words = append(b.words, strings.Join(words, "")) }

// once adds a word unless it is there.
func (b *builder) once(word string) {
	if !slices.Contains(b.words, word) {
		b.add(word)
	}
}

// value is that of an argument, without its negation, which is given before the option.
func (b *builder) value(key string) (not, value string) {
	value = python.Str(b.kw.Value(key))
	if isNegated(value) {
		return "! ", plain(value)
	}
	return "", value
}

// flag adds an option with the value of an argument, if there is one.
func (b *builder) flag(key, option string) {
	if b.has(key) {
		not, value := b.value(key)
		b.add(not, option, " ", value)
		b.kw.Delete(key)
	}
}

func (b *builder) protocol() bool {
	if proto, ok := b.kw.Get("proto"); ok && b.kw.Value("match") != "policy" {
		b.kw.Delete("proto")
		b.kw.Set("protocol", proto)
	}
	found := b.has("protocol")
	b.flag("protocol", "-p")
	return found
}

// matches adds -m of each match, and what belongs to some.
func (b *builder) matches() error {
	if v, ok := b.kw.Get("match"); ok {
		list, isList := v.([]any)
		text, isText := v.(string)
		switch {
		case !isList && !isText:
			return loader.InvocErr("match must be a text or a list, not a %s", python.Type(v))
		case !isList:
			list = payload.AnyList(strings.Split(text, ","))
		}
		for _, item := range list {
			match := python.Str(item)
			b.add("-m ", match)
			if slices.Contains([]string{"pknock", "quota2", "recent"}, strings.TrimSpace(match)) && b.has("name_") {
				b.add("--name ", python.Str(b.kw.Value("name_")))
				b.kw.Delete("name_")
			}
		}
		if v == "policy" {
			b.flag("proto", "--proto")
		}
		b.kw.Delete("match")
	}
	if v, ok := b.kw.Get("match-set"); ok {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, item := range list {
			not, set := "", python.Str(item)
			if isNegated(set) {
				not, set = "! ", plain(set)
			}
			b.add("-m set ", not, "--match-set ", set)
		}
		b.kw.Delete("match-set")
	}
	return nil
}

// ports adds several ports; it is false without a protocol.
func (b *builder) ports(key string, protocol bool) bool {
	if !slices.Contains(b.words, "-m multiport") {
		b.add("-m multiport")
		if !protocol {
			return false
		}
	}
	list, isList := b.kw.Value(key).([]any)
	if !isList {
		list = []any{b.kw.Value(key)}
	}
	ports := make([]string, len(list))
	for i, port := range list {
		ports[i] = python.Str(port)
	}
	if slices.ContainsFunc(ports, isNegated) {
		for i := range ports {
			ports[i] = plain(ports[i])
		}
		b.add("!")
	}
	b.add("--", key, " ", strings.Join(ports, ","))
	b.kw.Delete(key)
	return true
}

func (b *builder) comment() error {
	v, ok := b.kw.Get("comment")
	if !ok {
		return nil
	}
	text := python.Str(v)
	if strings.ContainsAny(text, "\"\n\r\x00") || strings.HasSuffix(text, `\`) {
		return loader.InvocErr("%s is no comment of a rule: it must have one line and no quotes", python.Repr(text))
	}
	b.once("-m comment")
	b.add(`--comment "`, text, `"`)
	b.kw.Delete("comment")
	return nil
}

// ofJump takes the options of jumps out of the arguments.
func (b *builder) ofJump() (after []string) {
	for option := range strings.FieldsSeq(ofJump) {
		v, ok := b.kw.Get(option)
		if !ok {
			continue
		}
		b.kw.Delete(option)
		switch text := python.Str(v); {
		case v == nil || text == "":
			after = append(after, "--"+option)
		case strings.ContainsAny(text, " \t\n\r\x0b\x0c"):
			after = append(after, "--"+option+` "`+text+`"`)
		default:
			after = append(after, "--"+option+" "+text)
		}
	}
	return after
}

// other adds an argument that is nothing special.
func (b *builder) other(key string) {
	not, value := b.value(key)
	option := "--" + key
	if len([]rune(key)) == 1 {
		option = "-" + key
	}
	if v := b.kw.Value(key); v == nil || v == "" {
		value = ""
	} else {
		value = " " + value
	}
	b.add(not, option, value)
}
