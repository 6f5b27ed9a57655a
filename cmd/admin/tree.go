package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/payload"
)

// minionOption declares --minion.
func minionOption() optparse.Option {
	return optparse.Option{Flags: []string{"--minion"}, Dest: "ask_minion", Metavar: "ID",
		Help: "Ask a brine minion through its master. The minion of this machine is asked with -m."}
}

// Tree shows every actor of a daemon, or one actor with its descendants.
func Tree(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		words: " [ACTOR]", description: "Show the actors of a running daemon.", most: 1,
		want: "Takes one actor at most", watch: true, options: []optparse.Option{minionOption()}, remote: "ask_minion",
	})
	if err != nil {
		return err
	}
	path := strings.Join(a.Opt.Args, "")
	next := func() (*payload.Map, error) { return askMap(a, control.GetTree{Name: path}) }
	if id := a.Opt.Str("ask_minion"); id != "" {
		if next, err = a.minionTrees(id, path); err != nil {
			return err
		}
	}
	return a.show(func() (answer, error) {
		m, err := next()
		if err != nil {
			return answer{}, err
		}
		return answer{value: m, text: func() string {
			return top.Tree(stats.ParseChild(m), time.Now(), a.width())
		}}, nil
	})
}

// minionTrees asks one minion for its tree, or a part of it.
func (a *adminTool) minionTrees(id, path string) (func() (*payload.Map, error), error) {
	f, err := a.fleet(id)
	if err != nil {
		return nil, err
	}
	f.job.Tgt, f.job.TgtType = []any{id}, "list"
	return func() (*payload.Map, error) {
		trees, silent, err := f.trees(context.Background(), false)
		if err != nil {
			return nil, err
		}
		if len(trees) == 0 {
			return nil, tool.Exit(tool.ExitGeneric, "brine: %s", strings.Join(silent, ", "))
		}
		node := findActor(trees[0], path)
		if node == nil {
			return nil, tool.Exit(tool.ExitGeneric, "brine: %s: no such actor on %s", path, id)
		}
		return node, nil
	}, nil
}

// findActor finds the actor at a path below a root, or returns nil.
func findActor(root *payload.Map, path string) *payload.Map {
	path = strings.TrimPrefix(path, root.Str("path")+"/")
	if path == "" || path == root.Str("path") {
		return root
	}
	name, rest, _ := strings.Cut(path, "/")
	for _, c := range root.List("children") {
		if child, ok := c.(*payload.Map); ok && child.Str("name") == name {
			return findActor(child, rest)
		}
	}
	return nil
}

// History shows the last deaths of a daemon's actors.
func History(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		words: " [ACTOR]", description: "Show the last deaths of a running daemon's actors, oldest first.", most: 1,
		want: "Takes one actor at most", watch: true, options: []optparse.Option{{Flags: []string{"--stacks"},
			Kind: optparse.Flag, Dest: "with_stacks", Help: "Show the stacks of panics, too."}},
	})
	if err != nil {
		return err
	}
	return a.show(func() (answer, error) {
		list, err := ask(a, control.GetHistory{})
		if err != nil {
			return answer{}, err
		}
		name := strings.Join(a.Opt.Args, "")
		if name != "" {
			list = ofActor(list, name)
		}
		if len(list) == 0 && name != "" { // either the actor has never died, or there is none of this name
			if _, err := ask(a, control.GetTree{Name: name}); err != nil {
				return answer{}, err
			}
			return answer{value: list, text: func() string { return name + " has not died.\n" }}, nil
		}
		return answer{value: list, text: func() string {
			return historyText(list, a.Opt.Bool("with_stacks"), time.Now())
		}}, nil
	})
}

// historyText gives a line for each death, followed by its stack if stacks is set.
func historyText(deaths []any, stacks bool, now time.Time) string {
	if len(deaths) == 0 {
		return "No actor has died.\n"
	}
	var b strings.Builder
	for _, v := range deaths {
		m, _ := v.(*payload.Map)
		d := stats.ParseDeath(m)
		fmt.Fprintf(&b, "%s  %s  %s\n", d.Time.Local().Format("2006-01-02 15:04:05"), d.Path, top.Death(d, now))
		if stacks && d.Stack != "" {
			b.WriteString("    " + strings.ReplaceAll(strings.TrimRight(d.Stack, "\n"), "\n", "\n    ") + "\n")
		}
	}
	return b.String()
}

// ofActor selects the deaths of an actor. The name may be the one in the tree, the whole path, or the end of
// the path.
func ofActor(deaths []any, name string) []any {
	out := []any{}
	for _, d := range deaths {
		if m, ok := d.(*payload.Map); ok && (m.Str("path") == name || strings.HasSuffix(m.Str("path"), "/"+name)) {
			out = append(out, d)
		}
	}
	return out
}
