package outputters

import (
	"slices"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

const (
	// stateSep separates the parts of a state's key: module, id, name, function.
	stateSep = "_|-"
	// stateIndent is where the text of comments and changes begins.
	stateIndent = 14
)

// stateEntry is one state with the parts of its key.
type stateEntry struct {
	module, id, name, fun string
	ret                   *payload.Map
	result                any
	compressed            int // states rolled into this one
	changed               bool
	changes               string
	color                 string
}

// states shows a map of state results in the order they ran, then the summary.
func (b *hostBlock) states(host string, data *payload.Map) error {
	var list []*stateEntry
	for k, v := range data.All() {
		ret, ok := v.(*payload.Map)
		if !ok {
			continue
		}
		if k != any("changes") && ret.Len() > 0 && !ret.Has("__run_num__") {
			b.lines = append([]string{"The State execution failed to record the order in which all states were " +
				"executed. The state return missing data is:", Pformat(ret, 1)}, b.lines...)
		}
		if !ret.Has("result") {
			continue
		}
		e, err := newStateEntry(str(k), ret)
		if err != nil {
			return err
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(x, y *stateEntry) int {
		return compareKeys(runNumber(x.ret), runNumber(y.ret))
	})
	for _, e := range list {
		if err := b.state(e); err != nil {
			return err
		}
	}
	b.summary(host)
	return nil
}

func runNumber(ret *payload.Map) any {
	n, _ := ret.Int("__run_num__")
	return n
}

func newStateEntry(key string, ret *payload.Map) (*stateEntry, error) {
	parts := strings.Split(key, stateSep)
	const wanted = 4
	if len(parts) < wanted {
		return nil, errShape
	}
	e := &stateEntry{module: parts[0], id: parts[1], name: parts[2], fun: parts[3], ret: ret,
		result: ret.Value("result"), compressed: 1, color: green}
	if strings.Contains(key, stateSep+compressedMark) {
		e.compressed = compressedCount(e.id)
	}
	return e, nil
}

// state counts one state and shows it in the form the options ask for.
func (b *hostBlock) state(e *stateEntry) error {
	if !b.counts.add(e.result, e.compressed) {
		return errShape
	}
	if err := b.duration(e.ret); err != nil {
		return err
	}
	if err := b.readChanges(e); err != nil {
		return err
	}
	so := &b.o.State
	if python.Truth(e.result) && !e.changed && (so.Diff || so.Quiet) {
		return nil
	}
	b.paint(e)
	form := strings.ToLower(so.Output)
	if strings.HasSuffix(form, "_id") {
		e.name = e.id
	}
	switch b.how(form, e) {
	case showNothing:
		return nil
	case showTerse:
		return b.terse(e)
	}
	return b.full(e)
}

func (b *hostBlock) paint(e *stateEntry) {
	if e.changed {
		e.color = cyan
	}
	switch e.result {
	case false:
		b.color, e.color = red, red
	case nil:
		b.color, e.color = lightYellow, lightYellow
	}
}

type stateForm uint8

const (
	showFull stateForm = iota
	showTerse
	showNothing
)

func (b *hostBlock) how(form string, e *stateEntry) stateForm {
	result := str(e.result)
	switch {
	case strings.HasPrefix(form, "filter"):
		if slices.Contains(b.o.State.Terse, result) {
			return showTerse
		}
		if slices.Contains(b.o.State.Exclude, result) {
			return showNothing
		}
	case strings.HasPrefix(form, "terse"),
		strings.HasPrefix(form, "mixed") && e.result != any(false),
		strings.HasPrefix(form, "changes") && python.Truth(e.result) && !e.changed:
		return showTerse
	}
	return showFull
}

// duration adds the time of a state: a number, or text like "0.512 ms".
func (b *hostBlock) duration(ret *payload.Map) error {
	var ms float64
	switch x := ret.Value("duration").(type) {
	case nil:
		if ret.Has("duration") {
			return errShape
		}
	case string:
		text, _, _ := strings.Cut(x, " ms")
		if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			ms = f
		}
	case bool, int64, uint64, float64:
		ms = number(x)
	default:
		return errShape
	}
	if ret.Has("__parallel__") {
		b.longest = max(b.longest, ms)
	} else {
		b.serial += ms
	}
	return nil
}

// readChanges renders the changes of a state and counts it as changed.
func (b *hostBlock) readChanges(e *stateEntry) error {
	changes, ok := e.ret.Get("changes")
	if !ok {
		return errShape
	}
	switch e.ret.Str("name") {
	case "state.orch", "state.orchestrate", "state.sls":
		inner, err := highstateLevel(changes, b.o, b.level+1)
		if err != nil {
			return err
		}
		margin := strings.Repeat(" ", stateIndent*b.level)
		e.changes = margin + "\n" + margin + strings.ReplaceAll(inner, "\n", "\n"+margin)
		e.changed = true
		b.changes++
		return nil
	}
	var err error
	if e.changed, e.changes, err = b.formatChanges(changes); err != nil || !e.changed {
		return err
	}
	n := 1
	if m, ok := changes.(*payload.Map); ok && e.compressed > 1 {
		n = max(m.Map(compressedChanges).Len(), 1)
	}
	b.changes += n
	return nil
}

// formatChanges shows changes below each other; those of a state run on other hosts as blocks of their own.
func (b *hostBlock) formatChanges(changes any) (changed bool, text string, err error) {
	if !python.Truth(changes) {
		return false, "", nil
	}
	m, ok := changes.(*payload.Map)
	if !ok {
		return true, "Invalid Changes data: " + str(changes), nil
	}
	ret, ok := m.Get("ret")
	if !ok || ret == nil || m.Value("out") != any("highstate") {
		inner := *b.o
		inner.NestedIndent, inner.Retcode = stateIndent, 0
		text, err := Format("nested", m, inner)
		return true, "\n" + text, err
	}
	hosts, ok := ret.(*payload.Map)
	if !ok {
		return false, "", errShape
	}
	for host, data := range hosts.All() {
		block, hostChanged, err := formatHost(str(host), data, b.o, 1)
		if err != nil {
			return false, "", err
		}
		for _, line := range splitLines(block, false) {
			text += "\n" + strings.Repeat(" ", stateIndent) + line
		}
		changed = changed || hostChanged
	}
	return changed, text, nil
}

// full shows one state in its long form.
func (b *hostBlock) full(e *stateEntry) error {
	comment, err := stateComment(e.ret)
	if err != nil {
		return err
	}
	c, end := b.o.color(e.color), b.o.color(endColor)
	add := func(label, text string) { b.lines = append(b.lines, "    "+c+label+text+end) }
	b.lines = append(b.lines, c+mapRule+end)
	add("      ID: ", e.id)
	add("Function: ", e.module+"."+e.fun)
	if e.name != e.id {
		add("    Name: ", e.name)
	}
	add("  Result: ", str(e.result))
	add(" Comment: ", comment)
	if start, ok := e.ret.Get("start_time"); ok && !b.o.State.NoProfile {
		add(" Started: ", str(start))
		add("Duration: ", durationText(e.ret))
	}
	b.lines = append(b.lines, c+"     Changes:   "+e.changes+end)
	return b.warnings(e.ret)
}

func durationText(ret *payload.Map) string {
	d, ok := ret.Get("duration")
	if !ok || d == any("") {
		return ""
	}
	return str(d) + " ms"
}

// stateComment is the comment, with the data some functions return behind it.
func stateComment(ret *payload.Map) (string, error) {
	v, ok := ret.Get("comment")
	if !ok {
		return "", errShape
	}
	comment := strings.ReplaceAll(strip(str(v)), "\n", "\n"+strings.Repeat(" ", stateIndent))
	data, ok := ret.Get("data")
	if !ok {
		return comment, nil
	}
	switch x := data.(type) {
	case []any:
		for _, item := range x {
			comment += " " + str(item)
		}
	case *payload.Map:
		for k, item := range x.All() {
			comment += "\n\t\t" + str(k) + ": " + str(item)
		}
	default:
		comment += " " + str(x)
	}
	return comment, nil
}

func (b *hostBlock) warnings(ret *payload.Map) error {
	text, ok, err := warningText(ret)
	if err != nil || !ok {
		return err
	}
	b.counts.warnings++
	b.lines = append(b.lines, "   "+b.o.color(lightRed)+" Warnings: "+
		strings.TrimLeftFunc(wrapText(text, stateIndent), python.IsSpace)+b.o.color(endColor))
	return nil
}

// warningText joins the warnings; a single text counts as a list of its characters, as in Salt.
func warningText(ret *payload.Map) (text string, ok bool, err error) {
	v, ok := ret.Get("warnings")
	if !ok {
		return "", false, nil
	}
	var parts []string
	switch x := v.(type) {
	case []any:
		if parts, err = textCells(x); err != nil {
			return "", false, err
		}
	case string:
		parts = strings.Split(x, "")
	default:
		return "", false, errShape
	}
	return strings.Join(parts, "\n"), true, nil
}
