package cron

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Marks of lines that Salt manages.
const (
	mark         = "# Lines below here are managed by Salt, do not edit"
	idMark       = "SALT_CRON_IDENTIFIER"
	noID         = "NO ID SET"
	disabledMark = "#DISABLED#"
)

// table is that of a user.
type table struct {
	pre            []string // lines above the mark
	crons, special []*job
	env            []variable
}

// job is a line that runs a command: at a time, or at a special moment (@daily).
type job struct {
	when       []string // minute, hour, day of month, month, day of week; nil: special
	special    string
	cmd        string
	identifier any // a text, or nil for none
	comment    any
	commented  bool
}

// variable is a line that sets one; its value is a text, or nil.
type variable struct {
	name  string
	value any
}

// times are the names of the fields of a time.
var times = []string{"minute", "hour", "daymonth", "month", "dayweek"}

func load(c *loader.Call, user string) (*table, error) {
	text, err := read(c, user)
	if err != nil {
		return nil, err
	}
	return parse(text), nil
}

// parse reads a table. Below the mark, lines that it does not know are passed over, as in Salt.
func parse(text string) *table {
	t, managed := &table{}, false
	var note notes
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case line == mark:
			managed = true
		case managed:
			t.managed(line, &note)
		case text != "":
			t.pre = append(t.pre, line)
		}
	}
	return t
}

// notes are the comment and the identifier that stand above a line.
type notes struct{ comment, identifier any }

// take gives them to a line, and forgets them.
func (n *notes) take(j *job) *job {
	j.comment, j.identifier = n.comment, n.identifier
	*n = notes{}
	return j
}

func (n *notes) add(line string) {
	text := strings.TrimLeft(line, "# ")
	if before, after, ok := strings.Cut(text, idMark); ok {
		text = strings.TrimRight(before, " \t\r\v\f")
		if after, _, _ = strings.Cut(after, idMark); len([]rune(after)) > 1 {
			n.identifier = string([]rune(after)[1:])
		}
	}
	if n.comment == nil {
		n.comment = text
	} else {
		n.comment = n.comment.(string) + "\n" + text
	}
}

func (t *table) managed(line string, note *notes) {
	line, off := strings.CutPrefix(line, disabledMark)
	equals, blank := strings.IndexByte(line, '='), strings.IndexByte(line, ' ')
	words := strings.Split(line, " ")
	switch {
	case strings.HasPrefix(line, "@"):
		if parts := strings.Fields(line); len(parts) > 1 {
			t.special = append(t.special, note.take(&job{special: parts[0], cmd: strings.Join(parts[1:], " "),
				commented: off}))
		}
	case strings.HasPrefix(line, "#"):
		note.add(line)
	case equals > 0 && (blank < 0 || equals < blank):
		t.env = append(t.env, variable{line[:equals], line[equals+1:]})
	case len(words) > len(times):
		t.crons = append(t.crons, note.take(&job{when: words[:len(times)], cmd: strings.Join(words[len(times):], " "),
			commented: off}))
	}
}

// text is the table as lines.
func (t *table) text() string {
	var b strings.Builder
	for _, line := range t.pre {
		b.WriteString(line + "\n")
	}
	if n := len(t.pre); n == 0 || t.pre[n-1] != mark {
		b.WriteString(mark + "\n")
	}
	for _, v := range t.env {
		if text := loader.Text(v.value); text != "" {
			b.WriteString(v.name + "=" + text + "\n")
		} else {
			b.WriteString(v.name + "=\"\"\n")
		}
	}
	for _, j := range t.crons {
		b.WriteString(j.notes(loader.Text(j.comment)) + j.prefix() + strings.Join(j.when, " ") + " " + j.cmd + "\n")
	}
	for _, j := range t.special {
		b.WriteString(j.notes(strings.TrimRight(loader.Text(j.comment), " \t\n\r\v\f")) + j.prefix() + j.special + " " +
			j.cmd + "\n")
	}
	return b.String()
}

func (j *job) prefix() string {
	if j.commented {
		return disabledMark
	}
	return ""
}

// notes are the lines above one.
func (j *job) notes(comment string) string {
	if j.comment == nil && j.identifier == nil {
		return ""
	}
	line := "#"
	if python.Truth(j.comment) {
		line += " " + strings.ReplaceAll(comment, "\n", "\n# ")
	}
	if python.Truth(j.identifier) {
		line += " " + idMark + ":" + python.Str(j.identifier)
	}
	return line + "\n"
}

// shown is a line as a map.
func (j *job) shown() *payload.Map {
	if j.when == nil {
		return payload.M("spec", j.special, "cmd", j.cmd, "identifier", j.identifier, "comment", j.comment,
			"commented", j.commented)
	}
	m := payload.NewMap(len(times) + 4)
	for i, name := range times {
		m.Set(name, j.when[i])
	}
	return m.Set("identifier", j.identifier).Set("cmd", j.cmd).Set("comment", j.comment).Set("commented", j.commented)
}

func (t *table) shown() *payload.Map {
	crons, special, env := []any{}, []any{}, []any{}
	for _, j := range t.crons {
		crons = append(crons, j.shown())
	}
	for _, j := range t.special {
		special = append(special, j.shown())
	}
	for _, v := range t.env {
		env = append(env, payload.M("name", v.name, "value", v.value))
	}
	return payload.M("pre", payload.AnyList(t.pre), "crons", crons, "special", special, "env", env)
}
