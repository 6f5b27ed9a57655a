package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
)

var writeDoc = flag.Bool("write", false, "write docs/options.md anew")

const optionsFile = "../docs/options.md"

const optionsHead = `# Options

Made from config/salt3008/standing.txt and the option structs of config: do not edit by hand, but run

    go test ./config -run OptionsDoc -write

## Where options come from

Four layers, each over those before it:

1. defaults: those of Salt 3008.3, and brine's own below;
2. files: ` + "`master` or `minion`, then `default_include` (`master.d/*.conf`, `minion.d/*.conf`), then `include`" + `;
3. environment: ` + "`BRINE_MASTER__LOG_LEVEL=debug`, `BRINE_MINION__ID=web1`" + `. A value is YAML, as in a file. A double underscore goes
   one level down and changes only that part of a map: ` + "`BRINE_MINION__GRAINS__ROLE=web`" + `. A name in capitals means the one in
   small letters, any other is taken as it is written. An empty variable counts as not set. Commands that a minion runs as
   another user do not see such variables, and events do not carry them;
4. command line.

` + "`brine config get KEY` and `brine config dump --origin`" + ` show what holds and which layer, file and line it comes from;
` + "`brine config check`" + ` says what a daemon would say at its start, and all that would keep it from starting.

A daemon ends with code 64 when ` + "`-c` or `SALT_CONFIG_DIR`" + ` names a directory that does not exist. Salt's starts with its defaults
then: a master listens on every interface because of a slip in a name.

## Verdicts

- **yes**: honoured, by the daemon or by its tools;
- **no**: accepted without effect, because the thing it speaks of does not exist here. A daemon names it in its log when it is set to
  other than Salt's default;
- **refused**: not honoured, and somebody relies on it, for protection or delivery: the daemon does not start, and ends with code 78;
- **salt-api**: in the file of a master, read by salt-api; a master says nothing of it;
- **-**: not an option of this daemon.

"no but a" means that the value a is as good as the default. *live* marks what changes while the daemon runs, when a file changes or
SIGHUP comes; anything else is named in the log and waits for a restart.

An option that nobody knows is the operator's own and is kept. When it looks like a slip of the hand the daemon asks "did you mean".
`

// TestOptionsDoc compares docs/options.md with the tables that it is made from.
func TestOptionsDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString(optionsHead)
	all, about := standings(t), comments(t)
	keys := make([]string, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	own := brineDefaults(roleMaster)
	own.Update(brineDefaults(roleMinion))
	b.WriteString("\n## brine's own options\n\n| option | master | minion | default | what it does |\n| --- | --- | " +
		"--- | --- | --- |\n")
	for _, key := range keys {
		if own.Has(key) && key != "multiprocessing" && !saltHas(t, key) {
			if about[key] == "" {
				t.Errorf("%s: its field has no comment that says what it does", key)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", key, verdict(all[key].master, roleMaster, key),
				verdict(all[key].minion, roleMinion, key), shownDefault(own.Value(key)), cell(about[key]))
		}
	}
	master, minion := saltTable(t, roleMaster), saltTable(t, roleMinion)
	b.WriteString("\n## Options of Salt\n\n| option | master | minion | default | remark |\n| --- | --- | --- | --- " +
		"| --- |\n")
	for _, key := range keys {
		if own.Has(key) && !saltHas(t, key) {
			continue
		}
		std, ok := master.Get(key)
		if other, has := minion.Get(key); has && (!ok || all[key].foreign(roleMaster)) {
			std, ok = other, true
		}
		text := ""
		if ok {
			text = shownDefault(std)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", key, verdict(all[key].master, roleMaster, key),
			verdict(all[key].minion, roleMinion, key), text, cell(all[key].why))
	}
	if *writeDoc {
		if err := os.WriteFile(optionsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(optionsFile)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/options.md is out of date (%v): an option or its comment has changed. Make it anew with: go "+
			"test ./config -run OptionsDoc -write", err)
	}
}

func saltTable(t *testing.T, role string) *payload.Map {
	t.Helper()
	opts, err := table(role)
	if err != nil {
		t.Fatal(err)
	}
	return opts
}

func saltHas(t *testing.T, key string) bool {
	t.Helper()
	return saltTable(t, roleMaster).Has(key) || saltTable(t, roleMinion).Has(key) || saltTable(t, "types").Has(key)
}

// verdict says what a daemon does with an option.
func verdict(rules []rule, role, key string) string {
	var out []string
	for _, r := range rules {
		text := map[byte]string{'+': "yes", '-': "-", '~': "no", '!': "refused"}[r.act]
		if fine := slices.DeleteFunc(slices.Clone(r.fine), func(s string) bool { return s == "" }); len(fine) > 0 {
			text += " but " + strings.Join(fine, ", ")
		}
		now, later := NetapiTakes(key)
		if r.act == actOthers && role == roleMaster && (now || later) {
			text = "salt-api"
		}
		if r.act == actHonour && slices.Contains(live(role), key) || text == "salt-api" && now {
			text += ", *live*"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; else ")
}

// shownDefault is a default as a file would say it, unless it is long.
func shownDefault(v any) string {
	text := strings.ReplaceAll(python.Str(v), "\n", " ")
	switch {
	case v == nil || text == "":
		return ""
	case len(text) > 60:
		text = text[:57] + "..."
	}
	return "`" + cell(text) + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

var spaces = regexp.MustCompile(`\s+`)

// comments are what the option structs say about each option; a field right below another shares its comment.
func comments(t *testing.T) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	out, fieldKeys := map[string]string{}, map[string]string{}
	for _, name := range []string{"common.go", "master.go", "minion.go"} {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			st, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			shared, line := "", 0
			for _, field := range st.Fields.List {
				if field.Tag == nil {
					continue
				}
				tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
				key, _, _ := strings.Cut(tag.Get("mapstructure"), ",")
				at := fset.Position(field.Pos()).Line
				switch doc := field.Doc.Text(); {
				case doc != "":
					shared = doc
				case line != at-1:
					shared = ""
				}
				line = at
				text := shared
				if note := strings.TrimSpace(field.Comment.Text()); note != "" && field.Doc != nil {
					text += " (" + note + ")"
				} else if note != "" { // the comment above speaks of a group
					text = note + ": " + shared
				}
				text = strings.Trim(spaces.ReplaceAllString(text, " "), " :")
				if out[key] == "" {
					out[key] = text
				}
				if len(field.Names) > 0 {
					fieldKeys[field.Names[0].Name] = key
				}
			}
			return true
		})
	}
	word := regexp.MustCompile(`\b[A-Z]\w+\b`)
	for key, text := range out {
		out[key] = word.ReplaceAllStringFunc(text, func(w string) string {
			if k := fieldKeys[w]; k != "" && own(k, w) {
				return "`" + k + "`"
			}
			return w
		})
	}
	return out
}

// own keeps words that only look like fields (Salt, Test): a field's name is its option's without underscores.
func own(key, field string) bool {
	return strings.Contains(key, "_") && strings.EqualFold(strings.ReplaceAll(key, "_", ""), field)
}
