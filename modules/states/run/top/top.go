// Package top works out from the top files which SLS a minion is to have: it gathers them with those that they include,
// merges them by a strategy, checks them, and asks which targets mean the minion. It renders and matches nothing
// itself. Answers to get_tops, merge_tops, verify_tops and top_matches of salt/state.py.
package top

import (
	"context"

	"brine/modules/loader"
	"brine/modules/states/run/sls"
	"brine/wire/payload"
	"brine/wire/python"
)

// RenderError is the class of errors after which there is no top at all.
const RenderError = "salt.exceptions.SaltRenderError"

// Source has the top files.
type Source interface {
	sls.Source
	// Top renders the top file of an environment; found is false where there is none.
	Top(ctx context.Context, env string) (data any, found bool, err error)
}

// Options say which top files count, and how.
type Options struct {
	Strategy   string // merge, same or merge_all (top_file_merging_strategy); another one is merge
	DefaultTop string // environment whose top file is that of those without one (default_top)
	Saltenv    string // only this environment counts; "": all do
	TopSaltenv string // the top file of this environment is that of all (state_top_saltenv); "": each has its own
	Log        func(text string)
}

// Top is what all top files say: {environment: {target: [SLS, ...]}}.
type Top = *payload.Map

// Tops gathers and merges.
type Tops struct {
	opt       Options
	source    Source
	available *sls.Available
}

// New returns Tops over the environments that are available.
func New(opt Options, source Source, available *sls.Available) *Tops {
	return &Tops{opt: opt, source: source, available: available}
}

// file is what the top files of an environment render to: its own one, and those that this includes.
type file struct {
	env  string
	tops []*payload.Map
}

// errShape is what is wrong with a top file that is no map.
func errShape() error { return loader.Raise(RenderError, "Top data was not formed as a dict") }

// Get is the merged top. A top file that does not render is logged, and the top is empty then. An error is of class
// RenderError where the shape of a top file is wrong.
func (t *Tops) Get(ctx context.Context) (Top, error) {
	if t.opt.Strategy == "same" && t.opt.Saltenv == "" && t.opt.DefaultTop == "" {
		t.log("Unable to render top file: top_file_merging_strategy set to 'same', but no default_top configuration " +
			"option was set")
		return payload.NewMap(0), nil
	}
	files, err := t.gather(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == errEmpty:
		return payload.NewMap(0), nil
	case err != nil:
		return nil, err
	}
	return t.merge(files)
}

func (t *Tops) log(text string) {
	if t.opt.Log != nil {
		t.opt.Log(text)
	}
}

// errEmpty says that a top file does not render.
var errEmpty = loader.Raise(RenderError, "a top file does not render")

// envs are the environments whose top files are read.
func (t *Tops) envs(ctx context.Context) ([]string, error) {
	switch {
	case t.opt.Saltenv != "":
		return []string{t.opt.Saltenv}, nil
	case t.opt.TopSaltenv != "":
		return []string{t.opt.TopSaltenv}, nil
	}
	return t.source.Envs(ctx)
}

// gather renders the top files.
func (t *Tops) gather(ctx context.Context) (files []*file, err error) {
	envs, err := t.envs(ctx)
	if err != nil {
		return nil, err
	}
	for _, env := range envs {
		data, found, err := t.source.Top(ctx, env)
		f := &file{env: env}
		if !found {
			data = payload.NewMap(0)
		}
		if err = t.add(f, data, err); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for _, f := range files {
		if err := t.include(ctx, f); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// add takes one rendered file into those of an environment.
func (t *Tops) add(f *file, data any, err error) error {
	if err != nil && loader.ClassOf(err) == RenderError {
		t.log("Unable to render top file: " + loader.Message(err))
		return errEmpty
	}
	if err != nil {
		return err
	}
	m, ok := data.(*payload.Map)
	if !ok { // Unlike Salt: it fails with a traceback
		return errShape()
	}
	f.tops = append(f.tops, m)
	return nil
}

// include adds the files that a top file includes. Their own includes mean nothing.
func (t *Tops) include(ctx context.Context, f *file) error {
	v, ok := f.tops[0].Get("include")
	if !ok {
		return nil
	}
	f.tops[0].Delete("include")
	list, _ := v.([]any)
	done := map[string]bool{}
	for _, item := range list {
		names, err := t.available.Filter(ctx, f.env, python.Str(item))
		if err != nil {
			return err
		}
		for _, name := range names {
			if done[name] {
				continue
			}
			done[name] = true
			if err := t.takeIn(ctx, f, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Tops) takeIn(ctx context.Context, f *file, name string) error {
	path, _, err := t.source.Find(ctx, name, f.env)
	if err != nil {
		return err
	}
	if path == "" {
		return nil
	}
	data, err := t.source.Render(ctx, path, "", f.env)
	return t.add(f, data, err)
}
