package reactor

import (
	"fmt"
	"os"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// Rules say which SLS files an event is reacted to with. They never change: Add and Delete make new ones.
type Rules struct {
	entries []any // as the option has them, for who lists them
	rules   []rule
}

// rule is one entry that can be used.
type rule struct {
	tag  string
	glob *fnmatch.Pattern
	head string // what every tag that matches begins with, and ends with: most tags are done with by a look at them
	tail string
	sls  []any
}

// ParseRules reads the option reactor: a list of maps with one key, the glob of tags, and an SLS or a list of them as
// the value. What Salt passes over is passed over here, too; problems says what that is.
func ParseRules(entries []any) (r *Rules, problems []string) {
	r = &Rules{entries: entries}
	for i, entry := range entries {
		one, why := parseRule(entry)
		if why != "" {
			problems = append(problems, fmt.Sprintf("reactor: entry %d, %s, %s", i+1, payload.Show(python.Str(entry)),
				why))
			continue
		}
		r.rules = append(r.rules, one)
	}
	return r, problems
}

func parseRule(entry any) (one rule, why string) {
	m, ok := entry.(*payload.Map)
	if !ok || m.Len() != 1 {
		return one, "is not a map of one tag to its SLS files"
	}
	tag, ok := m.Keys()[0].(string)
	if !ok {
		return one, "has a tag that is no text"
	}
	one = rule{tag: tag, glob: fnmatch.Compile(tag), head: tag, tail: tag}
	if at := strings.IndexAny(tag, "*?["); at >= 0 {
		one.head, one.tail = tag[:at], tag[strings.LastIndexAny(tag, "*?[]")+1:]
	}
	switch sls := m.Value(tag).(type) {
	case string:
		one.sls = []any{sls}
	case []any:
		one.sls = sls
	default:
		return one, "has neither an SLS file nor a list of them"
	}
	return one, ""
}

// maxMap is the size of the largest file of rules, in bytes.
const maxMap = 16 << 20

// ReadRules reads a file that holds such a list, for reactor as the name of one.
func ReadRules(path string) (*Rules, []string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxMap) {
		err = fmt.Errorf("it is no file, or larger than %d bytes", maxMap)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, nil, loader.ExecErr("Failed to read reactor map: \"%s\": %v", path, err)
	}
	v, err := yaml.Load(text)
	entries, ok := v.([]any)
	if err == nil && !ok {
		err = fmt.Errorf("it holds no list, but %s", python.Type(v))
	}
	if err != nil {
		return nil, nil, loader.ExecErr("Failed to parse YAML in reactor map: \"%s\": %v", path, err)
	}
	r, problems := ParseRules(entries)
	return r, problems, nil
}

// Match lists the SLS files for a tag: those of all rules whose glob matches, in their order. Source: list_reactors.
func (r *Rules) Match(tag string) (sls []any) {
	for i := range r.rules {
		if r.rules[i].matches(tag) {
			sls = append(sls, r.rules[i].sls...)
		}
	}
	return sls
}

// Wants tells whether any rule matches a tag.
func (r *Rules) Wants(tag string) bool {
	for i := range r.rules {
		if r.rules[i].matches(tag) {
			return true
		}
	}
	return false
}

// Hits calls f with the place of each rule that matches, as Tags lists them.
func (r *Rules) Hits(tag string, f func(place int)) {
	for i := range r.rules {
		if r.rules[i].matches(tag) {
			f(i)
		}
	}
}

func (r *rule) matches(tag string) bool {
	return strings.HasPrefix(tag, r.head) && strings.HasSuffix(tag, r.tail) && r.glob.Match(tag)
}

// Rule is one rule, for who looks at them.
type Rule struct {
	Tag string
	SLS []string
}

// Tags lists the rules that can be used.
func (r *Rules) Tags() []Rule {
	out := make([]Rule, len(r.rules))
	for i, one := range r.rules {
		out[i].Tag = one.tag
		for _, sls := range one.sls {
			out[i].SLS = append(out[i].SLS, python.Str(sls))
		}
	}
	return out
}

// List is the entries as they were given, for reactor.list.
func (r *Rules) List() []any { return r.entries }

// Add adds an entry at the end, unless there is one with the same tag. answer is what reactor.add returns. Unlike Salt:
// the entry reacts, where Salt's only shows in the list.
func (r *Rules) Add(tag, sls any) (now *Rules, answer *payload.Map) {
	if r.place(tag) >= 0 {
		return r, payload.M("status", false, "comment", "Reactor already exists.")
	}
	entry := payload.M(tag, sls)
	if _, why := parseRule(entry); why != "" {
		return r, payload.M("status", false, "comment", "The reactor "+why+".")
	}
	now, _ = ParseRules(append(r.entries[:len(r.entries):len(r.entries)], entry))
	return now, payload.M("status", true, "comment", "Reactor added.")
}

// Delete takes the first entry with a tag away. answer is what reactor.delete returns.
func (r *Rules) Delete(tag any) (now *Rules, answer *payload.Map) {
	at := r.place(tag)
	if at < 0 {
		return r, payload.M("status", false, "comment", "Reactor does not exists.")
	}
	entries := append([]any{}, r.entries[:at]...)
	now, _ = ParseRules(append(entries, r.entries[at+1:]...))
	return now, payload.M("status", true, "comment", "Reactor deleted.")
}

func (r *Rules) place(tag any) int {
	for i, entry := range r.entries {
		if m, ok := entry.(*payload.Map); ok && m.Len() > 0 && payload.Equal(m.Keys()[0], tag) {
			return i
		}
	}
	return -1
}
