package minion

import (
	"path/filepath"

	"brine/config"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/schedule"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// What actors and links get of the configuration, which none of them sees as a whole. It is as the minion began with:
// what a reload changes is in times, which are asked anew at each use (decision 0048).

// ownOptions are what the minion looks at while it runs, for no actor in particular.
type ownOptions struct {
	id                string
	pillar            pillarQuestion
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
	return ownOptions{id: cfg.ID, pillar: pillarQuestion{cfg.ID, cfg.SaltEnv, cfg.PillarEnv, pillar.Passed(cfg.Raw)},
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

func linkOptionsOf(cfg *config.Minion) linkOptions {
	o := linkOptions{id: cfg.ID, startDelay: cfg.RandomStartupDelay, wait: cfg.AcceptanceWaitTime,
		waitMax: cfg.AcceptanceWaitTimeMax, reauthDelay: cfg.RandomReauthDelay, pendingMost: cfg.AuthRetries,
		retryDNS: cfg.RetryDNS, lookupsMost: cfg.RetryDNSCount, filtering: cfg.ZMQFiltering}
	if cfg.File.Has("publish_port") && cfg.PublishPort != anyPublishPort {
		o.publishPort = cfg.PublishPort
	}
	return o
}

func transportOptionsOf(cfg *config.Minion) transportOptions {
	value := func(n int) int { // 0 is refused by the kernel, and no connection would come about
		if n <= 0 {
			return -1
		}
		return n
	}
	o := transportOptions{id: cfg.ID, ipv6: cfg.IPv6, sourceInterface: cfg.SourceInterfaceName,
		sourceAddress: cfg.SourceAddress, requestPort: cfg.SourceRetPort, subPort: cfg.SourcePublishPort,
		toThisHost: cfg.RetryDNS == 0 && cfg.ResolveDNSFallback,
		keepalive: zmq.Keepalive{Idle: value(cfg.TCPKeepaliveIdle), Count: value(cfg.TCPKeepaliveCnt),
			Interval: value(cfg.TCPKeepaliveIntvl)},
		heartbeat: cfg.ZMQHeartbeatIvl, silence: cfg.ZMQHeartbeatTimeout,
		reconnect: cfg.ReconDefault, reconnectLonger: cfg.ReconMax, reconnectRandom: cfg.ReconRandomize}
	if cfg.TCPKeepalive {
		o.keepalive.On = 1
	}
	return o
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
