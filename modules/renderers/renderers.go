// Package renderers turns templates into data: a file or a text goes through a pipe of renderers that its first line
// names ("#!jinja|yaml"), or the configuration. It knows no daemon and no file server: what a step needs comes in by
// Options. It answers to salt/template.py and salt/renderers.
//
// yaml, json and gpg are here and below; jinja comes in by an interface.
package renderers

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"brine/modules/host/memory"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Input is what a renderer is given.
type Input struct {
	Data      any          // the text of the template, or what the step before made
	Template  string       // path of the file, or InString
	Saltenv   string       // "base" unless something else was said
	SLS       string       // dotted name; empty outside of trees
	Arguments string       // behind the renderer's name in the pipe
	Context   *payload.Map // further names for the template; may be nil
	KW        *payload.Map // further keywords of the call; may be nil
	NoTree    bool         // it stands in no tree of SLS files: the names that tell where are not there
}

// InString stands for the path of a template that is no file.
const InString = ":string:"

// Func is one renderer. Its result is a text or data.
type Func func(ctx context.Context, in Input) (any, error)

// Templater renders Jinja templates. It is made by who knows the functions and files that templates may reach.
type Templater interface {
	// Render renders in.Data, which is a text, and returns the text that comes out.
	Render(ctx context.Context, in Input) (string, error)
}

// Options say what renderers may use.
type Options struct {
	Jinja     Templater // nil: a template that needs it is refused
	GPG       GPG
	Blacklist []string // renderers that are skipped
	Whitelist []string // if there are any, all others are skipped
	Disabled  []string // renderers that do not exist (disable_renders)
	Log       func(level slog.Level, text string)
}

// Set is the renderers of one daemon or call.
type Set struct {
	opt    Options
	byName map[string]Func
}

// New makes a set.
func New(opt Options) *Set {
	if opt.GPG.Log == nil {
		opt.GPG.Log = opt.Log
	}
	s := &Set{opt: opt, byName: map[string]Func{"yaml": renderYAML, "yamlex": renderYamlex, "json": renderJSON,
		"gpg": opt.GPG.render}}
	if opt.Jinja != nil {
		s.byName["jinja"] = func(ctx context.Context, in Input) (any, error) { return renderJinja(ctx, opt.Jinja, in) }
	}
	for _, name := range notYet {
		if s.byName[name] != nil {
			continue
		}
		s.byName[name] = func(context.Context, Input) (any, error) {
			return nil, renderError("brine does not have the renderer %q yet", name)
		}
	}
	for _, name := range opt.Disabled {
		delete(s.byName, name)
	}
	return s
}

// notYet are renderers of Salt and its extensions that are missed here. To say so is better than what Salt does for a
// name that it does not know, an empty map.
var notYet = []string{"jinja", "py", "pyobjects", "pydsl", "mako", "cheetah", "genshi", "wempy", "stateconf", "hjson",
	"json5", "msgpack", "toml", "nacl", "pass", "dson", "aws_kms"}

func renderError(format string, a ...any) error {
	return loader.Raise("salt.exceptions.SaltRenderError", format, a...)
}

func (s *Set) log(level slog.Level, format string, a ...any) {
	if s.opt.Log != nil {
		s.opt.Log(level, fmt.Sprintf(format, a...))
	}
}

// Compile renders a template through its pipe. in.Template is a path, or InString with the text in in.Data; pipe is
// used where the text does not begin with one. A file that is missing or empty is an empty map, as in Salt.
func (s *Set) Compile(ctx context.Context, pipe string, in Input) (any, error) {
	if in.Saltenv == "" {
		in.Saltenv = "base"
	}
	if in.Template != InString {
		text, ok, err := s.read(in.Template)
		if err != nil || !ok {
			return payload.NewMap(0), err
		}
		in.Data = text
	}
	text, ok := in.Data.(string)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'split'", typeName(in))
	}
	line, err := firstLine(in.Template, text)
	if err != nil {
		return nil, err
	}
	out := any(payload.NewMap(0))
	for _, step := range s.pipe(line, pipe) {
		in.Arguments = step.arguments
		if out, err = s.byName[step.name](ctx, in); err != nil {
			return nil, err
		}
		if out == nil { // Salt takes this for a file that is being written, and reads what is left of it: nothing
			out = payload.NewMap(0)
		}
		in.Data = out
	}
	return sameLineEnds(text, out), nil
}

// Step runs one renderer on data, without a pipe; ok is false when there is none of that name.
func (s *Set) Step(ctx context.Context, name string, in Input) (out any, ok bool, err error) {
	f := s.byName[name]
	if f == nil {
		return nil, false, nil
	}
	out, err = f(ctx, in)
	return out, true, err
}

// longest is the longest template, in bytes: 64 MiB, or a 16th of what Go may have where that is less. A file can have
// any size and no content, and a process that asks for more memory than there is ends.
func longest() int64 { return min(64<<20, memory.ForGo()/16) }

// read reads a template; ok is false for one that Salt does not render.
func (s *Set) read(path string) (text string, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		s.log(slog.LevelError, "Template does not exist: %s", path)
		return "", false, nil
	}
	raw, err := readBounded(path)
	if err != nil {
		return "", false, err
	}
	if wrong := python.UTF8Error(raw); wrong != "" {
		return "", false, loader.Raise("UnicodeDecodeError", "%s", wrong)
	}
	text = string(raw)
	if text != "" && strings.TrimSpace(text) == "" {
		s.log(slog.LevelError, "Template is nothing but whitespace: %s", path)
	}
	return text, strings.TrimSpace(text) != "", nil
}

// readBounded reads a file that is not longer than the longest. It waits for no other end of a pipe that has come into
// its place.
func readBounded(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	defer f.Close()
	most := longest()
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		return nil, renderError("template %s has more than %d bytes", path, most)
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1)) // it may grow, or have more than its size says
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	if int64(len(raw)) > most {
		return nil, renderError("template %s has more than %d bytes", path, most)
	}
	return raw, nil
}

// sameLineEnds gives a text the line ends of the template if these are those of Windows.
func sameLineEnds(template string, out any) any {
	text, ok := out.(string)
	if !ok || !strings.Contains(template, "\r\n") || strings.Contains(text, "\r\n") {
		return out
	}
	return strings.ReplaceAll(text, "\n", "\r\n")
}
