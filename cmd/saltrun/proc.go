package saltrun

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"brine/modules/runners"
	"brine/wire/payload"
)

// note writes a file about this run for jobs.master. forget removes it.
func (r *runTool) note(req runners.Request) (forget func(), err error) {
	file := filepath.Join(r.Master.CacheDir, "proc", req.JID)
	args := append([]any{}, req.Args...)
	if req.KW.Len() > 0 {
		args = append(args, req.KW)
	}
	raw, err := payload.Marshal(payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", req.User,
		"fun_args", args, "pid", os.Getpid()))
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		return func() {}, err
	}
	return func() {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			r.Log.Debug("note of run not removed", "jid", req.JID, "err", err)
		}
	}, nil
}

// running lists the noted runs whose process is alive.
func (r *runTool) running() []*payload.Map {
	dir := filepath.Join(r.Master.CacheDir, "proc")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var runs []*payload.Map
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it has just ended
		}
		run, err := payload.UnmarshalMap(raw)
		if pid, ok := run.Int("pid"); err == nil && ok && alive(pid) {
			runs = append(runs, run)
		}
	}
	return runs
}

func alive(pid int64) bool {
	_, err := os.Stat("/proc/" + strconv.FormatInt(pid, 10))
	return err == nil
}
