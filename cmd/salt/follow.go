package salt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/terminal"
	"brine/cmd/tool"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/python"
)

// follow publishes a job and shows its returns as they arrive.
func (t *saltTool) follow(ctx context.Context) error {
	job, err := t.job(ctx)
	if err != nil {
		return err
	}
	if n := t.Opt.Int("subset"); n > 0 {
		ids, err := t.subset(ctx, job, n)
		if err != nil {
			return err
		}
		job.Tgt, job.TgtType = ids, "list"
	}
	run, err := t.wire.Run(ctx, job)
	if err != nil {
		return masterlink.ClientError(t.Session, err)
	}
	if !masterlink.Published(t.Session, run.Published) {
		run.Close()
		t.explainNobody(ctx, job)
		return t.noReturn()
	}
	words := masterlink.InterruptText(run.JID)
	t.LastWords.Store(&words)
	t.header(run.JID)
	way := t.hops(run)
	seen := &tally{}
	docs := payload.NewMap(0)
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return masterlink.ClientError(t.Session, err)
		}
		way.see(ret)
		value, out, code, shown := t.reading(ctx, run.JID, ret)
		if !shown {
			continue
		}
		seen.add(ret, value, code)
		switch {
		case t.Opt.Bool("progress"):
			t.showProgress(seen, len(run.Minions))
		case t.cmd.doc:
			docs.Set(ret.ID, value)
		default:
			if err := display.Show(t.Session, payload.M(ret.ID, value), display.How{Out: out, Retcode: code,
				Minions: true}); err != nil {
				return err
			}
		}
	}
	defer way.tell()()
	err = t.finished(seen, docs)
	way.explain(ctx)
	return err
}

// finished ends a run whose returns are all in.
func (t *saltTool) finished(seen *tally, docs *payload.Map) error {
	if t.cmd.doc {
		return t.showDocs(docs)
	}
	if t.Opt.Bool("progress") {
		return nil
	}
	if t.Opt.Bool("cli_summary") && t.Opt.Str("output") == "" {
		fmt.Fprint(t.Stdout, seen.text(t.Opt.Bool("verbose")))
	}
	if seen.failed {
		return tool.Exit(tool.ExitGeneric, "ERROR: Minions returned with non-zero exit code")
	}
	return nil
}

// header shows the job id if the options ask for it.
func (t *saltTool) header(jid string) {
	switch {
	case t.cmd.doc || t.Opt.Bool("progress"):
	case t.Opt.Bool("verbose"):
		line := "Executing job with jid " + jid
		fmt.Fprintf(t.Stdout, "%s\n%s\n\n", line, strings.Repeat("-", len(line)))
	case t.Opt.Bool("show_jid"):
		fmt.Fprintln(t.Stdout, "jid: "+jid)
	}
}

// showProgress draws how many minions have returned, on a terminal only.
func (t *saltTool) showProgress(seen *tally, of int) {
	if !terminal.IsTerminal(t.Stderr) {
		return
	}
	fmt.Fprintf(terminal.Beneath(t.Stderr), "\r%d of %d minions", seen.returned+seen.silent, of)
	if seen.returned+seen.silent >= of {
		fmt.Fprintln(t.Stderr)
	}
}

// reading tells how to show one return. shown is false for the silence of a syndic.
func (t *saltTool) reading(ctx context.Context, jid string, ret client.Return) (value any, out string, code int,
	shown bool) {
	if ret.Silence == client.Answered {
		return t.untrimmed(ctx, jid, ret.ID, ret.Value), ret.Out, retcodeOf(ret.Data), true
	}
	text := t.silenceText(jid, ret)
	return text, "no_return", tool.ExitGeneric, text != ""
}

// retcodeOf returns the exit code of a return. If a job calls several functions, it is the highest code.
func retcodeOf(ret *payload.Return) int {
	codes, ok := ret.Retcode().(*payload.Map)
	if !ok {
		return int(ret.Code())
	}
	most := int64(0)
	first := true
	for k := range codes.All() {
		if n, ok := codes.Int(python.Str(k)); ok && (first || n > most) {
			most, first = n, false
		}
	}
	return int(most)
}

// subset asks the target for its functions and picks n minions that have the function of the job.
func (t *saltTool) subset(ctx context.Context, job client.Job, n int) ([]any, error) {
	probe := job
	probe.Fun, probe.Arg, probe.Ret = "sys.list_functions", nil, ""
	run, err := t.wire.Run(ctx, probe)
	if err != nil {
		return nil, masterlink.ClientError(t.Session, err)
	}
	if !masterlink.Published(t.Session, run.Published) {
		run.Close()
		t.explainNobody(ctx, probe)
		return []any{}, nil
	}
	way := t.hops(run)
	var able []any
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, masterlink.ClientError(t.Session, err)
		}
		way.see(ret)
		if list, ok := ret.Value.([]any); ok && hasAll(list, job.Fun) {
			able = append(able, ret.ID)
		}
	}
	defer way.tell()()
	way.explain(ctx)
	rand.Shuffle(len(able), func(i, j int) { able[i], able[j] = able[j], able[i] })
	return able[:min(n, len(able))], nil
}

// hasAll tells whether a list holds the function fun, or all functions if fun is a list.
func hasAll(list []any, fun any) bool {
	if several, ok := fun.([]any); ok {
		return !slices.ContainsFunc(several, func(f any) bool { return !slices.Contains(list, f) })
	}
	return slices.Contains(list, fun)
}
