// Package reactor is the thinking of Salt's Reactor: which SLS files an event means, what they render to, and which
// functions are to be called with which arguments. It fires nothing and calls nothing. Tag and data of an event reach a
// template as values; they are never text of it. Answers to salt/utils/reactor.py.
package reactor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/modules/states/run/high"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// User is whose the runner and wheel functions are that a reaction calls. Events of this user are not reacted to, so
// that a function does not set itself off.
const User = "Reactor"

// maxChunks is how many calls one event may come to.
const maxChunks = 10000

// Files finds SLS files of the file server.
type Files interface {
	// Path is where on this machine the file of a salt:// URL can be read; ok is false when there is none.
	Path(ctx context.Context, url string) (path string, ok bool)
}

// Functions knows the runner and wheel functions.
type Functions interface {
	// Lookup finds a function; kind is KindRunner or KindWheel.
	Lookup(kind, fun string) (*loader.Func, bool)
}

// Options of a Reactor.
type Options struct {
	Renderers *renderers.Set
	Pipe      string // of an SLS that names none (renderer)
	Files     Files  // nil: there are none
	Functions Functions
	// Log takes what Salt's Reactor logs, with the error that it was about or nil. Any goroutine may call it.
	Log func(level slog.Level, text string, err error)
}

// Reactor turns events into calls. Any number of goroutines may use it.
type Reactor struct{ opt Options }

// New makes a Reactor.
func New(opt Options) *Reactor { return &Reactor{opt} }

func (r *Reactor) errorf(err error, format string, a ...any) {
	r.opt.Log(slog.LevelError, fmt.Sprintf(format, a...), err)
}

// Own tells whether an event comes from what a reaction called: it is not reacted to.
func Own(data *payload.Map) bool { return data.Value("user") == User }

// Chunks renders SLS files for an event and compiles them: low data, in the order of the calls. What is wrong is
// logged, and the rest goes on, as in Salt; failed is the first thing that was wrong. Source: Reactor.reactions.
func (r *Reactor) Chunks(ctx context.Context, tag string, data *payload.Map, sls []any) (chunks []*payload.Map,
	failed error) {
	reactions := payload.NewMap(0)
	for _, ref := range sls {
		name, ok := ref.(string)
		if !ok {
			err := loader.Raise("AttributeError", "'%s' object has no attribute 'startswith'", python.Type(ref))
			r.errorf(err, "Exception encountered while compiling reactions")
			return nil, err
		}
		got, err := r.render(ctx, name, tag, data)
		if failed == nil {
			failed = err
		}
		reactions.Update(got)
	}
	if reactions.Len() == 0 {
		return nil, failed
	}
	errs := high.Verify(reactions)
	if errs == nil {
		chunks, errs = low.Compile(reactions, low.Options{AsReactions: true})
	}
	if len(chunks) > maxChunks {
		errs = append(errs, fmt.Sprintf("they come to %d calls, more than %d", len(chunks), maxChunks))
	}
	if len(errs) > 0 {
		list := python.Str(payload.AnyList(errs))
		r.errorf(nil, "Unable to render reactions for event %s due to errors (%s) in one or more of the sls files (%s)",
			tag, list, python.Str(sls))
		return nil, errors.New(list)
	}
	for _, chunk := range chunks {
		if chunk.Value("state") == "cmd" { // as reactions were written once
			chunk.Set("state", KindLocal)
		}
	}
	return chunks, failed
}

// render renders the files that one reference means. Source: Reactor.render_reaction.
func (r *Reactor) render(ctx context.Context, ref, tag string, data *payload.Map) (react *payload.Map, failed error) {
	if strings.HasPrefix(ref, "salt://") {
		ref = r.fetch(ctx, ref)
	}
	files := globFiles(ref)
	if len(files) == 0 {
		r.errorf(nil, "Can not render SLS %s for tag %s. File missing or not found.", ref, tag)
		failed = fmt.Errorf("no file %s", ref)
	}
	react = payload.NewMap(0)
	for _, file := range files {
		rendered, err := r.renderFile(ctx, file, tag, data)
		if err != nil {
			r.errorf(err, "Failed to render \"%s\": ", file)
			failed = fmt.Errorf("%s: %w", file, err)
			continue
		}
		react.Update(rendered)
	}
	return react, failed
}

func (r *Reactor) fetch(ctx context.Context, url string) string {
	if r.opt.Files == nil {
		return ""
	}
	path, _ := r.opt.Files.Path(ctx, url)
	return path
}

// renderFile renders one file and notes in every body where it comes from.
func (r *Reactor) renderFile(ctx context.Context, file, tag string, data *payload.Map) (*payload.Map, error) {
	out, err := r.opt.Renderers.Compile(ctx, r.opt.Pipe, renderers.Input{Template: file, KW: payload.M("tag", tag,
		"data", data)})
	if err != nil {
		return nil, err
	}
	data, ok := out.(*payload.Map)
	if !ok {
		if !python.Truth(out) {
			return nil, nil
		}
		return nil, loader.Raise("TypeError", "it renders to %s, where a dictionary is expected", python.Type(out))
	}
	high.Pad(data)
	for id, v := range data.All() {
		body, ok := v.(*payload.Map)
		if !ok {
			return nil, loader.Raise("TypeError", "'%s' object does not support item assignment: %s", python.Type(v),
				python.Str(id))
		}
		body.Set("__sls__", file)
	}
	return data, nil
}
