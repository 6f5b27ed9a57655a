package pkg

import (
	"errors"
	"slices"
	"strings"

	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// condition is what a version is to be: "1.0" is "== 1.0".
type condition struct{ oper, version string }

var conditioned = pattern.New(`^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$`)

// conditionsOf reads conditions with commas between them.
func conditionsOf(text string) (out []condition) {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		c := condition{"", part}
		if m := conditioned.FindStringSubmatch(part); m != nil {
			c = condition{m[1], m[2]}
		}
		if c.oper == "=" || c.oper == "" {
			c.oper = "=="
		}
		out = append(out, c)
	}
	return out
}

// fulfils tells whether one of the versions meets all conditions. With updates a newer one than a single version that
// is wanted will do.
func fulfils(c *states.Call, versions []string, text string, ignoreEpoch any, updates bool) (bool, error) {
	conditions := conditionsOf(text)
	if updates && len(conditions) == 1 && conditions[0].oper == "==" {
		conditions[0].oper = ">="
	}
	for _, version := range versions {
		all := true
		for _, want := range conditions {
			meets, err := want.met(c, version, ignoreEpoch)
			if err != nil {
				return false, err
			}
			all = all && meets
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

// met asks the provider to compare. An epoch counts where the condition is an order or has one itself.
func (want condition) met(c *states.Call, version string, ignoreEpoch any) (bool, error) {
	if want.oper == "==" && fnmatch.Match(want.version, version) {
		return true, nil
	}
	if ignoreEpoch == nil {
		ignoreEpoch = !strings.ContainsAny(want.oper, "<>") && !strings.Contains(want.version, ":")
	}
	v, err := c.Salt("pkg.version_cmp", payload.M("ignore_epoch", ignoreEpoch), version, want.version)
	order, known := v.(int64)
	return err == nil && known && pkg_resource.Holds(int(order), want.oper), err
}

// desiredText is a package with the version that is wanted, as it is told of.
func desiredText(name string, desired *payload.Map) string {
	version := loader.Text(desired.Value(name))
	if version == "" || strings.ContainsAny(version[:1], "<>=") {
		return name + version
	}
	return name + "=" + version
}

// desiredTexts are several of them, with commas.
func desiredTexts(names []string, desired *payload.Map) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = desiredText(name, desired)
	}
	return strings.Join(out, ", ")
}

// versionsAt are the versions of a package in a map of lists.
func versionsAt(m *payload.Map, name any) []string {
	switch v := m.Value(name).(type) {
	case []any:
		return payload.Texts(v)
	case string:
		return strings.Split(v, ",")
	case *payload.Map: // of downloaded packages: version → file
		return payload.Texts(v.Keys())
	}
	return nil
}

// installable is what test mode shows of packages: the version that could be had, or that it would be installed.
func installable(c *states.Call, targets, current *payload.Map) (*payload.Map, error) {
	var open, exact []any
	for name, version := range targets.All() {
		text := desiredText(python.Str(name), targets)
		if !python.Truth(version) {
			open = append(open, text)
		} else if !slices.Contains(open, any(name)) {
			exact = append(exact, text)
		}
	}
	offered := payload.NewMap(targets.Len())
	if len(open) > 0 {
		v, err := c.Salt("pkg.latest_version", nil, open...)
		if err != nil {
			return nil, err
		}
		if m, ok := v.(*payload.Map); ok {
			offered.Update(m)
		} else {
			offered.Set(open[0], v)
		}
	}
	if len(exact) > 0 && c.Has("pkg.list_repo_pkgs") {
		all, err := salt(c, "pkg.list_repo_pkgs", nil, exact...)
		if err != nil {
			return nil, err
		}
		for name := range all.All() {
			if list := versionsAt(all, name); len(list) > 0 {
				offered.Set(name, list[0])
			}
		}
	}
	changes := payload.NewMap(targets.Len())
	for name := range targets.All() {
		now, old := offered.Value(name), current.Value(name)
		if !python.Truth(now) {
			now = "installed"
		}
		if old == nil {
			old = ""
		}
		changes.Set(name, payload.M("new", now, "old", old))
	}
	return changes, nil
}

// failed is what a failure of the provider makes a state: its changes, and what it says of it. Other errors stay what
// they are.
func failed(err error, doing string) (states.Done, error) {
	var failure *loader.CommandExecutionError
	if !errors.As(err, &failure) {
		return states.Done{}, err
	}
	if failure.Changes != nil {
		return states.Failed(failure.Brief, failure.Changes)
	}
	return states.Failed(doing+": "+loader.Message(err), nil)
}

// isExecution tells whether an error is that of a command, which a state tells of.
func isExecution(err error) bool {
	var failure *loader.CommandExecutionError
	return errors.As(err, &failure)
}
