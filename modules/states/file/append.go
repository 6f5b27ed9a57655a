package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/difflib"
	"brine/wire/python/re"
	"brine/wire/python/shlex"
)

type appending struct {
	Name             any  `arg:"name"`
	Text             any  `arg:"text=None"`
	MakeDirs         bool `arg:"makedirs=False"`
	Source           any  `arg:"source=None"`
	SourceHash       any  `arg:"source_hash=None"`
	Template         any  `arg:"template=jinja"`
	Sources          any  `arg:"sources=None"`
	SourceHashes     any  `arg:"source_hashes=None"`
	Defaults         any  `arg:"defaults=None"`
	Context          any  `arg:"context=None"`
	IgnoreWhitespace bool `arg:"ignore_whitespace=True"`
	ShowChanges      bool `arg:"show_changes=True"`
}

type prepending struct {
	Name         any  `arg:"name"`
	Text         any  `arg:"text=None"`
	MakeDirs     bool `arg:"makedirs=False"`
	Source       any  `arg:"source=None"`
	SourceHash   any  `arg:"source_hash=None"`
	Template     any  `arg:"template=jinja"`
	Sources      any  `arg:"sources=None"`
	SourceHashes any  `arg:"source_hashes=None"`
	Defaults     any  `arg:"defaults=None"`
	Context      any  `arg:"context=None"`
	Header       any  `arg:"header=None"`
	ShowChanges  bool `arg:"show_changes=True"`
}

// adding is what append and prepend have in common.
type adding struct {
	fun      string
	name     any
	text     any
	makeDirs bool
	show     bool
	sources  sources
	// lines are those of the texts that are not in the file, which is there.
	lines func(name string, texts []string) ([]string, error)
	// change puts lines into the file.
	change func(name string, lines []string) (*edit.Change, error)
	diff   func(old, new string) string
	told   string // what was done, before a number of lines
}

func appendText(c *states.Call, a appending) (states.Plan, error) {
	s := sources{a.Source, a.SourceHash, a.Sources, a.SourceHashes, a.Template, a.Defaults, a.Context}
	return adding{fun: "append", name: a.Name, text: a.Text, makeDirs: a.MakeDirs, show: a.ShowChanges, sources: s,
		lines:  func(name string, texts []string) ([]string, error) { return lacking(name, texts, a.IgnoreWhitespace) },
		change: edit.AppendLines, diff: spacedDiff, told: "Appended "}.plan(c)
}

func prependText(c *states.Call, a prepending) (states.Plan, error) {
	s := sources{a.Source, a.SourceHash, a.Sources, a.SourceHashes, a.Template, a.Defaults, a.Context}
	lines := func(name string, texts []string) ([]string, error) { return lacking(name, texts, true) }
	if python.Truth(a.Header) {
		lines = notFirst
	}
	return adding{fun: "prepend", name: a.Name, text: a.Text, makeDirs: a.MakeDirs, show: a.ShowChanges, sources: s,
		lines: lines, change: edit.PrependLines, diff: plainDiff, told: "Prepended "}.plan(c)
}

// plan makes the file first, if it is not there.
func (a adding) plan(c *states.Call) (states.Plan, error) {
	name, p, err := pathFor(c, a.name, a.fun)
	if p != nil || err != nil {
		return orNone(p), err
	}
	list, wrong := a.sources.list()
	if wrong != "" {
		return called(name, states.Wrong(wrong)), nil
	}
	if a.text == nil && len(list) == 0 { // Unlike Salt, which adds the text None
		return called(name, states.Wrong("No text found to "+a.fun+". Nothing "+a.fun+"ed")), nil
	}
	wrong = present(name)
	if wrong == "" {
		p, err := a.toFile(c, name, list)
		return a.sources.warned(p), err
	}
	if !strings.HasPrefix(name, "/") {
		return called(name, states.Wrong(wrong)), nil
	}
	return called(name, states.Would("File "+name+" is set to be created", payload.M("new", name),
		func() (states.Done, error) { return a.toNew(c, name, list, wrong) })), nil
}

// toNew makes the file, and adds the texts.
func (a adding) toNew(c *states.Call, name string, list []hashed, wrong string) (states.Done, error) {
	if a.makeDirs {
		if _, err := c.Salt("file.makedirs", nil, name); err != nil {
			return states.Done{}, err
		}
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return states.Failed(wrong, nil)
	}
	if err := edit.Create(name); err != nil {
		return states.Done{}, err
	}
	p, err := a.toFile(c, name, list)
	if err != nil || p.Apply == nil {
		return states.Done{Result: p.Result, Comment: p.Comment, Changes: p.Changes, Also: p.Also}, err
	}
	return p.Apply()
}

// toFile adds the texts to a file that is there.
func (a adding) toFile(c *states.Call, name string, list []hashed) (states.Plan, error) {
	texts := textList(a.text)
	if len(list) > 0 {
		rendered, failed, err := a.sources.texts(c, list)
		if failed != nil || err != nil {
			return orNone(failed), err
		}
		texts = rendered
	}
	lines, err := a.lines(name, texts)
	if err != nil {
		return states.Plan{}, err
	}
	correct := called(name, states.Correct("File "+name+" is in correct state"))
	if len(lines) == 0 {
		return correct, nil
	}
	change, err := a.change(name, lines)
	if err != nil {
		return states.Plan{}, err
	}
	changes := payload.NewMap(1)
	if diff := a.diff(change.Old, change.New); diff != "" {
		if !a.show {
			diff = "<show_changes=False>"
		}
		changes.Set("diff", diff)
	}
	return called(name, states.Would("File "+name+" is set to be updated", changes, func() (states.Done, error) {
		if err := change.Apply(); err != nil {
			return states.Done{}, err
		}
		return states.Changed(a.told+python.Str(int64(len(lines)))+" lines", changes)
	})), nil
}

// textList are texts, each as Python prints it.
func textList(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make([]string, len(list))
	for i, item := range list {
		if data, ok := item.([]byte); ok {
			item = string(data)
		}
		out[i] = python.Str(item)
	}
	return out
}

// lacking are the lines of those texts that are not in the file: white space counts only if it is to.
func lacking(name string, texts []string, ignoreSpace bool) (out []string, err error) {
	for _, text := range texts {
		pattern := text
		if ignoreSpace {
			if pattern, err = spacePattern(text); err != nil {
				return nil, err
			}
		}
		found, err := edit.Search(name, pattern, int64(8), true, false)
		if err != nil {
			return nil, err
		}
		if !found {
			out = append(out, python.Lines(text, false)...)
		}
	}
	return out, nil
}

// spacePattern fits a text whatever white space is between its words.
func spacePattern(text string) (string, error) {
	quotes := `'"`
	switch {
	case strings.Contains(text, `'\"`):
		quotes = ""
	case strings.Contains(text, "'"):
		quotes = `"`
	case strings.Contains(text, `"`):
		quotes = "'"
	}
	const space = `(?:[\s]+)?`
	var out strings.Builder
	for _, line := range python.Lines(text, false) {
		words, err := shlex.Words(line, quotes)
		if err != nil {
			return "", loader.Raise("ValueError", "%s", err)
		}
		for i, word := range words {
			words[i] = re.Escape(word)
		}
		out.WriteString(space + strings.Join(words, space) + space)
	}
	return "(?m)^" + out.String() + "$", nil
}

// notFirst are the lines of the texts, unless the file begins with them.
func notFirst(name string, texts []string) (out []string, err error) {
	for _, text := range texts {
		out = append(out, python.Lines(text, false)...)
	}
	old, err := edit.Read(name)
	if err != nil {
		return nil, err
	}
	if head := python.Lines(old, false); slices.Equal(head[:min(len(head), len(out))], out) {
		return nil, nil
	}
	return out, nil
}

// spacedDiff is the diff of append: lines without their ends, joined by one, so that its headers have two.
func spacedDiff(old, new string) string {
	return strings.Join(difflib.Unified(python.Lines(old, false), python.Lines(new, false), "", ""), "\n")
}

func plainDiff(old, new string) string {
	return strings.Join(difflib.Unified(python.Lines(old, true), python.Lines(new, true), "", ""), "")
}
