package salt

import (
	"fmt"
	"slices"
	"strings"

	"brine/cmd/display"
	"brine/wire/payload"
	"brine/wire/python"
)

// showDocs shows the help texts of all minions together, by function. It skips a return that is no map of
// texts, such as a silence.
func (t *saltTool) showDocs(returns *payload.Map) error {
	docs := map[string]any{}
	for _, v := range returns.All() {
		m, _ := v.(*payload.Map)
		for name, doc := range m.All() {
			if fun := python.Str(name); docs[fun] == nil && doc != nil && doc != "" && doc != valueTrimmed {
				docs[fun] = doc
			}
		}
	}
	if returns.Len() == 0 {
		return t.noReturn()
	}
	names := make([]string, 0, len(docs))
	for name := range docs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if t.Opt.Str("output") == "" {
			fmt.Fprintf(t.Stdout, "%s:\n%s\n\n", name, strings.TrimSuffix(python.Str(docs[name]), "\n"))
			continue
		}
		if err := display.Show(t.Session, payload.M(name, docs[name]), display.How{Out: "nested"}); err != nil {
			return err
		}
	}
	return nil
}
