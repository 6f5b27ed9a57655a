package salt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/fleet/batch"
	"brine/modules/fleet/jobstore"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/event"
	"brine/wire/payload"
)

// masterRunsBatches tells whether the master takes batches over. Unlike Salt 3008, and like its older releases:
// if a brine master does not, the batch runs in the foreground, because nothing else would continue it.
func (b *batchRun) masterRunsBatches(ctx context.Context) bool {
	master := masterlink.Daemon(b.Session)
	if master == nil {
		return true // a Salt master
	}
	ctx, cancel := context.WithTimeout(ctx, control.JobPatience)
	defer cancel()
	help, err := control.Ask(ctx, master, control.GetHelp{})
	if err != nil {
		b.Log.Debug("control socket does not answer", "err", err)
		return true
	}
	return help.Has(control.Batches)
}

// handOver starts a batch and leaves the rest to the master (--async -b). The first minions get the job, the
// state goes to the job cache, and an event informs the master.
func (b *batchRun) handOver(ctx context.Context) error {
	up, down, err := b.ping(ctx)
	if err != nil {
		return err
	}
	defer b.explain(ctx)
	if len(up) == 0 {
		return nil
	}
	b.quiet = false
	b.sayDown(down)
	spec := b.spec(batch.ByMaster)
	spec.User = session.RunningUser()
	if name := payload.NewCredentials(b.cred).Username(); name != "" {
		spec.User = name
	}
	if b.state, err = batch.New(spec, up, time.Now()); err != nil {
		return masterlink.Uncaught(b.Session, "salt.exceptions.SaltInvocationError", err)
	}
	first, _ := b.state.Step(time.Now(), nil, nil)
	_, err = b.wire.Publish(ctx, client.Job{Tgt: payload.AnyList(first), TgtType: "list", Fun: spec.Fun, Arg: spec.Arg,
		Ret: spec.Ret, JID: spec.JID, Kwargs: b.cred, Timeout: spec.Timeout})
	if err = masterlink.ClientError(b.Session, err); err != nil {
		return tool.Exit(tool.ExitNoReturn, "ERROR: %s", err)
	}
	if err := b.keepState(); err != nil {
		return err
	}
	if err := b.bus.Fire(ctx, event.TagBatch(spec.JID, "new"), b.state.NewEvent()); err != nil {
		b.Log.Error("Failed to fire salt/batch/" + spec.JID + "/new; the master finds the batch by its state")
	}
	fmt.Fprintln(b.Stdout, "Executed batch command with job ID: "+spec.JID)
	return nil
}

// batchIndex lists the jids of the batches that are unfinished.
const batchIndex = "batch_active.p"

// keepState writes the state where the master looks for it, and adds the batch to the list of unfinished ones.
func (b *batchRun) keepState() error {
	dir, err := jobstore.JobDir(b.Master.CacheDir, b.Master.HashType, b.state.JID)
	if err != nil {
		return err
	}
	raw, err := payload.Marshal(b.state.Map())
	if err != nil {
		return fmt.Errorf("pack batch state: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep batch state: %w", err)
	}
	if err := masterlink.ReplaceFile(filepath.Join(dir, ".batch.p"), raw); err != nil {
		return err
	}
	index := filepath.Join(b.Master.CacheDir, batchIndex)
	jids, err := readIDs(index)
	if err != nil {
		b.Log.Error(err.Error())
	}
	if raw, err = payload.Marshal(
		payload.AnyList(slices.Compact(slices.Sorted(slices.Values(append(jids, b.state.JID)))))); err != nil {
		return fmt.Errorf("pack batch index: %w", err)
	}
	return masterlink.ReplaceFile(index, raw)
}

// readIDs reads a file that holds a packed list of texts. A missing file gives no texts.
func readIDs(path string) ([]string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := payload.Unmarshal(raw)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	list, _ := v.([]any)
	return onlyTexts(list), nil
}

// onlyTexts returns the texts of a list and drops other values.
func onlyTexts(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		if t, ok := v.(string); ok {
			out = append(out, t)
		}
	}
	return out
}
