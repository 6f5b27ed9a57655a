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

This page is made from config/salt3008/standing.txt and the option structs of config. Do not edit it; run

    go test ./config -run OptionsDoc -write

## Where options come from

There are four layers. Each overrides the earlier ones:

1. defaults: those of Salt 3008.3, and those of brine's own options below;
2. files: ` + "`master` or `minion`, then `default_include` (`master.d/*.conf`, `minion.d/*.conf`), then `include`" + `;
3. environment: ` + "`BRINE_MASTER__LOG_LEVEL=debug`, `BRINE_MINION__ID=web1`" + `. A value is YAML, as in a file. A double underscore goes
   one level down and changes only that part of a map: ` + "`BRINE_MINION__GRAINS__ROLE=web`" + `. A name in upper case
   means the one in lower case; any other name is taken unchanged. An empty variable counts as not set. Commands that a
   minion runs as another user do not get such variables, and events do not contain them;
4. command line.

` + "`brine config get KEY` and `brine config dump --origin`" + ` show the effective values, and the layer, file and line of each;
` + "`brine config check`" + ` shows the messages of a daemon's start, and all faults that would prevent it.

A daemon ends with code 64 when ` + "`-c` or `SALT_CONFIG_DIR`" + ` names a missing directory. A Salt daemon starts with its
defaults in this case: because of a typing error a master listens on every interface.

## Verdicts

- **yes**: supported, by the daemon or by its tools;
- **no**: accepted without effect, because brine does not have the feature. A daemon reports it in its log if it is set to a value
  other than Salt's default;
- **refused**: not supported, but an operator may rely on it, for protection or delivery: the daemon does not start, and ends with
  code 78;
- **salt-api**: in the file of a master, read by salt-api; a master ignores it;
- **-**: not an option of this daemon.

"no but a" means that the value a is accepted like the default. *live* means that a running daemon takes a new value when a file
changes or on SIGHUP. For any other option the log names the change, which waits for a restart.

An unknown option is the operator's own and is kept. If it looks like a typing error, the daemon asks "did you mean".
`

// TestOptionsDoc compares docs/options.md with the tables from which it is made.
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

// verdict says how a daemon treats an option.
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

// shownDefault is a default in the form of a file; a long one is cut.
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

// comments are the comments in the option structs, by option; a field directly below another one shares its comment.
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
				} else if note != "" { // the comment above covers a group
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

// own tells whether a word is a field's name: then it is the option's name without underscores. Words such as Salt and
// Test only look like field names.
func own(key, field string) bool {
	return strings.Contains(key, "_") && strings.EqualFold(strings.ReplaceAll(key, "_", ""), field)
}
