package file

import (
	"strings"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

type commenting struct {
	Name          any    `arg:"name"`
	Regex         any    `arg:"regex"`
	Char          string `arg:"char=#"`
	Backup        any    `arg:"backup=.bak"`
	IgnoreMissing bool   `arg:"ignore_missing=False"`
}

// unanchored is a pattern without flags at its beginning, ^ and $.
func unanchored(pattern string) (string, error) {
	e, err := re.CompileEdit(`^(\(\?[iLmsux]\))?\^?(.*?)\$?$`, "")
	if err != nil {
		return "", err
	}
	second, err := e.Template(`\2`)
	if err != nil {
		return "", err
	}
	out, _, err := e.Sub(pattern, second, 0)
	return out, err
}

func comment(c *states.Call, a commenting) (states.Plan, error) {
	name, p, err := existing(c, a.Name, "comment")
	if p != nil || err != nil {
		return orNone(p), err
	}
	regex, ok := a.Regex.(string)
	if !ok {
		return states.Plan{}, &loader.ArgumentError{Message: "expected string or bytes-like object"}
	}
	inner, err := unanchored(regex)
	if err != nil {
		return states.Plan{}, err
	}
	there, done := `^(?!\s*`+a.Char+`)\s*`+inner, a.Char+inner
	if found, err := edit.Search(name, there, int64(0), true, false); err != nil || found {
		return a.plan(name, edit.Commenting{Regex: regex, Char: a.Char, Backup: a.Backup}, done,
			"ommented lines", err)
	}
	found, err := edit.Search(name, done, int64(0), true, false)
	switch {
	case err != nil:
		return states.Plan{}, err
	case found:
		return called(name, states.Correct("Pattern already commented")), nil
	case a.IgnoreMissing:
		return called(name, states.Correct("Pattern not found and ignore_missing set to True")), nil
	}
	return called(name, states.Wrong(inner+": Pattern not found")), nil
}

type uncommenting struct {
	Name   any    `arg:"name"`
	Regex  any    `arg:"regex"`
	Char   string `arg:"char=#"`
	Backup any    `arg:"backup=.bak"`
}

func uncomment(c *states.Call, u uncommenting) (states.Plan, error) {
	a := commenting{Name: u.Name, Regex: u.Regex, Char: u.Char, Backup: u.Backup}
	name, p, err := existing(c, a.Name, "uncomment")
	if p != nil || err != nil {
		return orNone(p), err
	}
	regex, ok := a.Regex.(string)
	if !ok {
		return states.Plan{}, loader.Raise("AttributeError", "'%s' object has no attribute 'lstrip'", python.Type(a.Regex))
	}
	inner := strings.TrimLeft(regex, "^")
	done := "^[ \t]*" + inner
	if found, err := edit.Search(name, a.Char+"[ \t]*"+inner, int64(0), true, false); err != nil || found {
		return a.plan(name, edit.Commenting{Regex: regex, Char: a.Char, Backup: a.Backup, Remove: true}, done,
			"ncommented lines", err)
	}
	found, err := edit.Search(name, done, int64(0), true, false)
	switch {
	case err != nil:
		return states.Plan{}, err
	case found:
		return called(name, states.Correct("Pattern already uncommented")), nil
	}
	return called(name, states.Wrong(regex+": Pattern not found")), nil
}

// plan is that of lines that are commented, or not any more; done is the pattern that fits afterwards.
func (a commenting) plan(name string, how edit.Commenting, done, what string, err error) (states.Plan, error) {
	if err != nil {
		return states.Plan{}, err
	}
	change, err := edit.Comment(name, how)
	if err != nil {
		return states.Plan{}, err
	}
	well, err := edit.Fits(name, change, done)
	if err != nil {
		return states.Plan{}, err
	}
	would := states.Would("File "+name+" is set to be updated", payload.M(name, "updated"),
		func() (states.Done, error) {
			if err := change.Apply(); err != nil {
				return states.Done{}, err
			}
			changes := payload.NewMap(1)
			if diff := change.DiffOfAll(); diff != "" {
				changes.Set("diff", diff)
			}
			if !well {
				return states.Failed("Expected "+lowered(how)+what+" not found", changes)
			}
			return states.Changed(raised(how)+what+" successfully", changes)
		})
	return called(name, would), nil
}

func lowered(how edit.Commenting) string { return strings.ToLower(raised(how)) }

func raised(how edit.Commenting) string {
	if how.Remove {
		return "U"
	}
	return "C"
}
