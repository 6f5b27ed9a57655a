package file

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

type patching struct {
	Name       any          `arg:"name"`
	Source     any          `arg:"source=None"`
	SourceHash any          `arg:"source_hash=None"`
	HashName   any          `arg:"source_hash_name=None"`
	SkipVerify bool         `arg:"skip_verify=False"`
	Template   any          `arg:"template=None"`
	Context    any          `arg:"context=None"`
	Defaults   any          `arg:"defaults=None"`
	Options    any          `arg:"options=''"`
	RejectFile any          `arg:"reject_file=None"`
	Strip      any          `arg:"strip=None"`
	Saltenv    any          `arg:"saltenv=None"`
	KW         *payload.Map `arg:"**kwargs"`
}

func patch(c *states.Call, a patching) (states.Plan, error) {
	w := &patcher{patching: a, call: c}
	plan, err := w.plan()
	if err != nil {
		w.clean()
	}
	var texts []any
	for _, gone := range []string{"hash", "dry_run_first"} {
		if a.KW.Has(gone) {
			texts = append(texts, "The '"+gone+"' argument is no longer used and has been ignored.")
		}
	}
	return called(w.name, withWarnings(plan, texts)), err
}

// patcher is a patch at work, with a directory of its own for what it takes and makes.
type patcher struct {
	patching
	call    *states.Call
	name    string
	dir     string
	isDir   bool
	options []any
	strip   any
}

func (w *patcher) clean() {
	if w.dir != "" {
		_ = os.RemoveAll(w.dir)
	}
}

func (w *patcher) plan() (states.Plan, error) {
	found, err := w.call.Salt("cmd.which", nil, "patch")
	switch {
	case err != nil:
		return states.Plan{}, err
	case !python.Truth(found):
		return states.Wrong("patch executable not found on minion"), nil
	}
	if wrong, err := w.arguments(); wrong != "" || err != nil {
		return states.Wrong(wrong), err
	}
	if w.dir, err = os.MkdirTemp("", "brine-patch"); err != nil {
		return states.Plan{}, err
	}
	if wrong, err := w.fetch(); wrong != "" || err != nil {
		w.clean()
		return states.Wrong(wrong), err
	}
	out, end, err := w.try()
	if end != nil || err != nil {
		w.clean()
		return orNone(end), err
	}
	if w.call.Test {
		w.clean()
	}
	return states.Would("The patch would be applied", out, func() (states.Done, error) {
		defer w.clean()
		out, err := w.run(w.file("patch"), w.stripped(), false)
		if err != nil {
			return states.Done{}, err
		}
		if out.Value("retcode") != int64(0) {
			return states.Failed("Failed to apply patch", out)
		}
		return states.Changed("Patch successfully applied", out)
	}), nil
}

func (w *patcher) file(name string) string { return filepath.Join(w.dir, name) }

// arguments looks at the arguments; wrong is a comment.
func (w *patcher) arguments() (wrong string, err error) {
	if w.name, err = expanded(w.call, w.Name); err != nil {
		return "", err
	}
	info, err := os.Stat(w.name)
	switch {
	case w.name == "":
		return "A file/directory to be patched is required", nil
	case !strings.HasPrefix(w.name, "/"):
		return w.name + " is not an absolute path", nil
	case err != nil:
		return w.name + " does not exist", nil
	}
	w.isDir = info.IsDir()
	if reject, ok := w.RejectFile.(string); ok {
		parent := filepath.Dir(reject)
		if !strings.HasPrefix(parent, "/") {
			return "'" + reject + "' is not an absolute path", nil
		}
		if !isDir(parent) {
			return "Parent directory for reject_file '" + reject + "' either does not exist, or is not a directory", nil
		}
	}
	words, err := shlex.Split(python.Str(w.Options))
	if err != nil {
		return "", loader.Raise("ValueError", "%s", err)
	}
	return w.sanitize(words), nil
}

// sanitize takes -p out of the options, and refuses those that the state needs itself.
func (w *patcher) sanitize(words []string) (wrong string) {
	w.strip = w.Strip
	var forbidden []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		for _, own := range []string{"-N", "--forward", "-r", "--reject-file", "-o", "--output"} {
			if strings.HasPrefix(word, own) {
				forbidden = append(forbidden, word)
				break
			}
		}
		text, given := "", true
		switch {
		case strings.HasPrefix(word, "-p"):
			text = word[2:]
		case strings.HasPrefix(word, "--strip") && strings.Contains(word, "="):
			text = word[strings.LastIndexByte(word, '=')+1:]
		case strings.HasPrefix(word, "--strip"):
			if i++; i < len(words) {
				text = words[i]
			}
		default:
			given = false
			w.options = append(w.options, word)
		}
		if !given {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			option := "-p"
			if strings.HasPrefix(word, "--") {
				option = "-strip"
			}
			return "Invalid format for '" + option + "' CLI option. Consider using the 'strip' option for this state."
		}
		w.strip = n
	}
	if forbidden != nil {
		return "The following CLI options are not allowed: " + strings.Join(forbidden, ", ")
	}
	return ""
}

// fetch gets the patch.
func (w *patcher) fetch() (wrong string, err error) {
	context, _ := w.Context.(*payload.Map)
	defaults, _ := w.Defaults.(*payload.Map)
	env := w.call.Saltenv
	if w.Saltenv != nil {
		env = python.Str(w.Saltenv)
	}
	return fetch(w.call, &file.Managing{Name: w.file("patch"), Source: w.Source, Hash: w.SourceHash,
		HashName: w.HashName, Template: w.Template, Context: context, Defaults: defaults, SkipVerify: w.SkipVerify,
		Saltenv: env})
}

// run runs patch.
func (w *patcher) run(patch string, options []any, dry bool) (*payload.Map, error) {
	all := append(append([]any{}, w.options...), options...)
	v, err := w.call.Salt("file.patch", payload.M("options", all, "dry_run", dry), w.name, patch)
	out, _ := v.(*payload.Map)
	return out, err
}

func (w *patcher) stripped() []any {
	if w.isDir && w.strip != nil {
		return []any{"-p" + python.Str(w.strip)}
	}
	return nil
}

// try runs patch with its output aside. A plan is that of one that does not apply, or is applied already.
func (w *patcher) try() (*payload.Map, *states.Plan, error) {
	rejects := w.file("rejects")
	if w.RejectFile != nil {
		rejects = python.Str(w.RejectFile)
	}
	options := append([]any{"-N", "-r", rejects, "-o", w.file("output")}, w.stripped()...)
	out, err := w.run(w.file("patch"), options, false)
	if err != nil || out.Value("retcode") == int64(0) {
		return out, nil, err
	}
	end := func(p states.Plan) (*payload.Map, *states.Plan, error) { return nil, &p, nil }
	if info, err := os.Stat(rejects); err != nil || info.Size() == 0 {
		return end(states.Wrong(out.Value("stderr")))
	}
	reverse, err := w.run(rejects, []any{"-R", "-f"}, true)
	switch {
	case err != nil:
		return nil, nil, err
	case out.Value("retcode") == int64(2) && python.Truth(out.Value("stderr")):
		return end(states.Wrong(out.Value("stderr")))
	case reverse.Value("retcode") == int64(0):
		return end(states.Correct("Patch was already applied"))
	}
	comment := "Patch would not apply cleanly, no changes made. Results of dry-run are below."
	if w.RejectFile == nil {
		comment += " Run state again using the reject_file option to save rejects to a persistent file."
	}
	o := outputters.FromOpts(w.call.Opts())
	o.Color, o.NestedIndent = false, 14
	text, err := outputters.Format("nested", out, o)
	if err != nil {
		return nil, nil, err
	}
	return end(states.Wrong(comment + "\n\n" + text))
}
