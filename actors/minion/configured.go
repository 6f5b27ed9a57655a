package minion

import (
	"path/filepath"

	"brine/actors/minion/facts"
	"brine/actors/minion/link"
	"brine/config"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/schedule"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
)

// What actors and links get of the configuration, which none of them sees as a whole. It is as the minion began with:
// what a reload changes is in times, which are asked anew at each use (decision 0048).

// ownOptions are what the minion looks at while it runs, for no actor in particular.
type ownOptions struct {
	id                string
	pillar            facts.Question
	jobsMost          int          // process_count_max as configured
	eventMost         int          // max_event_size in bytes
	returners         []string     // option return
	disabled          []string     // disable_returners
	scheduleReturners []string     // schedule_returner
	engines           any          // of any shape
	values            *payload.Map // all options, for the templates of reactions
	backlog           string       // file of the Reactor
}

func ownOptionsOf(cfg *config.Minion) ownOptions {
	return ownOptions{id: cfg.ID, pillar: facts.Question{ID: cfg.ID, Saltenv: cfg.SaltEnv,
		Pillarenv: cfg.PillarEnv, Passed: pillar.Passed(cfg.Raw)},
		jobsMost: cfg.ProcessCountMax, eventMost: cfg.MaxEventSize, returners: cfg.Return,
		disabled: cfg.DisableReturners, scheduleReturners: loader.StringList(cfg.Raw.Value("schedule_returner")),
		engines: cfg.Raw.Value("engines"), values: cfg.Raw, backlog: filepath.Join(cfg.CacheDir, backlogFile)}
}

// keepsPillarIn is the folder below which the pillar is kept in files; "": it is not.
func keepsPillarIn(cfg *config.Minion) string {
	if !cfg.MinionPillarCache || cfg.Raw.Str("file_client") != "remote" {
		return ""
	}
	return cfg.CacheDir
}

// anyPublishPort is the value of publish_port with which, as with none in the file, the master's own port counts.
const anyPublishPort = 4506

// linkOptionsOf are what the configuration says of every master.
func linkOptionsOf(cfg *config.Minion) link.Options {
	o := link.Options{ID: cfg.ID, StartDelay: cfg.RandomStartupDelay, Wait: cfg.AcceptanceWaitTime,
		WaitMax: cfg.AcceptanceWaitTimeMax, ReauthDelay: cfg.RandomReauthDelay, PendingMost: cfg.AuthRetries,
		RetryDNS: cfg.RetryDNS, LookupsMost: cfg.RetryDNSCount, Filtering: cfg.ZMQFiltering,
		PingEvery: cfg.PingInterval, AuthSafemode: cfg.AuthSafemode}
	if cfg.File.Has("publish_port") && cfg.PublishPort != anyPublishPort {
		o.PublishPort = cfg.PublishPort
	}
	return o
}

func transportOptionsOf(cfg *config.Minion, network transport.Network) link.TransportOptions {
	return link.TransportOptions{ID: cfg.ID, Network: network, IPv6: cfg.IPv6, Single: cfg.SourceRetPort != 0,
		ToThisHost: cfg.RetryDNS == 0 && cfg.ResolveDNSFallback}
}

func scheduleOptionsOf(cfg *config.Minion) scheduleOptions {
	return scheduleOptions{loop: cfg.LoopInterval, uniqueJID: cfg.UniqueJID, path: schedule.Path(cfg.Raw)}
}

// supervised are the options of the tree that come from the configuration.
func (m *Minion) supervised() supervisor.Options {
	return supervisor.Options{
		Name: "minion", Logger: m.opt.Logger, Clock: m.opt.Clock, RestartDelayMax: m.cfg.RestartDelayMax,
		WaitForKill: m.cfg.StopTimeout, OnDeath: m.opt.OnDeath, OnQuarantine: m.quarantined, Chaos: m.cfg.Chaos,
		WorkerTimeout: m.cfg.WorkerTimeout, ComponentTimeout: m.cfg.ComponentTimeout,
		HistoryFile: filepath.Join(m.cfg.CacheDir, deathsFile),
	}
}
