package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// allIDs stands for every ID of a run in a file of pauses.
const allIDs = "__all__"

// pausing are the functions that pause and end runs.
func pausing() []loader.Func {
	return []loader.Func{
		loader.Fn("pause", pause, "Pause a run of states, or one of its IDs, before it goes on; a duration is in seconds.",
			"state.pause 20171130110407769519", "state.pause 20171130110407769519 vim", "state.pause <jid> vim 20"),
		loader.Fn("resume", resume, "Let a run of states go on.", "state.resume 20171130110407769519",
			"state.resume 20171130110407769519 vim"),
		loader.Fn("soft_kill", softKill, "End a run of states before the next of its IDs, or before the one given.",
			"state.soft_kill 20171130110407769519", "state.soft_kill 20171130110407769519 vim"),
		loader.Fn("get_pauses", getPauses, "Show what is paused of the runs that run.", "state.get_pauses",
			"state.get_pauses 20171130110407769519"),
	}
}

type (
	ofJob struct {
		JID     string `arg:"jid"`
		StateID any    `arg:"state_id=None"`
	}
	pauseArgs struct {
		ofJob
		Duration any `arg:"duration=None"`
	}
)

// pausePath is the file that pauses a run: {ID or __all__: {duration, kill}} in msgpack.
func pausePath(c *loader.Call, jid string) string {
	return filepath.Join(c.Opts().Str("cachedir"), "state_pause", jid)
}

// checkedPath is pausePath for a jid that a caller gives.
func checkedPath(c *loader.Call, jid string) (string, error) {
	if jid == "" || jid[0] == '.' || strings.ContainsAny(jid, "/\x00") {
		return "", loader.InvocErr("'%s' is not a job id", jid)
	}
	return pausePath(c, jid), nil
}

// readPauses reads a file of pauses; nothing where there is none.
func readPauses(path string) (*payload.Map, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return payload.NewMap(0), nil
	}
	if err != nil {
		return nil, err
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil {
		return nil, loader.ExecErr("%s: %v", path, err)
	}
	return m, nil
}

// change reads the pauses of a run, and writes what comes of them.
func change(c *loader.Call, a ofJob, do func(all *payload.Map, id string)) (any, error) {
	path, err := checkedPath(c, a.JID)
	if err != nil {
		return nil, err
	}
	all, err := readPauses(path)
	if err != nil {
		return nil, err
	}
	id := allIDs
	if a.StateID != nil {
		id = python.Str(a.StateID)
	}
	do(all, id)
	b, err := payload.MarshalBin(all)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return nil, wholefile.Write(path, b, wholefile.Options{Mode: 0o600})
}

// entry is what the pauses of a run say of an ID, made where there is nothing yet.
func entry(all *payload.Map, id string) *payload.Map {
	if m, ok := all.Value(id).(*payload.Map); ok {
		return m
	}
	m := payload.NewMap(1)
	all.Set(id, m)
	return m
}

func pause(c *loader.Call, a pauseArgs) (any, error) {
	var seconds int64
	if python.Truth(a.Duration) {
		var err error
		if seconds, err = loader.ToInt(a.Duration); err != nil {
			return nil, err
		}
	}
	return change(c, a.ofJob, func(all *payload.Map, id string) {
		if e := entry(all, id); seconds != 0 {
			e.Set("duration", seconds)
		}
	})
}

func resume(c *loader.Call, a ofJob) (any, error) {
	return change(c, a, func(all *payload.Map, id string) {
		for _, key := range all.Keys() {
			if id == allIDs || key == any(id) {
				all.Delete(key)
			}
		}
	})
}

func softKill(c *loader.Call, a ofJob) (any, error) {
	return change(c, a, func(all *payload.Map, id string) { entry(all, id).Set("kill", true) })
}

type pausesOf struct {
	JID any `arg:"jid=None"`
}

// getPauses shows the pauses of runs that run, and removes the files of others.
func getPauses(c *loader.Call, a pausesOf) (*payload.Map, error) {
	out := payload.NewMap(0)
	var jids []string
	switch jid := a.JID.(type) {
	case nil:
		found, err := os.ReadDir(filepath.Join(c.Opts().Str("cachedir"), "state_pause"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range found {
			jids = append(jids, entry.Name())
		}
	case []any:
		for _, v := range jid {
			jids = append(jids, python.Str(v))
		}
	default:
		jids = []string{python.Str(jid)}
	}
	for _, jid := range jids {
		path, err := checkedPath(c, jid)
		if err != nil {
			return nil, err
		}
		if !runs(c, jid) {
			_ = os.Remove(path) // it may be gone already
			continue
		}
		all, err := readPauses(path)
		if err != nil {
			return nil, err
		}
		out.Set(jid, all)
	}
	return out, nil
}

// runs tells whether a job that runs states has a jid.
func runs(c *loader.Call, jid string) bool {
	if c.Host().Jobs == nil {
		return false
	}
	for _, job := range c.Host().Jobs.Running() {
		if python.Str(job.Value("jid")) == jid && isRun(job) {
			return true
		}
	}
	return false
}

// lookAgain is how often a paused run looks whether it may go on.
const lookAgain = 200 * time.Millisecond

// held waits while a file of pauses holds an ID back; stop ends the run before it. A file that cannot be read holds
// nothing, as in Salt.
func held(ctx context.Context, path, id string) (stop bool) {
	for began := time.Now(); ; {
		all, err := readPauses(path)
		if err != nil || all.Len() == 0 {
			return false
		}
		own, ok := all.Value(id).(*payload.Map)
		if !ok {
			own, ok = all.Value(allIDs).(*payload.Map)
		}
		if !ok {
			return false
		}
		if seconds, limited := own.Int("duration"); limited && time.Since(began) > time.Duration(seconds)*time.Second {
			return false
		}
		if own.Has("kill") {
			return true
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return false
		}
	}
}

// removePause removes the pauses of a run that is over.
func removePause(c *loader.Call, jid string) {
	_ = os.Remove(pausePath(c, jid)) // mostly there is none
}

// nowTime is the time that a run without a job id is named by.
func nowTime() time.Time { return time.Now() }
