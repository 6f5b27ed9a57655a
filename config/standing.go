package config

import (
	"embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/wire/payload"
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

// CheckStanding looks at what the files of a daemon set to other than Salt's default. An option that is not honoured is a
// notice, said by name; one that an operator may rely on for his protection is a *Error, and the daemon must not start.
// Unlike Salt: it keeps silent about options that it does not know. Tools do not ask: they work with every configuration.
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
	var failed error
	err = eachStanding(func(key, text string) bool {
		v, given := c.File.Get(key)
		if !given || sameValue(v, std.Value(key)) {
			return true
		}
		one, err := readStanding(text)
		if err != nil {
			failed = &Error{Code: ExitGeneric, Err: err}
			return false
		}
		switch one.act(role, v) {
		case actRefuse:
			failed = c.refuse(key, v, one.why)
		case actWarn:
			notices = append(notices, Notice{slog.LevelWarn,
				fmt.Sprintf("Config option '%s' with value %s is not honoured: %s", key, c.shown(key), one.why)})
		}
		return failed == nil
	})
	if failed == nil && err != nil {
		failed = &Error{Code: ExitGeneric, Err: err}
	}
	return notices, failed
}

// act is what a daemon does with a value: the first rule that does not excuse it.
func (s standing) act(role string, v any) byte {
	rules := s.master
	if role == roleMinion {
		rules = s.minion
	}
	for _, r := range rules {
		if !slices.Contains(r.fine, pyStr(v)) {
			return r.act
		}
	}
	return 0
}

// sameValue tells whether a value says what Salt's default says. What counts as no in Python is the same no.
func sameValue(v, std any) bool {
	return falsy(v) && falsy(std) || pyStr(v) == pyStr(std)
}

func (c *Common) refuse(key string, v any, why string) *Error {
	o := c.Origin(key)
	err := fmt.Errorf("Config option '%s' with value %s cannot be honoured: %s", key, c.shown(key), why)
	if o.Layer != LayerDefault {
		err = fmt.Errorf("%w (%s)", err, o)
	}
	return &Error{File: o.File, Line: o.Line, Key: key, Value: v, Code: ExitUsage, Err: err}
}

// shown is the value of an option for the log: secrets are not.
func (c *Common) shown(key string) string {
	v, _ := Redacted(payload.M(key, c.File.Value(key))).Get(key)
	return payload.Show(pyStr(v))
}
