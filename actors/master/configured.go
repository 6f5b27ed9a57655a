package master

import (
	"log/slog"
	"path/filepath"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/copies"
	"brine/actors/master/enginehost"
	"brine/actors/master/files"
	"brine/actors/master/maintenance"
	"brine/actors/master/pillars"
	"brine/actors/master/publish"
	"brine/actors/master/reactions"
	"brine/actors/master/reqserver"
	"brine/actors/master/run"
	"brine/actors/master/scheduler"
	"brine/actors/master/signin"
	"brine/actors/master/workers"
	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/pushed"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/wire/auth"
	"brine/wire/client"
	"brine/wire/payload"
)

// What every part gets of the configuration, which none of them sees as a whole. It is as the master began with: what a
// reload changes is in rules, which are asked anew for each request (decision 0048).

func storeOptionsOf(cfg *config.Master) storeOptions {
	o := storeOptions{keys: keys.OpenStore(cfg), jobCache: cfg.File.Str("master_job_cache"),
		publishPort: cfg.PublishPort, session: cfg.PublishSession, autosign: cfg.AutosignTimeout}
	if cfg.DetectRemoteMinions {
		o.remotePort = cfg.RemoteMinionsPort
	}
	o.jobs = jobstore.Options{CacheDir: cfg.CacheDir, Shared: cfg.Shared(), HashType: cfg.HashType,
		Keep: cfg.KeepJobsSeconds, MaxBytes: cfg.JobStoreMaxBytes, SyncNotes: cfg.JournalFsync,
		EndTimes: cfg.JobCacheStoreEndtime,
		Compact:  jobstore.CompactWhen{MinBytes: cfg.JobStoreCompactMinBytes, Percent: cfg.JobStoreCompactPercent}}
	return o
}

// workerPools are those that the configuration names; empty: none.
func workerPools(cfg *config.Master) *payload.Map {
	if !cfg.WorkerPoolsEnabled {
		return nil
	}
	return cfg.WorkerPools
}

func admissionOptionsOf(cfg *config.Master) access.AdmissionOptions {
	voices := access.VoiceOptions{SyndicDir: cfg.SyndicDir, Below: cfg.OrderMasters, Syndics: cfg.Syndics,
		Minimum: cfg.MinimumAuthVersion}
	return access.AdmissionOptions{Voices: voices, Whitelist: cfg.MinionEventWhitelist, DataMost: cfg.MinionDataMaxBytes,
		Hourly: access.Hourly{
			Events: cfg.MinionQuotaEvents, Jobs: cfg.MinionQuotaJobs, Mine: cfg.MinionQuotaMine,
			Grains: cfg.MinionQuotaGrains, Peer: cfg.MinionQuotaPeer, EventBytes: cfg.MinionQuotaEventBytes,
			ReturnBytes: cfg.MinionQuotaReturnBytes}}
}

func signInOptionsOf(cfg *config.Master) signin.Options {
	return signin.Options{Events: cfg.AuthEvents, WithGrains: cfg.AuthEventsAutosignGrains, Rotate: cfg.RotateAESKey,
		WeakToo: cfg.AllowWeakKeys, PendingMax: cfg.MaxPendingKeys, PendingRate: cfg.PendingKeysRate}
}

// signInSideOf are the options of the sign-in side of the master. Those whom it tells what comes of it are added.
func signInSideOf(opt Options, st *stores) auth.MasterOptions {
	cfg := opt.Config
	st.signIn.Hangs = tellHang(opt.Logger)
	return auth.MasterOptions{
		Key: opt.Keys.Own, SignKey: opt.Keys.Sign, PubSig: opt.Keys.PubSig, Logger: opt.Logger,
		Keys: st.signIn, Sessions: st.sessions,
		Rules: auth.Rules{AcceptAll: cfg.AutoAccept, AutosignFile: cfg.AutosignFile, AutorejectFile: cfg.AutorejectFile,
			GrainsDir: cfg.AutosignGrainsDir, Files: ruleFiles(cfg.PermissivePKIAccess, opt.Logger),
			Matcher: &matchers.Lines{Slow: tellSlow(opt.Logger)}},
		PublishPort: cfg.PublishPort, MinimumAuthVersion: cfg.MinimumAuthVersion,
		RequestServerTTL: cfg.RequestServerTTL, OpenMode: cfg.OpenMode, AllowWeakKeys: cfg.AllowWeakKeys,
		MaxMinions: cfg.MaxMinions, SignPublications: cfg.SignPubMessages,
		PublishSigAlgo: cfg.PublishSigningAlgorithm, SigningAlgorithm: cfg.Raw.Str("signing_algorithm"),
		RequireSignature: cfg.RequireMinionSignMessages, DropBadSignature: cfg.DropMessagesSignatureFail,
	}
}

// eauthOptions are what a configuration says of who may do what. A reload replaces them.
func eauthOptions(cfg *config.Master, running string, local eauth.Keys, calm func() bool,
	log *slog.Logger) eauth.Options {
	return eauth.Options{Damaged: tellDamage(log),
		External: cfg.ExternalAuth, PublisherACL: cfg.PublisherACL, SharedSecret: cfg.Raw.Str("sharedsecret"),
		User: cfg.User, RunningUser: running, Keys: local, TokenDir: cfg.TokenDir, TokenExpire: cfg.TokenExpire,
		ExpireOverride: cfg.TokenExpireUserOverride, KeepACL: cfg.KeepACLInToken, Permissive: cfg.PermissiveACL,
		SudoACL: cfg.SudoACL, RequireAll: cfg.ACLRequireAll, FailuresMax: cfg.LoginFailuresMax, Calm: calm,
		ACLModule: cfg.Raw.Str("eauth_acl_module"), Settings: cfg.Raw,
		Expanded: cfg.Raw.Value("auth.enable_expanded_auth_matching") == true,
	}
}

// keyManagerOf makes managers of keys that act on the master's behalf.
func keyManagerOf(cfg *config.Master, st *stores) func(preserve bool) *keys.Manager {
	return func(preserve bool) *keys.Manager {
		o := keys.Configured(cfg)
		o.PreserveMinions, o.Data = preserve, func() (keys.DataCache, error) { return st.cache, nil }
		return keys.NewManager(st.keys, o)
	}
}

func insideOptionsOf(cfg *config.Master, running string) run.InsideOptions {
	return run.InsideOptions{ID: cfg.ID, HashType: cfg.HashType, Client: client.Options{SockDir: cfg.SockDir,
		CacheDir: cfg.CacheDir, IPCMode: cfg.IPCMode, User: running, KeyOwner: cfg.User, ExtJobCache: cfg.ExtJobCache,
		SyndicWait: cfg.SyndicWait, OrderMasters: cfg.OrderMasters}}
}

func functionOptionsOf(opt Options, st *stores) run.Options {
	cfg := opt.Config
	fromNow := func() (*payload.Map, error) {
		m, err := config.LoadMaster(cfg.ConfFile, nil)
		if err != nil {
			return nil, err
		}
		return m.Raw, nil
	}
	return run.Options{Values: cfg.Raw, FromNow: fromNow, Manager: keyManagerOf(cfg, st), Version: opt.Version}
}

func publicationOptionsOf(cfg *config.Master) publish.Options {
	return publish.Options{MasterID: cfg.Raw.Value("master_id"), User: cfg.User, Filter: cfg.ZMQFiltering}
}

func upkeepOptionsOf(cfg *config.Master) maintenance.Options {
	return maintenance.Options{ID: cfg.ID, User: cfg.User, CacheDir: cfg.CacheDir,
		Published: filepath.Join(cfg.CacheDir, peerDir), Loop: cfg.LoopInterval,
		Session: cfg.PublishSession, KeepJobs: cfg.KeepJobsSeconds, OpenFiles: cfg.MaxOpenFiles,
		KeyCache: cfg.KeyCache == "sched", Presence: cfg.PresenceEvents, Ping: cfg.PingOnRotate,
		DataCache: cfg.MinionDataCache}
}

// sweepOf is what forgets deleted minions beside tools of Salt; nil where nothing is to be forgotten.
func sweepOf(cfg *config.Master, st *stores) *datacache.Sweep {
	if cfg.PreserveMinionCache {
		return nil
	}
	return &datacache.Sweep{Banks: st.cache, Keyed: st.keys.Keyed, Changed: func() (stamp int64) {
		for _, status := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected, keys.Denied} {
			stamp += maintenance.ChangedAt(st.keys.Folder(status)).UnixNano()
		}
		return stamp
	}}
}

func returnOptionsOf(cfg *config.Master) workers.ReturnOptions {
	return workers.ReturnOptions{Version2: cfg.Version2Returns, Stored: cfg.JobCache && cfg.ExtJobCache == "",
		OrderMasters: cfg.OrderMasters, SyndicDir: cfg.SyndicDir}
}

func dataOptionsOf(cfg *config.Master) workers.DataOptions {
	return workers.DataOptions{Cached: cfg.MinionDataCache, Mines: cfg.EnforceMineCache, Told: cfg.MinionDataCacheEvents,
		Version2: cfg.Version2Grains, Receives: cfg.FileRecv, MostFile: int64(cfg.FileRecvMaxSize) << 20,
		MostFiles: cfg.MinionFilesMaxBytes, RevokesKey: cfg.AllowMinionKeyRevoke, Pillars: cfg.PillarCache}
}

func pillarCacheOf(cfg *config.Master, st *stores) pillars.Cache {
	return pillars.Cache{On: cfg.PillarCache, Lives: cfg.PillarCacheTTL, Banks: st.cache, Now: time.Now,
		Accepted: func(id string) bool { return st.keys.Has(keys.Accepted, id) }}
}

func fileOptionsOf(cfg *config.Master) files.Options {
	return files.Options{Values: cfg.Raw}
}

// pushedOf is where the files are that minions push.
func pushedOf(cfg *config.Master) *pushed.Store {
	return &pushed.Store{MaxBytes: cfg.MinionFilesMaxBytes, Dir: func(id string) string {
		return filepath.Join(cfg.CacheDir, "minions", id, "files")
	}}
}

func peerOptionsOf(cfg *config.Master) workers.PeerOptions {
	return workers.PeerOptions{User: cfg.User, Ext: cfg.ExtJobCache, Dir: filepath.Join(cfg.CacheDir, peerDir),
		Patience: cfg.RequestTimeout + reqserver.WorkerGrace}
}

func scheduleOptionsOf(cfg *config.Master, running string, calm func() bool) scheduler.Options {
	return scheduler.Options{Jobs: cfg.Schedule, Loop: cfg.LoopInterval, Unique: cfg.UniqueJID,
		Returners: loader.StringList(cfg.Raw.Value("schedule_returner")),
		Disabled:  loader.StringList(cfg.Raw.Value("disable_returners")), ID: cfg.ID, User: running,
		Line: scheduler.LineOptions{Dir: filepath.Join(cfg.CacheDir, "schedule_return"), MaxBytes: cfg.ReturnSpoolMaxBytes,
			MaxAge: cfg.ReturnSpoolMaxAge, Mask: config.Masker(cfg.Raw), Calm: calm}}
}

func engineOptionsOf(cfg *config.Master) enginehost.Options {
	return enginehost.Options{Engines: cfg.Raw.Value("engines"), Ext: cfg.Raw.Value("ext_processes"), ID: cfg.ID,
		EventMost: cfg.MaxEventSize}
}

// optionsAsMinion are the options that functions of minions find where they run on the master.
func optionsAsMinion(cfg *config.Master, log *slog.Logger) *payload.Map {
	opts, err := cfg.AsMinion()
	if err != nil { // a minion cannot work with the file, the master can
		log.Warn("reactions find the options of the master only", "err", err)
		return cfg.Raw
	}
	return opts
}

func reactionOptionsOf(cfg *config.Master) reactions.Options {
	return reactions.Options{Refresh: cfg.ReactorRefreshInterval, Threads: cfg.ReactorWorkerThreads,
		Queue: cfg.ReactorWorkerHWM, Path: filepath.Join(cfg.CacheDir, reactions.BacklogFile), ID: cfg.ID}
}

func eventReturnOptionsOf(cfg *config.Master) copies.EventOptions {
	return copies.EventOptions{Names: copies.ReturnerNames(cfg.Raw.Value("event_return")), Least: cfg.EventReturnQueue,
		MaxWait: cfg.EventReturnQueueMaxSeconds, Allow: cfg.EventReturnWhitelist, Deny: cfg.EventReturnBlacklist,
		Dir: filepath.Join(cfg.CacheDir, "event_return"), MaxBytes: cfg.ReturnSpoolMaxBytes,
		MaxAge: cfg.ReturnSpoolMaxAge, Mask: config.Masker(cfg.Raw)}
}

func jobCopyOptionsOf(cfg *config.Master) copies.JobOptions {
	o := copies.JobOptions{Ext: cfg.ExtJobCache, Returns: cfg.JobCache && cfg.ExtJobCache == "",
		EndTimes: cfg.JobCacheStoreEndtime, Dir: filepath.Join(cfg.CacheDir, "job_cache"),
		MaxBytes: cfg.ReturnSpoolMaxBytes, MaxAge: cfg.ReturnSpoolMaxAge, Mask: config.Masker(cfg.Raw)}
	if name := cfg.File.Str("master_job_cache"); name != localCache {
		o.Master = name
	}
	return o
}

// peerDir holds a file per job that a minion published, below the cache directory.
const peerDir = "publish_auth"

// handlerOptionsOf are what the configuration says of requests.
func handlerOptionsOf(cfg *config.Master, running string) workers.Options {
	return workers.Options{Returns: returnOptionsOf(cfg), Data: dataOptionsOf(cfg), Peers: peerOptionsOf(cfg),
		Console:    workers.ConsoleOptions{Owner: cfg.User, OrderMasters: cfg.OrderMasters, Running: running},
		MostEvents: cfg.MinionEventsMax}
}
