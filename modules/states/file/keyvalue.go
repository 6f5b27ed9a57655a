package file

import (
	"os"
	"strings"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type keyValues struct {
	Name            any    `arg:"name"`
	Key             any    `arg:"key=None"`
	Value           any    `arg:"value=None"`
	KeyValues       any    `arg:"key_values=None"`
	Separator       string `arg:"separator=="`
	Append          bool   `arg:"append_if_not_found=False"`
	Prepend         bool   `arg:"prepend_if_not_found=False"`
	SearchOnly      bool   `arg:"search_only=False"`
	ShowChanges     bool   `arg:"show_changes=True"`
	IgnoreMissing   bool   `arg:"ignore_if_missing=False"`
	Count           int64  `arg:"count=1"`
	Uncomment       any    `arg:"uncomment=None"`
	KeyIgnoreCase   bool   `arg:"key_ignore_case=False"`
	ValueIgnoreCase bool   `arg:"value_ignore_case=False"`
	CreateIfMissing bool   `arg:"create_if_missing=False"`
	Prune           bool   `arg:"prune=False"`
}

func keyValue(c *states.Call, a keyValues) (states.Plan, error) {
	name, p, err := pathFor(c, a.Name, "keyvalue")
	if p != nil || err != nil {
		return orNone(p), err
	}
	pairs, wrong := a.pairs()
	if wrong != "" {
		return called(name, states.Wrong("file.keyvalue "+wrong)), nil
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		if !a.CreateIfMissing || !os.IsNotExist(err) {
			return called(name, states.Plan{Result: a.IgnoreMissing, Comment: "unable to open " + name}), nil
		}
		a.Append = true
	}
	var w *pairing
	change, err := edit.Rewrite(name, func(text string) (string, error) {
		if w, err = newPairing(a, pairs); err != nil {
			return "", err
		}
		return w.run(text), nil
	})
	if err != nil {
		return states.Plan{}, err
	}
	plan := w.plan(name, change)
	if a.SearchOnly { // Unlike Salt, which says nothing of it
		plan = withWarnings(plan, []any{"file.keyvalue does not honour 'search_only'."})
	}
	return plan, nil
}

// pairs are the keys and values, or what is wrong with the arguments.
func (a keyValues) pairs() (*payload.Map, string) {
	m, isMap := a.KeyValues.(*payload.Map)
	switch {
	case a.Key != nil && a.Value != nil && isMap:
		return nil, "can not combine key_values with key and value"
	case a.Key != nil && a.Value != nil:
		return payload.M(python.Str(a.Key), a.Value), ""
	case !python.Truth(a.KeyValues):
		return nil, "key and value not supplied and key_values is empty"
	case !isMap:
		return nil, "key and value not supplied and key_values is not a dictionary"
	}
	return m, ""
}

// pairing goes through the lines of a file.
type pairing struct {
	keyValues
	pairs     *payload.Map
	tests     map[string]string // keys as they are compared
	left      map[string]int64  // how many lines of a key may still be there
	strip     func(string) string
	lines     []string // of the new text
	diff      []string
	unmatched []string
	changes   int
}

func newPairing(a keyValues, pairs *payload.Map) (*pairing, error) {
	w := &pairing{keyValues: a, pairs: pairs, tests: map[string]string{}, left: map[string]int64{}}
	for key := range pairs.All() {
		text, ok := key.(string)
		if !ok {
			return nil, &loader.ArgumentError{Message: "startswith first arg must be str or a tuple of str, not " +
				python.Type(key)}
		}
		w.left[text], w.tests[text] = a.Count, text
		if a.KeyIgnoreCase {
			w.tests[text] = strings.ToLower(text)
		}
	}
	if a.Separator == "" {
		return nil, loader.Raise("ValueError", "empty separator")
	}
	switch set := a.Uncomment.(type) {
	case nil:
		w.strip = func(line string) string { return strings.TrimLeftFunc(line, python.IsSpace) }
	case string:
		w.strip = func(line string) string { return strings.TrimLeft(line, set) }
	default:
		return nil, &loader.ArgumentError{Message: "lstrip arg must be None or str"}
	}
	return w, nil
}

func (w *pairing) run(text string) string {
	for _, line := range python.LinesOfBytes(text, true) {
		w.line(line)
	}
	switch {
	case w.Append:
		w.append()
	case w.Prepend:
		w.prepend()
	}
	if w.Prune {
		for _, line := range w.unmatched {
			w.insert(1, "- "+line)
		}
	}
	return strings.Join(w.lines, "")
}

// insert puts a line into the diff.
func (w *pairing) insert(at int, line string) {
	at = min(at, len(w.diff))
	w.diff = append(w.diff[:at], append([]string{line}, w.diff[at:]...)...)
}

func (w *pairing) line(line string) {
	stripped := w.strip(line)
	uncommented := len(stripped) < len(line)
	test := stripped
	if w.KeyIgnoreCase {
		test = strings.ToLower(test)
	}
	key, value, separated := strings.Cut(stripped, w.Separator)
	if w.Prune && !w.begins(test) {
		w.unmatched = append(w.unmatched, line)
		return
	}
	for k, want := range w.pairs.All() {
		name := k.(string)
		found := key
		if w.KeyIgnoreCase {
			found = strings.ToLower(key)
		}
		if !separated || !strings.HasPrefix(test, w.tests[name]) || found != w.tests[name] {
			continue
		}
		line = w.matched(name, line, key, value, want, uncommented)
	}
	w.lines = append(w.lines, line)
}

// begins tells whether a line begins with one of the keys.
func (w *pairing) begins(line string) bool {
	for _, key := range w.tests {
		if strings.HasPrefix(line, key) {
			return true
		}
	}
	return false
}

// matched is what becomes of a line with a key.
func (w *pairing) matched(name, line, key, value string, want any, uncommented bool) string {
	value, test := strings.TrimFunc(value, python.IsSpace), strings.TrimFunc(python.Str(want), python.IsSpace)
	if w.ValueIgnoreCase {
		value, test = strings.ToLower(value), strings.ToLower(test)
	}
	same, change := value == test, false
	switch {
	case uncommented && w.left[name] > 0:
		change = true // the comment character goes
	case uncommented:
		same = true // nothing more is wanted of the key
	case w.left[name] == 0:
		change = true // the line is one too many
	}
	if !same || change {
		w.diff = append(w.diff, "- "+line)
		line = ""
		if w.left[name] != 0 {
			line = key + w.Separator + python.Str(want) + "\n"
			shown := "+ " + line
			if _, isText := want.(string); !isText {
				shown = "+ " + strings.TrimRightFunc(line, python.IsSpace) + " (from " + python.Type(want) + " type)\n"
			}
			w.diff = append(w.diff, shown)
		}
		w.changes++
	}
	if w.left[name] > 0 {
		w.left[name]--
	}
	return line
}

// missing are the lines of the keys that were not seen often enough.
func (w *pairing) missing() (out []string) {
	for k, v := range w.pairs.All() {
		if w.left[k.(string)] > 0 {
			out = append(out, k.(string)+w.Separator+python.Str(v)+"\n")
		}
	}
	return out
}

func (w *pairing) append() {
	more := w.missing()
	if len(more) == 0 {
		return
	}
	w.diff = append(w.diff, "- <EOF>\n")
	for _, line := range more {
		w.diff = append(w.diff, "+ "+line)
	}
	w.diff = append(w.diff, "+ <EOF>\n")
	w.lines = append(w.lines, more...)
	w.changes += len(more)
}

func (w *pairing) prepend() {
	for i, line := range w.missing() {
		if i == 0 {
			w.insert(0, "  <SOF>\n")
		}
		w.insert(1, "+ "+line)
		w.lines = append([]string{line}, w.lines...)
		w.changes++
	}
}

func (w *pairing) plan(name string, change *edit.Change) states.Plan {
	if w.changes == 0 && len(w.unmatched) == 0 {
		return called(name, states.Correct(""))
	}
	changed, deleted := python.Str(int64(w.changes)), python.Str(int64(len(w.unmatched)))
	would := "File " + name + " is set to be changed (" + changed + " lines modified, " + deleted + " deleted)"
	changes := payload.NewMap(1)
	if w.ShowChanges {
		changes.Set("diff", strings.Join(w.diff, ""))
		would += "\nPredicted diff:\n\r\t\t" + strings.Join(w.diff, "\r\t\t")
	}
	return called(name, states.Would(would, changes, func() (states.Done, error) {
		if err := change.Apply(); err != nil {
			return states.Failed(name+" not writable", nil)
		}
		return states.Changed("Changed "+changed+", deleted "+deleted+" lines", changes)
	}))
}
