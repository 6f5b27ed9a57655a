package file

import (
	"slices"
	"strings"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/states/file/accumulator"
	"brine/wire/payload"
	"brine/wire/python"
)

type block struct {
	Name         any  `arg:"name"`
	Start        any  `arg:"marker_start='#-- start managed zone --'"`
	End          any  `arg:"marker_end='#-- end managed zone --'"`
	Source       any  `arg:"source=None"`
	SourceHash   any  `arg:"source_hash=None"`
	Template     any  `arg:"template=jinja"`
	Sources      any  `arg:"sources=None"`
	SourceHashes any  `arg:"source_hashes=None"`
	Defaults     any  `arg:"defaults=None"`
	Context      any  `arg:"context=None"`
	Content      any  `arg:"content=''"`
	Append       bool `arg:"append_if_not_found=False"`
	Prepend      bool `arg:"prepend_if_not_found=False"`
	Backup       any  `arg:"backup=.bak"`
	ShowChanges  bool `arg:"show_changes=True"`
	Newline      any  `arg:"append_newline=None"`
	InsertBefore any  `arg:"insert_before_match=None"`
	InsertAfter  any  `arg:"insert_after_match=None"`
}

func blockReplace(c *states.Call, a block) (states.Plan, error) {
	name, p, err := pathFor(c, a.Name, "blockreplace")
	if p != nil || err != nil {
		return orNone(p), err
	}
	s := sources{a.Source, a.SourceHash, a.Sources, a.SourceHashes, a.Template, a.Defaults, a.Context}
	list, wrong := s.list()
	if wrong == "" {
		wrong = present(name)
	}
	if wrong != "" {
		return called(name, states.Wrong(wrong)), nil
	}
	content, err := collected(c, name, a.Content)
	if err != nil {
		return states.Plan{}, err
	}
	texts, failed, err := s.texts(c, list)
	if failed != nil || err != nil {
		return orNone(failed), err
	}
	for _, text := range texts {
		content = python.Str(content) + text
	}
	change, err := edit.ReplaceBlock(name, edit.Block{Start: a.Start, End: a.End, Content: content, Append: a.Append,
		Prepend: a.Prepend, Backup: a.Backup, Newline: a.Newline, InsertBefore: a.InsertBefore, InsertAft: a.InsertAfter})
	if err != nil {
		return called(name, states.Wrong("Encountered error managing block: "+loader.Message(err)+
			". See the log for details.")), nil
	}
	return s.warned(changing(name, change, a.ShowChanges, "Changes would be made")), nil
}

// collected is the content with what other states have collected for the file.
func collected(c *states.Call, name string, content any) (any, error) {
	texts, err := accumulator.Load(loader.Text(c.Opts().Value("cachedir")), c.Run.ID())
	if err != nil {
		return nil, err
	}
	for _, text := range texts.For(name, c.Chunk.Value("__id__")) {
		if content == "" {
			content = text
		} else {
			content = python.Str(content) + "\n" + python.Str(text)
		}
	}
	return content, nil
}

type collecting struct {
	Name     any          `arg:"name"`
	Filename any          `arg:"filename"`
	Text     any          `arg:"text"`
	KW       *payload.Map `arg:"**kwargs"`
}

// accumulated collects in test mode, too: other states are to show what they would do with it.
func accumulated(c *states.Call, a collecting) (states.Plan, error) {
	switch {
	case !python.Truth(a.Name):
		return states.Wrong("Must provide name to file.accumulated"), nil
	case a.Text == nil:
		return states.Wrong("No text supplied for accumulator"), nil
	}
	deps := slices.Concat(c.Chunk.List("require_in"), c.Chunk.List("watch_in"))
	if !slices.ContainsFunc(deps, ofFile) {
		return states.Wrong("Orphaned accumulator " + python.Str(a.Name) + " in " +
			python.Str(c.Chunk.Value("__sls__")) + ":" + python.Str(c.Chunk.Value("__id__"))), nil
	}
	var ids []any
	for _, dep := range deps {
		if m, ok := dep.(*payload.Map); ok {
			for _, id := range m.All() {
				ids = append(ids, id)
			}
		}
	}
	texts, ok := a.Text.([]any)
	if !ok {
		texts = []any{a.Text}
	}
	kept, err := accumulator.Load(loader.Text(c.Opts().Value("cachedir")), c.Run.ID())
	if err != nil {
		return states.Plan{}, err
	}
	comment := ""
	if kept.Add(a.Filename, a.Name, texts, ids) {
		comment = "Accumulator " + python.Str(a.Name) + " for file " + python.Str(a.Filename) + " was charged by text"
	}
	return states.Correct(comment), kept.Save()
}

// ofFile tells a requisite of a state file.
func ofFile(dep any) bool {
	if m, ok := dep.(*payload.Map); ok {
		return m.Has("file")
	}
	text, ok := dep.(string)
	return ok && strings.Contains(text, "file")
}
