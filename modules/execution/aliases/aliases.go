// Package aliases is the execution module aliases: it reads and changes the table of mail aliases, /etc/aliases or what
// the option aliases.file names, and has newaliases read it. It answers to salt/modules/aliases.py.
package aliases

import (
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/conffile"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module aliases.
func Module() loader.Module {
	return loader.Module{File: "aliases", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("list_aliases", listAliases, "List the aliases with their targets.",
				"aliases.list_aliases").Shows("yaml"),
			loader.Fn("get_target", getTarget, "Show the target of an alias.", "aliases.get_target alias").Shows("txt"),
			loader.Fn("has_target", hasTarget, "Tell whether an alias has a target.",
				"aliases.has_target alias target").Shows("txt"),
			loader.Fn("set_target", setTarget, "Give an alias its target.", "aliases.set_target alias target").Shows("txt"),
			loader.Fn("rm_alias", rmAlias, "Remove an alias.", "aliases.rm_alias alias").Shows("txt"),
		}
	}}
}

type (
	named struct {
		Alias string `arg:"alias"`
	}
	targeted struct {
		named
		Target any `arg:"target"`
	}
)

// entry is a line: an alias with its target and a comment, or something else, which stays as it is (comment).
type entry struct{ alias, target, comment string }

var line = pattern.New(`^([^:#]*)\s*:?\s*([^#]*?)(\s+#.*|$)`)

// table is the file with what was in it.
type table struct {
	path    string
	entries []entry
}

func load(c *loader.Call) (*table, error) {
	v, err := c.Call("config.option", []any{"aliases.file"}, nil)
	if err != nil {
		return nil, err
	}
	t := &table{path: loader.Text(v)}
	if t.path == "" {
		return nil, loader.ExecErr("the option aliases.file names no file")
	}
	text, err := conffile.Text(t.path)
	if err != nil {
		return nil, loader.ExecErr("the table of aliases cannot be read: %s", loader.Message(err))
	}
	for text := range strings.Lines(text) {
		text = strings.TrimRight(text, "\r\n")
		// Unlike Salt: a line without a target stays, as the second line of a long list of targets. Salt empties it.
		if m := line.FindStringSubmatch(text); m != nil && m[2] != "" && strings.Contains(text, ":") {
			t.entries = append(t.entries, entry{m[1], m[2], m[3]})
		} else {
			t.entries = append(t.entries, entry{comment: text})
		}
	}
	return t, nil
}

// list are the aliases; of two lines for one the later counts.
func (t *table) list() *payload.Map {
	all := payload.NewMap(0)
	for _, e := range t.entries {
		if e.alias != "" {
			all.Set(e.alias, e.target)
		}
	}
	return all
}

// write writes the table whole, and has newaliases read it where there is that program.
func (t *table) write(c *loader.Call) error {
	var out strings.Builder
	for _, e := range t.entries {
		if e.alias != "" && e.target != "" {
			out.WriteString(e.alias + ": " + e.target)
		}
		out.WriteString(e.comment + "\n")
	}
	if err := conffile.Write(t.path, []byte(out.String())); err != nil {
		return loader.ExecErr("the table of aliases cannot be written: %s", loader.Message(err))
	}
	paths, _ := environ.Of(c.Ctx).Get("PATH")
	found := program.WhichOn(paths, "newaliases")
	if found == "" {
		return nil
	}
	_, err := cmdmod.Run(c, []string{filepath.Clean(found)}, nil)
	return err
}

func listAliases(c *loader.Call, _ struct{}) (*payload.Map, error) {
	t, err := load(c)
	if err != nil {
		return nil, err
	}
	return t.list(), nil
}

func getTarget(c *loader.Call, a named) (any, error) {
	all, err := listAliases(c, struct{}{})
	if v, ok := all.Get(a.Alias); ok {
		return v, err
	}
	return "", err
}

// textOf is a target as it is written: a list is joined.
func textOf(v any) string {
	list, ok := v.([]any)
	if !ok {
		return python.Str(v)
	}
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = python.Str(item)
	}
	return strings.Join(words, ", ")
}

func hasTarget(c *loader.Call, a targeted) (bool, error) {
	if a.Target == "" {
		return false, loader.InvocErr("target can not be an empty string")
	}
	all, err := listAliases(c, struct{}{})
	return all.Value(a.Alias) == any(textOf(a.Target)), err
}

// checked refuses what would be another line of the table, or another name. Unlike Salt, which writes it.
func checked(alias, target string) error {
	switch {
	case alias == "":
		return loader.InvocErr("alias can not be an empty string")
	case target == "":
		return loader.InvocErr("target can not be an empty string")
	case strings.ContainsAny(alias, ":#\n\r"):
		return loader.InvocErr("%s is no name of an alias", python.Repr(alias))
	case strings.ContainsAny(target, "\n\r"):
		return loader.InvocErr("%s is no target of an alias: it has more than one line", python.Repr(target))
	}
	return nil
}

func setTarget(c *loader.Call, a targeted) (bool, error) {
	target := textOf(a.Target)
	if err := checked(a.Alias, target); err != nil {
		return false, err
	}
	t, err := load(c)
	if err != nil {
		return false, err
	}
	if t.list().Value(a.Alias) == any(target) {
		return true, nil
	}
	var entries []entry
	set := false
	for _, e := range t.entries {
		switch {
		case e.alias != a.Alias:
			entries = append(entries, e)
		case !set:
			entries, set = append(entries, entry{a.Alias, target, e.comment}), true
		}
	}
	if !set {
		entries = append(entries, entry{a.Alias, target, ""})
	}
	t.entries = entries
	err = t.write(c)
	return err == nil, err
}

func rmAlias(c *loader.Call, a named) (bool, error) {
	t, err := load(c)
	if err != nil || t.list().Str(a.Alias) == "" {
		return err == nil, err
	}
	var entries []entry
	for _, e := range t.entries {
		if e.alias != a.Alias {
			entries = append(entries, e)
		}
	}
	t.entries = entries
	err = t.write(c)
	return err == nil, err
}
