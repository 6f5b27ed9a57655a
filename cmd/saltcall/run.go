package saltcall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/cmd/display"
	"brine/cmd/tool"
	"brine/modules/execution"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/text/args"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// exitUnknown is the exit code for an unknown function (Salt exits with -1).
const exitUnknown = 255

// pythonic are the outputters that print values as Python writes them. Salt's salt prints lists where salt-call
// prints tuples, because its values travel over the network.
var pythonic = []string{"txt", "raw"}

// run calls a function and shows its result.
func (t *callTool) run(ctx context.Context, fun string, words []string) error {
	ret := payload.M("jid", payload.NewUniqueJID(time.Now(), t.Minion.UniqueJID))
	f, ok := t.env.Registry.Lookup(fun)
	if !ok {
		return t.unknown(fun, ret)
	}
	if err := t.perform(ctx, f, words, ret); err != nil {
		return t.explain(f, err)
	}
	t.hand(ctx, ret)
	t.toReturners(ctx, ret)
	if list, ok := ret.Value("return").([]any); ok && f.Tuple && slices.Contains(pythonic, t.Opt.Str("output")) {
		ret.Set("return", python.ATuple{Values: list})
	}
	return t.present(ret)
}

// returnerTimeout is how long one returner may take.
const returnerTimeout = time.Minute

// toReturners hands the result once to each returner of --return. Unlike Salt: an error names the returner that
// failed.
func (t *callTool) toReturners(ctx context.Context, ret *payload.Map) {
	var names []string
	for name := range strings.SplitSeq(t.Opt.Str("return"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	reg := execution.Machine{}.Returners()
	for _, name := range returners.Expand(names, t.Minion.Raw) {
		if slices.Contains(t.Minion.DisableReturners, name) {
			t.Log.Warn("Returner " + name + " is disabled (disable_returners)")
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, returnerTimeout)
		c := loader.NewCall(ctx, t.env, ret.Str("fun"), ret)
		if err := returners.Return(c, reg, name, ret.Clone().Set("success", true)); err != nil {
			t.Log.Error("Returner "+name+".returner could not be called", "err", err)
		}
		cancel()
	}
}

// unknown answers a call of an unknown function. The answer is the help of functions whose names begin like it,
// or a sentence.
func (t *callTool) unknown(fun string, ret *payload.Map) error {
	text := t.env.Registry.MissingText(fun)
	docs := t.env.Registry.Docs(fun + "*")
	if docs.Len() == 0 {
		return tool.Exit(exitUnknown, "%s", text)
	}
	return t.present(ret.Set("out", "nested").Set("return", docs.Set(fun, text)))
}

// perform calls the function and writes the record of the call.
func (t *callTool) perform(ctx context.Context, f *loader.Func, words []string, ret *payload.Map) error {
	data := payload.M("fun", f.Name, "pid", int64(os.Getpid()), "jid", ret.Str("jid"), "tgt", "salt-call")
	meta, hasMeta := t.metadata()
	if hasMeta {
		data.Set("metadata", meta)
	}
	pos, kw, err := loader.LoadArgs(f, args.Parse(words, t.NoParse()), data)
	if err != nil {
		return tool.Exit(tool.ExitGeneric, "%s", loader.Message(err))
	}
	defer t.note(data)()
	load := data.Clone()
	if text := t.Opt.Str("executor_opts"); text != "" {
		load.Set("executor_opts", args.Yamlify(text))
	}
	c := loader.NewCall(ctx, t.env, f.Name, load)
	value, err := loader.Perform(c, f, pos, kw, load, t.executors())
	if err != nil {
		return err
	}
	ret.Set("return", value).Set("retcode", int64(loader.Judge(c, value)))
	if f.Outputter != "" {
		ret.Set("out", f.Outputter)
	}
	list := payload.AnyList(words)
	ret.Set("id", t.Minion.ID).Set("fun", f.Name).Set("fun_args", list)
	if hasMeta {
		ret.Set("metadata", meta)
	}
	return nil
}

// metadata returns the value of --set-metadata.
func (t *callTool) metadata() (any, bool) {
	switch v := t.Opt.Get("metadata").(type) {
	case nil:
		return nil, false
	case string:
		return args.Yamlify(v), true
	default:
		return v, true
	}
}

// executors returns the names in --module-executors, or in the configuration.
func (t *callTool) executors() []string {
	spec := t.Opt.Get("module_executors")
	if text, ok := spec.(string); ok {
		spec = args.Yamlify(text)
	}
	switch v := spec.(type) {
	case string:
		return []string{v}
	case []any:
		return loader.StringList(v)
	}
	return []string{"direct_call"}
}

// explain prints to stderr why a call failed, in Salt's words.
func (t *callTool) explain(f *loader.Func, err error) error {
	var (
		command *loader.CommandExecutionError
		missing *loader.CommandNotFoundError
		wrong   *loader.InvocationError // Salt treats it as a TypeError, too
		ended   *tool.ExitError
	)
	switch {
	case errors.As(err, &ended):
		return err
	case errors.As(err, &missing):
		return tool.Exit(tool.ExitGeneric, "Command required for '%s' not found: %s", f.Name, loader.Message(err))
	case errors.As(err, &command):
		return tool.Exit(tool.ExitGeneric, "Error running '%s': %s", f.Name, loader.Message(err))
	case errors.As(err, &wrong), loader.ClassOf(err) == "TypeError":
		fmt.Fprintf(t.Stderr, "\nPassed invalid arguments: %s.\n\nUsage:\n", loader.Message(err))
		fmt.Fprintln(t.Stdout, f.Doc)
		return tool.Exit(tool.ExitGeneric, "")
	}
	return tool.Exit(tool.ExitGeneric, "%s", loader.Traceback(f.Name, err))
}

// present shows the result, or the record with --metadata, and returns the exit code.
func (t *callTool) present(ret *payload.Map) error {
	how := display.How{Out: cmp.Or(ret.Str("out"), "nested")}
	value := ret.Value("return")
	if t.Opt.Bool("print_metadata") {
		value, how.Out = ret, "nested"
	}
	code, known := ret.Int("retcode")
	how.Retcode = int(code)
	if err := display.Show(t.Session, payload.M("local", value), how); err != nil {
		return err
	}
	switch {
	case known && code == 0:
		return nil
	case known && t.Opt.Bool("retcode_passthrough"):
		return tool.Exit(int(code), "")
	}
	return tool.Exit(tool.ExitGeneric, "")
}

// note writes a file about the call to the directory of proc entries. forget removes it.
func (t *callTool) note(data *payload.Map) (forget func()) {
	file := filepath.Join(t.Minion.CacheDir, "proc", data.Str("jid"))
	raw, err := payload.Marshal(data)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = wholefile.Write(file, raw, wholefile.Options{Mode: 0o644})
	}
	if err != nil {
		t.Log.Debug("call not noted", "err", err)
		fmt.Fprintf(t.Stderr, "Cannot write to process directory. Do you have permissions to write to %s ?\n", file)
		return func() {}
	}
	return func() {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Log.Debug("note of call not removed", "err", err)
		}
	}
}

// hand gives the record to the master or, without one, to the job cache of this minion.
func (t *callTool) hand(ctx context.Context, ret *payload.Map) {
	switch {
	case !t.local() && !t.Opt.Bool("no_return_event"):
		if err := t.link.sendReturn(ctx, ret); err != nil {
			t.Log.Error("The master does not have the return of this call", "err", err)
		}
	case t.Minion.CacheJobs:
		if err := t.keep(ret); err != nil {
			t.Log.Debug("return not kept", "err", err)
		}
	}
}

// keep stores the record where saltutil.find_cached_job looks for it (cache_jobs).
func (t *callTool) keep(ret *payload.Map) error {
	raw, err := payload.MarshalBin(ret)
	if err != nil {
		return err
	}
	dir := filepath.Join(t.Minion.CacheDir, "minion_jobs", ret.Str("jid"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(dir, "return.p"), raw, wholefile.Options{})
}
