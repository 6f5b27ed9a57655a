package file

import (
	"os"
	"strings"
	"time"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type replacing struct {
	Name          any  `arg:"name"`
	Pattern       any  `arg:"pattern"`
	Repl          any  `arg:"repl"`
	Count         any  `arg:"count=0"`
	Flags         any  `arg:"flags=8"`
	BufSize       any  `arg:"bufsize=1"` // how a file is read is no matter
	Append        bool `arg:"append_if_not_found=False"`
	Prepend       bool `arg:"prepend_if_not_found=False"`
	NotFound      any  `arg:"not_found_content=None"`
	Backup        any  `arg:"backup=.bak"`
	ShowChanges   bool `arg:"show_changes=True"`
	IgnoreMissing bool `arg:"ignore_if_missing=False"`
	Literal       bool `arg:"backslash_literal=False"`
	Encoding      any  `arg:"encoding=None"`
}

func replace(c *states.Call, a replacing) (states.Plan, error) {
	name, p, err := pathFor(c, a.Name, "replace")
	if p != nil || err != nil {
		return orNone(p), err
	}
	if wrong := present(name); wrong != "" {
		if a.IgnoreMissing && strings.Contains(wrong, "file not found") {
			return called(name, states.Correct("No changes needed to be made")), nil
		}
		return called(name, states.Wrong(wrong)), nil
	}
	change, err := edit.Replace(name, edit.Replacement{Pattern: a.Pattern, Repl: a.Repl, Count: a.Count, Flags: a.Flags,
		Append: a.Append, Prepend: a.Prepend, NotFound: a.NotFound, Backup: a.Backup, Literal: a.Literal,
		Encoding: a.Encoding, IgnoreMissing: a.IgnoreMissing})
	if err != nil {
		return states.Plan{}, err
	}
	return changing(name, change, a.ShowChanges, "Changes would have been made"), nil
}

// orNone is a plan that may be none.
func orNone(p *states.Plan) states.Plan {
	if p == nil {
		return states.Plan{}
	}
	return *p
}

type placing struct {
	Name        any  `arg:"name"`
	Content     any  `arg:"content=None"`
	Match       any  `arg:"match=None"`
	Mode        any  `arg:"mode=None"`
	Location    any  `arg:"location=None"`
	Before      any  `arg:"before=None"`
	After       any  `arg:"after=None"`
	ShowChanges bool `arg:"show_changes=True"`
	Backup      bool `arg:"backup=False"`
	Quiet       bool `arg:"quiet=False"`
	Indent      bool `arg:"indent=True"`
	Create      bool `arg:"create=False"`
	User        any  `arg:"user=None"`
	Group       any  `arg:"group=None"`
	FileMode    any  `arg:"file_mode=None"`
}

func line(c *states.Call, a placing) (states.Plan, error) {
	name, p, err := pathFor(c, a.Name, "line")
	if p != nil || err != nil {
		return orNone(p), err
	}
	wrong := present(name)
	if _, err := os.Lstat(name); wrong != "" && (!a.Create || err == nil || !strings.HasPrefix(name, "/")) {
		return called(name, states.Wrong(wrong)), nil
	}
	mode, _ := a.Mode.(string)
	switch {
	case a.Mode == nil:
		return called(name, states.Wrong("Mode was not defined. How to process the file?")), nil
	case strings.ToLower(mode) != "delete" && a.Content == nil:
		return called(name, states.Wrong("Content can only be empty if mode is ['delete']")), nil
	}
	change, err := edit.Line(name, edit.Placing{Content: a.Content, Match: a.Match, Mode: a.Mode, Location: a.Location,
		Before: a.Before, After: a.After, Backup: a.Backup, Quiet: a.Quiet, Indent: a.Indent, Create: a.Create},
		time.Now())
	if err != nil {
		return states.Plan{}, err
	}
	return a.dressed(c, name, changing(name, change, a.ShowChanges, "Changes would be made"))
}

// dressed is the plan with owner and mode of the file, which are set before, and which nothing tells of, as in Salt.
func (a placing) dressed(c *states.Call, name string, p states.Plan) (states.Plan, error) {
	if a.User == nil && a.Group == nil && a.FileMode == nil && !a.Create {
		return p, nil
	}
	next := p.Apply
	p.Apply = func() (states.Done, error) {
		if err := a.dress(c, name); err != nil {
			return states.Done{}, err
		}
		if next != nil {
			return next()
		}
		return states.Done{Result: p.Result, Comment: p.Comment}, nil
	}
	return p, nil
}

func (a placing) dress(c *states.Call, name string) error {
	if _, err := os.Stat(name); os.IsNotExist(err) {
		if err := edit.Create(name); err != nil {
			return err
		}
	}
	if a.User == nil && a.Group == nil && a.FileMode == nil {
		return nil
	}
	v, err := c.Salt("file.check_perms", nil, name, nil, a.User, a.Group, a.FileMode)
	if err != nil {
		return err
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	if ret, ok := v.(*payload.Map); ok && ret.Value("result") == false {
		return loader.ExecErr("%s", python.Str(ret.Value("comment")))
	}
	return nil
}
