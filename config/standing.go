package config

import (
	"embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// standing.txt says what brine does with each option. It is read by daemons only, and when their files set something.
//
//go:embed salt3008/standing.txt
var standingFile embed.FS

// rule is what a daemon does with an option.
type rule struct {
	act  byte     // '+', '-', '~' or '!'
	fine []string // values to which the rule does not apply, besides Salt's default
}

// The acts of a rule.
const (
	actHonour = '+'
	actOthers = '-'
	actWarn   = '~'
	actRefuse = '!'
)

// standing is one line of the table.
type standing struct {
	key            string
	master, minion []rule
	why            string
}

func readStanding(line string) (standing, error) {
	words := strings.SplitN(line, " ", 4)
	if len(words) < 3 {
		return standing{}, fmt.Errorf("standing of options: %q is too short", line)
	}
	s := standing{key: words[0]}
	var err error
	if s.master, err = readRules(words[1]); err != nil {
		return s, err
	}
	if s.minion, err = readRules(words[2]); err != nil {
		return s, err
	}
	if len(words) == 4 {
		s.why = words[3]
	}
	return s, nil
}

func readRules(text string) ([]rule, error) {
	var rules []rule
	for one := range strings.SplitSeq(text, ",") {
		if one == "" || strings.IndexByte("+-~!", one[0]) < 0 || len(one) > 1 && one[1] != '=' {
			return nil, fmt.Errorf("standing of options: %q is no rule", text)
		}
		r := rule{act: one[0]}
		if len(one) > 2 {
			r.fine = strings.Split(one[2:], "|")
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// eachStanding calls a function with every line of the table until it returns false.
func eachStanding(line func(key, text string) bool) error {
	b, err := standingFile.ReadFile("salt3008/standing.txt")
	if err != nil {
		return fmt.Errorf("read the standing of options: %w", err)
	}
	for text := range strings.Lines(string(b)) {
		text = strings.TrimRight(text, "\n")
		if key, _, ok := strings.Cut(text, " "); ok && key != "#" && !line(key, text) {
			return nil
		}
	}
	return nil
}

// foreign are the options that the table knows and that are not of a role: they belong to other programs.
func foreign(role string) map[string]bool {
	out := map[string]bool{}
	_ = eachStanding(func(key, text string) bool { // of what cannot be read nothing is foreign
		if one, err := readStanding(text); err == nil {
			out[key] = one.foreign(role)
		}
		return true
	})
	return out
}

// CheckStanding looks at what files and environment of a daemon set to other than Salt's default. An option that is not
// honoured is a notice, said by name, as is one that nobody knows and that resembles another; one on which somebody may
// rely, for protection or delivery, is a *Error with ExitNotYet, several are Faults, and the daemon must not start.
// Unlike Salt: it keeps silent about options that it does not know. Tools do not ask: they work with every
// configuration.
func (c *Common) CheckStanding() ([]Notice, error) {
	if c.File.Len() == 0 {
		return nil, nil
	}
	role := c.Raw.Str("__role")
	std, err := defaults(role)
	if err != nil {
		return nil, &Error{Code: ExitGeneric, Err: err}
	}
	var notices []Notice
	var refused Faults
	var failed error
	var known []string
	err = eachStanding(func(key, text string) bool {
		known = append(known, key)
		v, given := c.File.Get(key)
		if !given || sameValue(meant(key, v), std.Value(key)) {
			return true
		}
		one, err := readStanding(text)
		if err != nil {
			failed = &Error{Code: ExitGeneric, Err: err}
			return false
		}
		switch one.act(role, v) {
		case actRefuse:
			refused = append(refused, c.NotYet(key, v, "%s", one.why))
		case actWarn:
			notices = append(notices, Notice{slog.LevelWarn,
				fmt.Sprintf("Config option '%s' with value %s is not honoured: %s (%s)", key, c.shown(key), one.why,
					c.Origin(key))})
		}
		return failed == nil
	})
	switch {
	case failed != nil:
		return notices, failed
	case len(refused) > 0:
		return notices, refused
	case err != nil:
		return notices, &Error{Code: ExitGeneric, Err: err}
	}
	return append(notices, c.misspelt(known)...), nil
}

// meant is the part of a value that its writer has chosen: Salt's minion writes jobs of its own into the schedule of
// its files.
func meant(key string, v any) any {
	m, ok := v.(*payload.Map)
	if key != "schedule" || !ok {
		return v
	}
	out := payload.NewMap(m.Len())
	for name, job := range m.All() {
		if text, _ := name.(string); text != "enabled" && !strings.HasPrefix(text, "__") {
			out.Set(name, job)
		}
	}
	return out
}

// of are the rules of a role.
func (s standing) of(role string) []rule {
	if role == roleMinion {
		return s.minion
	}
	return s.master
}

// foreign tells whether the option is none of a role.
func (s standing) foreign(role string) bool {
	rules := s.of(role)
	return len(rules) == 1 && rules[0].act == actOthers
}

// act is what a daemon does with a value: the first rule that does not excuse it.
func (s standing) act(role string, v any) byte {
	for _, r := range s.of(role) {
		if !r.excuses(v) {
			return r.act
		}
	}
	return 0
}

// excuses says whether a value is fine: as a whole, or all members of a list, or of a text with commas.
func (r rule) excuses(v any) bool {
	if slices.Contains(r.fine, python.Str(v)) {
		return true
	}
	members, _ := v.([]any)
	if text, ok := v.(string); ok {
		for word := range strings.SplitSeq(text, ",") {
			members = append(members, strings.TrimSpace(word))
		}
	}
	return len(r.fine) > 0 && len(members) > 0 && !slices.ContainsFunc(members, func(one any) bool {
		return !slices.Contains(r.fine, python.Str(one))
	})
}

// Known tells whether an option is one of Salt or brine, and whether a role has it; options of salt-api are the
// master's here.
func Known(key, role string) (known, ofRole bool) {
	err := eachStanding(func(name, text string) bool {
		if name != key {
			return true
		}
		one, err := readStanding(text)
		known, ofRole = true, err == nil && !one.foreign(role)
		return false
	})
	now, later := NetapiTakes(key)
	return known && err == nil, ofRole || role == roleMaster && (now || later)
}

// sameValue tells whether a value says what Salt's default says. What counts as no in Python is the same no.
func sameValue(v, std any) bool {
	return !python.Truth(v) && !python.Truth(std) || python.Str(v) == python.Str(std)
}

// NotYet makes the error of an option that is not honoured although somebody relies on it.
func (c *Common) NotYet(key string, v any, why string, args ...any) *Error {
	o := c.Origin(key)
	err := fmt.Errorf("Config option '%s' with value %s cannot be honoured yet: %s (%s)", key, c.shown(key),
		fmt.Sprintf(why, args...), o)
	return &Error{File: o.File, Line: o.Line, Key: key, Value: v, Code: ExitNotYet, Err: err}
}

// shown is the value of an option for the log: secrets are not.
func (c *Common) shown(key string) string {
	v, _ := Redacted(payload.M(key, c.File.Value(key))).Get(key)
	return payload.Show(python.Str(v))
}
