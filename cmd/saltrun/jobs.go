package saltrun

import (
	"context"
	"os"
	"path/filepath"

	"brine/cmd/session"
	"brine/modules/returners"
	"brine/modules/runners"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// newJobCache is the job cache of the master as tools use it.
type jobCache interface {
	runners.JobStore
	runners.EndTimes
	// keep stores a job of one minion with its return.
	keep(ctx context.Context, jid, id string, load *payload.Map) error
}

// newJobCache asks the master when it is brine's and runs: its job store is its own. Otherwise it reads the files of
// Salt's job cache.
func newJobCache(s *session.Session) jobCache {
	path := filepath.Join(s.Master.SockDir, control.Socket)
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		return askedJobs{ipc.NewControlClient(path)}
	}
	return filedJobs{s}
}

// askedJobs is the job cache of a running brine master.
type askedJobs struct{ control *ipc.ControlClient }

func (j askedJobs) ask(request *payload.Map) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), control.JobPatience)
	defer cancel()
	reply, err := j.control.Do(ctx, request)
	return reply.Value("result"), err
}

func (j askedJobs) askMap(request *payload.Map) (*payload.Map, error) {
	v, err := j.ask(request)
	m, _ := v.(*payload.Map)
	return m, err
}

func (j askedJobs) Load(jid string) (*payload.Map, error) {
	return j.askMap(payload.M("cmd", control.JobsLoad, "jid", jid))
}

func (j askedJobs) Returns(jid string) (*payload.Map, error) {
	return j.askMap(payload.M("cmd", control.JobsReturns, "jid", jid))
}

func (j askedJobs) Loads() (*payload.Map, error) {
	return j.askMap(payload.M("cmd", control.JobsLoads))
}

func (j askedJobs) EndTime(jid string) string {
	v, err := j.ask(payload.M("cmd", control.JobsEndTime, "jid", jid))
	text, _ := v.(string)
	if err != nil {
		return ""
	}
	return text
}

func (j askedJobs) keep(_ context.Context, jid, id string, load *payload.Map) error {
	_, err := j.ask(payload.M("cmd", control.JobsStore, "jid", jid, "id", id, "load", load))
	return err
}

// filedJobs is the job cache of a Salt master, in its files.
type filedJobs struct{ *session.Session }

func (j filedJobs) files() (*returners.LocalCache, error) {
	return returners.AttachLocalCache(returners.Options{CacheDir: j.Master.CacheDir, Shared: j.Master.Shared(), HashType: j.Master.HashType, EndTimes: j.Master.JobCacheStoreEndtime})
}

func (j filedJobs) Load(jid string) (*payload.Map, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	return files.Load(jid)
}

func (j filedJobs) Returns(jid string) (*payload.Map, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	return files.Returns(jid)
}

func (j filedJobs) Loads() (*payload.Map, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	return files.Loads()
}

func (j filedJobs) EndTime(jid string) string {
	files, err := j.files()
	if err != nil {
		return ""
	}
	return files.EndTime(jid)
}

func (j filedJobs) keep(_ context.Context, jid, id string, load *payload.Map) error {
	files, err := j.files()
	if err != nil {
		return err
	}
	_, err = files.Commit([]returners.Load{{JID: jid, Load: load, Minions: []string{}}}, []returners.Return{{JID: jid, ID: id, Load: load}})
	return err
}
