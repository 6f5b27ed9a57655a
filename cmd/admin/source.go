package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/modules/execution/brine"
	"brine/supervisor/stats"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/payload"
)

// daemonSource gets looks from the daemon behind a control socket.
type daemonSource struct{ *adminTool }

// Look asks for the tree and the process.
func (d daemonSource) Look(ctx context.Context) (*top.Look, error) {
	root, err := askWithin(ctx, d.adminTool, control.GetTree{}, control.AskTimeout)
	if err != nil {
		return nil, plainError(err)
	}
	process, err := askWithin(ctx, d.adminTool, control.GetProcess{}, control.AskTimeout)
	if err != nil {
		return nil, plainError(err)
	}
	return &top.Look{At: time.Now(), Roots: []stats.Child{stats.ParseChild(root)}, Facts: processFacts(process)}, nil
}

// Stack asks for the goroutines of one actor.
func (d daemonSource) Stack(ctx context.Context, path string) (string, error) {
	got, err := askWithin(ctx, d.adminTool, control.GetStack{Name: path}, control.AskTimeout)
	if err != nil {
		return "", plainError(err)
	}
	if got.Stack != "" {
		return got.Stack, nil
	}
	return "nothing to do: no goroutine works for it", nil
}

// shownError is an error as brine top shows it. The screen stays open, so the text does not begin with "brine:
// ". If the error does end the tool, errors.As finds the exit code.
type shownError struct{ *tool.ExitError }

func (e shownError) Error() string { return strings.TrimPrefix(strings.TrimSpace(e.Text), "brine: ") }
func (e shownError) Unwrap() error { return e.ExitError }

func plainError(err error) error {
	var ended *tool.ExitError
	if errors.As(err, &ended) {
		return shownError{ended}
	}
	return err
}

// processFacts describes a daemon's process in a few words.
func processFacts(p control.Process) []string {
	facts := []string{"up " + top.Span(time.Duration(p.UptimeMS)*time.Millisecond), fmt.Sprintf("pid %d", p.PID)}
	if p.RSSBytes > 0 {
		facts = append(facts, top.Bytes(p.RSSBytes))
	}
	facts = append(facts, "heap "+top.Bytes(p.HeapBytes), fmt.Sprintf("%d goroutines", p.Goroutines))
	if p.Crashes > 0 {
		facts = append(facts, fmt.Sprintf("%d crashes, see %s", p.Crashes, p.LastCrash))
	}
	return facts
}

// fleetTool gets looks from minions through their master.
type fleetTool struct {
	*adminTool
	wire *client.Client
	job  client.Job
}

// These constants bound the wait for minions: on a screen, where the next look waits for the answer, and
// elsewhere. gatherWithin is the further time in which the master may say which minions are silent.
const (
	screenWithin = 3 * time.Second
	answerWithin = 12 * time.Second
	gatherWithin = 3 * time.Second
)

// fleet prepares a question to the minions that a compound target matches.
func (a *adminTool) fleet(target string) (*fleetTool, error) {
	words, err := masterlink.WithoutNodegroups(a.Session, strings.Fields(target))
	if err != nil {
		return nil, tool.Exit(tool.ExitGeneric, "brine: %v", err)
	}
	return &fleetTool{adminTool: a, wire: masterlink.NewClient(a.Session),
		job: client.Job{Tgt: strings.Join(words, " "), TgtType: "compound", Fun: brine.Actors, Timeout: answerWithin,
			GatherJobTimeout: gatherWithin}}, nil
}

// returns asks the minions. silent names those that did not answer, with the reason.
func (f *fleetTool) returns(ctx context.Context) (answered []client.Return, silent []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.job.Timeout+gatherWithin)
	defer cancel()
	run, err := f.wire.Run(ctx, f.job)
	if err != nil {
		return nil, nil, f.unpublished(err)
	}
	if len(run.Published.Minions) == 0 {
		run.Close()
		return nil, nil, tool.Exit(tool.ExitGeneric, "brine: %s", masterlink.TextNobody)
	}
	left := slices.Clone(run.Minions)
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			break // the time is over: the remaining minions did not answer
		}
		left = slices.DeleteFunc(left, func(id string) bool { return id == ret.ID })
		if ret.Silence == client.Answered {
			answered = append(answered, ret)
		} else {
			silent = append(silent, ret.ID+": "+silenceText(ret.Silence))
		}
	}
	for _, id := range left {
		silent = append(silent, id+": "+silenceText(client.NoResponse))
	}
	slices.SortFunc(answered, func(a, b client.Return) int { return strings.Compare(a.ID, b.ID) })
	return answered, silent, nil
}

// unpublished says why the master did not get the question for the minions.
func (f *fleetTool) unpublished(err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return tool.Exit(tool.ExitUnavailable, "brine: user %s may not ask minions through this master: %v",
			session.RunningUser(), err)
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Exit(tool.ExitUnavailable, "brine: %s", f.unanswered(f.job.Timeout+gatherWithin))
	}
	return tool.Exit(tool.ExitUnavailable, "brine: %v", masterlink.ClientError(f.Session, err))
}

// textNoBrine is the text for a minion that lacks brine's functions.
const textNoBrine = "no brine minion"

func silenceText(s client.Silence) string {
	switch s {
	case client.NotConnected:
		return "not connected"
	case client.Unknown:
		return "no such minion"
	}
	return "no answer"
}

// trees asks the minions for their trees. A brief tree carries no stacks.
func (f *fleetTool) trees(ctx context.Context, brief bool) (trees []*payload.Map, silent []string, err error) {
	f.job.Arg = []any{payload.M("__kwarg__", true, "brief", brief)}
	returns, silent, err := f.returns(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, ret := range returns {
		tree, ok := ret.Value.(*payload.Map)
		if !ok || !tree.Has("children") {
			silent = append(silent, ret.ID+": "+textNoBrine)
			continue
		}
		renameRoot(tree, tree.Str("path"), ret.ID)
		trees = append(trees, tree.Set("name", ret.ID))
	}
	slices.Sort(silent)
	return trees, silent, nil
}

// renameRoot replaces the first element of all paths in a tree by the id of the minion.
func renameRoot(node *payload.Map, old, id string) {
	node.Set("path", id+strings.TrimPrefix(node.Str("path"), old))
	for _, c := range node.List("children") {
		if child, ok := c.(*payload.Map); ok {
			renameRoot(child, old, id)
		}
	}
}

// Look asks all minions of the target.
func (f *fleetTool) Look(ctx context.Context) (*top.Look, error) {
	trees, silent, err := f.trees(ctx, true)
	if err != nil {
		return nil, plainError(err)
	}
	look := &top.Look{At: time.Now(), Silent: silent}
	for _, t := range trees {
		look.Roots = append(look.Roots, stats.ParseChild(t))
	}
	return look, nil
}

// Stack fails: only the minion's own machine shows goroutines.
func (f *fleetTool) Stack(_ context.Context, key string) (string, error) {
	_, path, _ := strings.Cut(key, "/")
	return "", fmt.Errorf("goroutines are shown on the minion's machine only: brine stack -m %s", path)
}
