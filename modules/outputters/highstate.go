package outputters

import (
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// StateOptions are the options of the highstate outputter. The zero value is Salt's default.
type StateOptions struct {
	Output      string   // state_output: full, terse, mixed, changes, filter, each also with _id
	Quiet       bool     // state_verbose: False
	Diff        bool     // state_output_diff
	NoProfile   bool     // state_output_profile: False
	Percent     bool     // state_output_pct
	Tabular     any      // state_tabular: True, or a format of Python's str.format
	CompressIDs bool     // state_compress_ids
	Exclude     []string // state_output_exclude, or exclude= of the command line
	Terse       []string // state_output_terse, or terse= of the command line
}

func stateOptions(opts *payload.Map) StateOptions {
	off := func(name string) bool { v, ok := opts.Get(name); return ok && !python.Truth(v) }
	on := func(name string) bool { return python.Truth(opts.Value(name)) }
	var words *payload.Map
	for _, arg := range opts.List("arg") {
		if m, ok := arg.(*payload.Map); ok && m.Has("__kwarg__") {
			words = m
		}
	}
	list := func(word, option string) []string {
		if v, ok := words.Get(word); ok {
			return stateWords(v)
		}
		return stateWords(opts.Value(option))
	}
	return StateOptions{
		Output: opts.Str("state_output"), Quiet: off("state_verbose"), Diff: on("state_output_diff"),
		NoProfile: off("state_output_profile"), Percent: on("state_output_pct"),
		Tabular: opts.Value("state_tabular"), CompressIDs: on("state_compress_ids"),
		Exclude: list("exclude", "state_output_exclude"), Terse: list("terse", "state_output_terse"),
	}
}

// stateWords reads "True,None" or a list of such words.
func stateWords(v any) []string {
	switch x := v.(type) {
	case string:
		return strings.Split(x, ",")
	case []any:
		out := make([]string, len(x))
		for i := range x {
			out[i] = str(x[i])
		}
		return out
	}
	return nil
}

// highstate shows the returns of state functions (salt/output/highstate.py).
func highstate(data any, o *Options) (string, error) {
	return highstateLevel(data, o, 1)
}

// highstateLevel is highstate within a number of orchestrations.
func highstateLevel(data any, o *Options, level int) (string, error) {
	if !o.Minions {
		data = unwrapStates(data)
	}
	switch x := data.(type) {
	case nil:
		return "None", nil
	case string:
		return x, nil
	case *payload.Map:
		return formatHosts(x, o, level)
	}
	return "", errShape
}

// unwrapStates takes off what runners and job lookups put around state data. Of what minions say there is
// nothing to be taken off: one could put results of others into its return.
func unwrapStates(data any) any {
	for _, key := range [...]string{"return", "data"} {
		if m, ok := data.(*payload.Map); ok && m.Has(key) {
			data = m.Value(key)
		}
	}
	m, ok := data.(*payload.Map)
	if !ok || m.Len() != 1 {
		return data
	}
	for _, v := range m.All() {
		job, ok := v.(*payload.Map)
		if ok && job.Has("jid") && job.Has("fun") && job.Map("return").Has("data") {
			return job.Map("return").Value("data")
		}
	}
	return data
}

func formatHosts(hosts *payload.Map, o *Options, level int) (string, error) {
	masters := 0
	for k := range hosts.All() {
		name, ok := k.(string)
		if !ok {
			return "", errShape
		}
		if strings.HasSuffix(name, "_master") {
			masters++
		}
	}
	orchestration := hosts.Has("retcode") && masters == 1
	if o.State.CompressIDs {
		hosts = compressHosts(hosts)
	}
	var blocks []string
	for k, v := range hosts.All() {
		if orchestration && k == any("retcode") {
			continue
		}
		text, _, err := formatHost(str(k), v, o, level)
		if err != nil {
			return "", err
		}
		blocks = append(blocks, text)
	}
	return strings.Join(blocks, "\n"), nil
}

// hostBlock collects what is shown of one host.
type hostBlock struct {
	o       *Options
	level   int
	color   string // of the host's name
	lines   []string
	counts  stateCounts
	serial  float64 // milliseconds of states one after another
	longest float64 // of states in parallel
	changes int
}

// stateCounts counts results; other holds the results that are neither True, False nor None.
type stateCounts struct {
	ok, failed, none, warnings int
	seen                       map[any]int
}

func (c *stateCounts) add(result any, n int) bool {
	switch r := result.(type) {
	case nil:
		c.none += n
	case bool:
		if r {
			c.ok += n
		} else {
			c.failed += n
		}
	case string, int64, uint64, float64:
	default:
		return false
	}
	if c.seen == nil {
		c.seen = map[any]int{}
	}
	c.seen[result] += n
	return true
}

// total counts every state; digits is the length of the longest count.
func (c *stateCounts) total() (n, digits int) {
	for _, count := range c.seen {
		n += count
		digits = max(digits, len(python.Repr(int64(count))))
	}
	if c.warnings > 0 {
		digits = max(digits, len(python.Repr(int64(c.warnings))))
	}
	return n, digits
}

// formatHost shows one host and tells whether anything changed there.
func formatHost(host string, data any, o *Options, level int) (text string, changed bool, err error) {
	b := &hostBlock{o: o, level: level, color: green}
	switch x := data.(type) {
	case bool, int64, uint64:
		b.answer(str(x))
	case string:
		b.answer(x)
	case []any:
		b.failures(x)
	case *payload.Map:
		if err := b.states(host, x); err != nil {
			return "", false, err
		}
	}
	head := o.color(b.color) + o.clean(host) + ":" + o.color(endColor)
	return strings.Join(append([]string{head}, b.lines...), "\n"), b.changes > 0, nil
}

// answer shows the plain return of a function, which always counts as a change.
func (b *hostBlock) answer(text string) {
	b.changes = 1
	for _, line := range splitLines(text, false) {
		b.lines = append(b.lines, b.o.color(green)+"    "+line+b.o.color(endColor))
	}
	b.color = cyan
}

// failures lists why the state data could not be compiled.
func (b *hostBlock) failures(list []any) {
	b.color = lightRed
	c, end := b.o.color(lightRed), b.o.color(endColor)
	b.lines = append(b.lines, "    "+c+"Data failed to compile:"+end)
	for _, v := range list {
		b.lines = append(b.lines, c+mapRule+"\n    "+b.o.indented(b.o.clean(str(v)))+end)
	}
}
