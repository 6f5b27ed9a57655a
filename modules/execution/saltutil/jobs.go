package saltutil

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// jobsOf are the jobs of the minion around the call.
func jobsOf(c *loader.Call) loader.Jobs {
	if j := c.Host().Jobs; j != nil {
		return j
	}
	return procDir{dir: filepath.Join(c.Opts().Str("cachedir"), "proc"), daemon: pidOf(c.Opts().Str("pidfile"))}
}

// others are the running jobs without the one that asks.
func others(c *loader.Call) []*payload.Map {
	var out []*payload.Map
	for _, j := range jobsOf(c).Running() {
		if c.JID == "" || j.Str("jid") != c.JID {
			out = append(out, j)
		}
	}
	return out
}

func running(c *loader.Call, _ struct{}) ([]any, error) { return list(others(c)), nil }

func list(jobs []*payload.Map) []any {
	return payload.AnyList(jobs)
}

// globbed is a glob of functions.
type globbed struct {
	Fun string `arg:"fun"`
}

func isRunning(c *loader.Call, a globbed) (any, error) {
	var out []*payload.Map
	for _, j := range others(c) {
		if runs(j, a.Fun) {
			out = append(out, j)
		}
	}
	return list(out), nil
}

// runs tells whether a job's function, or one of several, matches a glob.
func runs(job *payload.Map, glob string) bool {
	names, ok := job.Value("fun").([]any)
	if !ok {
		names = []any{job.Value("fun")}
	}
	for _, n := range names {
		if fnmatch.Match(glob, loader.Text(n)) {
			return true
		}
	}
	return false
}

// named is a job.
type named struct {
	JID string `arg:"jid"`
}

func findJob(c *loader.Call, a named) (*payload.Map, error) {
	for _, j := range others(c) {
		if j.Str("jid") == a.JID {
			return j, nil
		}
	}
	if j := queued(c.Opts().Str("cachedir"), a.JID); j != nil {
		return j, nil
	}
	return payload.NewMap(0), nil
}

// queued finds a job that waits on disk for its turn. Its map says so.
func queued(cachedir, jid string) *payload.Map {
	if jid == "" || strings.ContainsAny(jid, `*?[\/`) {
		return nil
	}
	for _, queue := range []string{"state_queue", "job_queue"} {
		for _, dir := range []string{queue, filepath.Join("queues", "*", queue)} {
			files, _ := filepath.Glob(filepath.Join(cachedir, dir, "*_"+jid+".p"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					continue // it got its turn meanwhile
				}
				if job, err := payload.UnmarshalMap(b); err == nil {
					if !job.Has("pid") {
						job.Set("pid", int64(0))
					}
					return job.Set("queued", true).Set("queue_type", queue)
				}
			}
		}
	}
	return nil
}

func findCachedJob(c *loader.Call, a named) (any, error) {
	jid := a.JID
	dir := filepath.Join(c.Opts().Str("cachedir"), "minion_jobs", jid)
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() || jid != filepath.Base(jid) || strings.HasPrefix(jid, ".") {
		if !python.Truth(c.Opts().Value("cache_jobs")) {
			return "Local jobs cache directory not found; you may need to enable cache_jobs on this minion", nil
		}
		return fmt.Sprintf("Local jobs cache directory %s not found", dir), nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "return.p"))
	if err != nil {
		return nil, fmt.Errorf("read a cached return: %w", err)
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil {
		return nil, nil
	}
	return m, nil
}

// signalled is a job and the number of a signal for it.
type signalled struct {
	named
	Signal int64 `arg:"sig"`
}

func signalJob(c *loader.Call, a signalled) (string, error) {
	return signal(c, a.JID, int(a.Signal)), nil
}

// signal sends a signal to a job other than the own one; "" when there is no such job.
func signal(c *loader.Call, jid string, sig int) string {
	if jid == c.JID && jid != "" {
		return ""
	}
	text, _ := jobsOf(c).Signal(jid, sig)
	return text
}

func termJob(c *loader.Call, a named) (string, error) {
	return signal(c, a.JID, int(syscall.SIGTERM)), nil
}

func killJob(c *loader.Call, a named) (string, error) {
	return signal(c, a.JID, int(syscall.SIGKILL)), nil
}

func termAll(c *loader.Call, _ struct{}) ([]any, error) { return signalAll(c, syscall.SIGTERM), nil }

func killAll(c *loader.Call, _ struct{}) ([]any, error) { return signalAll(c, syscall.SIGKILL), nil }

func signalAll(c *loader.Call, sig syscall.Signal) []any {
	out := []any{}
	for _, j := range others(c) {
		out = append(out, signal(c, python.Str(j.Value("jid")), int(sig)))
	}
	return out
}
