package hosts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"brine/modules/host/conffile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Table is the text of a table of host names. What is changed in it is in the file after Flush, whole.
type Table struct {
	path, was, text string
}

// Load reads the table; one that is not there is empty.
func Load(c *loader.Call) (*Table, error) {
	v, err := c.Call("config.option", []any{"hosts.file"}, nil)
	if err != nil {
		return nil, err
	}
	t := &Table{path: loader.Text(v)}
	if t.path == "" {
		return nil, loader.ExecErr("the option hosts.file names no file")
	}
	if t.was, err = conffile.Text(t.path); err != nil {
		return nil, loader.ExecErr("the table of hosts cannot be read: %s", loader.Message(err))
	}
	t.text = t.was
	return t, nil
}

// Flush writes the table, if it was changed.
func (t *Table) Flush() error {
	if t.text == t.was {
		return nil
	}
	if err := conffile.Write(t.path, []byte(t.text)); err != nil {
		return loader.ExecErr("the table of hosts cannot be written: %s", loader.Message(err))
	}
	t.was = t.text
	return nil
}

// Entries are what stands in the table: {address: {aliases: [name], comment: text}}, and comment lines under names of
// their own. Lines of one address are one entry.
func (t *Table) Entries() *payload.Map {
	out, comments := payload.NewMap(0), 0
	for line := range strings.Lines(t.text) {
		line = strings.TrimFunc(line, python.IsSpace)
		if line == "" {
			continue
		}
		if line[0] == '#' {
			out.Set(fmt.Sprint("comment-", comments), []any{line})
			comments++
			continue
		}
		names, comment, _ := strings.Cut(line, "#")
		words := strings.FieldsFunc(names, python.IsSpace)
		entry := out.Map(words[0])
		if entry == nil {
			entry = payload.M("aliases", []any{})
			out.Set(words[0], entry)
		}
		entry.Set("aliases", append(slices.Clone(entry.List("aliases")), payload.AnyList(words[1:])...))
		if comment = strings.TrimLeftFunc(comment, python.IsSpace); comment != "" {
			entry.Set("comment", comment)
		}
	}
	return out
}

// Aliases are the names of an address.
func (t *Table) Aliases(ip string) []string {
	return payload.Texts(t.Entries().Map(ip).List("aliases"))
}

// Has tells whether an address has a name.
func (t *Table) Has(ip, alias string) bool { return slices.Contains(t.Aliases(ip), alias) }

// oneWord refuses what would be more than one word of a line, or a comment. Unlike Salt, which writes whatever it is
// given, lines of others too.
func oneWord(what, s string) error {
	if s == "" || strings.Contains(s, "#") || strings.ContainsFunc(s, unicode.IsSpace) {
		return loader.InvocErr("%s is no %s for the table of hosts", python.Repr(s), what)
	}
	return nil
}

func oneLine(what, s string) error {
	if strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
		return loader.InvocErr("%s is no %s for the table of hosts: it has more than one line", python.Repr(s), what)
	}
	return nil
}

// Add gives an address a further name. The table is written anew, as in the reference: each address has one line.
func (t *Table) Add(ip, alias string) error {
	if t.Has(ip, alias) {
		return nil
	}
	if err := oneWord("address", ip); err != nil {
		return err
	}
	if err := oneWord("name", alias); err != nil {
		return err
	}
	entries := t.Entries()
	entry := entries.Map(ip)
	if entry == nil {
		entry = payload.NewMap(0)
		entries.Set(ip, entry)
	}
	entry.Set("aliases", append(slices.Clone(entry.List("aliases")), alias))
	t.write(entries)
	return nil
}

// Comment sets the comment of an address; it is false where there is no such address.
func (t *Table) Comment(ip, comment string) (bool, error) {
	entries := t.Entries()
	entry := entries.Map(ip)
	if entry == nil {
		return false, nil
	}
	if err := oneLine("comment", comment); err != nil {
		return false, err
	}
	if before, ok := entry.Get("comment"); ok && before == comment {
		return true, nil
	}
	entry.Set("comment", comment)
	t.write(entries)
	return true, nil
}

func (t *Table) write(entries *payload.Map) {
	var out strings.Builder
	for key, v := range entries.All() {
		line := ""
		if entry, ok := v.(*payload.Map); ok {
			line = key.(string) + "\t\t" + strings.Join(payload.Texts(entry.List("aliases")), " ")
			if comment, ok := entry.Get("comment"); ok {
				line += "\t\t# " + python.Str(comment)
			}
		} else {
			line = strings.Join(payload.Texts(v), "")
		}
		out.WriteString(strings.TrimFunc(line, python.IsSpace) + "\n")
	}
	t.text = out.String()
}

// lines are those of the text with their ends, and the words of each that is an entry.
func (t *Table) lines() (lines []string, words [][]string) {
	for line := range strings.Lines(t.text) {
		lines = append(lines, line)
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			words = append(words, nil)
		} else {
			words = append(words, strings.Fields(line))
		}
	}
	return lines, words
}

// Remove takes a name from an address. Other lines stay as they are.
func (t *Table) Remove(ip, alias string) {
	if !t.Has(ip, alias) {
		return
	}
	lines, words := t.lines()
	for i := range lines {
		if len(words[i]) == 0 || words[i][0] != ip {
			continue
		}
		names, comment, _ := strings.Cut(strings.TrimSpace(lines[i]), "#")
		line, left := ip+"\t\t", 0
		for _, name := range strings.Fields(names)[1:] {
			if name != alias {
				line += name + " "
				left++
			}
		}
		if comment = strings.TrimLeft(comment, " \t"); comment != "" {
			line += "# " + comment
		}
		lines[i] = line + "\n"
		if left == 0 {
			lines[i] = ""
		}
	}
	t.text = strings.Join(lines, "")
}

// Set gives an address these names only; without any its lines are removed.
func (t *Table) Set(ip, names, comment string) error {
	if err := oneWord("address", ip); err != nil {
		return err
	}
	if err := oneLine("list of names", names); err != nil || strings.Contains(names, "#") {
		return loader.InvocErr("%s is no list of names for the table of hosts", python.Repr(names))
	}
	if err := oneLine("comment", comment); err != nil {
		return err
	}
	line := ip + "\t\t" + names
	if comment != "" {
		line += "\t\t# " + comment
	}
	if line += "\n"; strings.TrimSpace(names) == "" {
		line = ""
	}
	lines, words := t.lines()
	set := false
	for i := range lines {
		if len(words[i]) == 0 || words[i][0] != ip {
			continue
		}
		lines[i] = ""
		if !set {
			lines[i], set = line, true
		}
	}
	if !set {
		if n := len(lines) - 1; n >= 0 && !strings.HasSuffix(lines[n], "\n") {
			lines[n] += "\n"
		}
		lines = append(lines, line)
	}
	t.text = strings.Join(lines, "")
	return nil
}
