package master

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/actors/engines"
	"brine/actors/master/reqserver"
	"brine/actors/master/run"
	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"

	"github.com/prometheus/client_golang/prometheus"
)

// Options are a master's configuration and what only the daemon around it knows.
type Options struct {
	Config      *config.Master
	Logger      *slog.Logger
	Keys        *Keys  // of LoadKeys
	RunningUser string // whom this process belongs to
	Version     string // of Salt, as this master answers to test.version
	OnDeath     func(stats.Death)
	Metrics     prometheus.Registerer // takes the counters of the master; nil: it counts nothing
	Functions   []string              // that are told apart in metrics
	Memory      int64                 // limit of this process in bytes, 0: none
	Unmeasured  bool                  // the supervisors count nothing per message: for benchmarks

	book ledger.Limits                 // of what is known of jobs; zero: those of every master
	jobs func(own jobCache) jobCache   // puts something before the store of jobs; nil: nothing
	runs func(inner run.Func) run.Func // puts something before runner functions; nil: nothing
}

// Master is a running master.
type Master struct {
	top    *supervisor.Supervisor
	core   *core
	stores *stores
}

// Start opens what the master keeps on disk, starts the children in Salt's order and returns when both ports are
// bound. On an error nothing of the master is left running.
func Start(opt Options) (*Master, error) {
	ps, err := reqserver.PoolsOf(workerPools(opt.Config), opt.Config.WorkerThreads)
	if err != nil {
		return nil, err
	}
	st, err := openStores(storeOptionsOf(opt.Config), opt.Logger)
	if err != nil {
		return nil, err
	}
	m := &Master{stores: st}
	if m.core, err = newCore(opt, ps, st); err != nil {
		return nil, errors.Join(err, st.close())
	}
	cfg := opt.Config
	starting, failed := context.WithCancelCause(context.Background())
	defer failed(nil)
	tree := m.core.supervised()
	tree.Unmeasured = opt.Unmeasured
	tree.OnDeath = func(d stats.Death) {
		if !engines.IsChild(d.Path) {
			failed(errors.New(d.Reason)) // of no effect once all has started
		}
		if opt.OnDeath != nil {
			opt.OnDeath(d)
		}
	}
	m.top = supervisor.Start(supervisor.NewSystem(opt.Logger), tree)
	m.core.tree.Store(m.top)
	if err = m.begin(starting); err != nil {
		_, stopErr := m.Stop(cfg.StopTimeout)
		return nil, errors.Join(err, stopErr)
	}
	return m, nil
}

// begin starts the children between the health files of before and after, and the Scheduler when all is there.
func (m *Master) begin(starting context.Context) error {
	m.core.signs.Clear()
	if err := m.spawn(starting); err != nil {
		return err
	}
	m.core.signs.Set()
	return m.add(starting, []daemon.Child{{Spec: m.core.schedules.Child()}}) // its jobs may ask this master at once
}

// eventShare is how much of the memory limit events that wait for the bus may take, one in so many, where the usual
// bound is more than that.
const eventShare = 16

// Stop ends the master as kill_children does, removes its marker files and closes its stores.
func (m *Master) Stop(within time.Duration) (supervisor.Report, error) {
	m.core.reactions.Halt()
	m.top.StopRestarting()
	report := m.top.Stop(within)
	return report, errors.Join(m.core.signs.Remove(), m.core.close(), m.stores.close())
}

// Supervisor is the root of the actor tree, for the admin command.
func (m *Master) Supervisor() *supervisor.Supervisor { return m.top }

// Fire puts an event on the master's bus.
func (m *Master) Fire(tag string, data *payload.Map) { m.core.events.Fire(tag, data) }
