package config

import (
	"time"

	"brine/wire/payload"
)

// Master holds the options of a master. Keys, units and defaults are Salt's.
type Master struct {
	Common `mapstructure:",squash"`

	PublishPort   int `mapstructure:"publish_port"`
	RetPort       int `mapstructure:"ret_port"`
	ZMQBacklog    int `mapstructure:"zmq_backlog"`
	PubHWM        int `mapstructure:"pub_hwm"`
	WorkerThreads int `mapstructure:"worker_threads"` // number of MWorkers, at least 1

	ReactorWorkerThreads   int           `mapstructure:"reactor_worker_threads"`
	ReactorWorkerHWM       int           `mapstructure:"reactor_worker_hwm"`
	ReactorRefreshInterval time.Duration `mapstructure:"reactor_refresh_interval"`

	WorkerPoolsEnabled bool          `mapstructure:"worker_pools_enabled"`
	WorkerPools        *payload.Map  `mapstructure:"worker_pools"`        // see Pools
	Timeout            time.Duration `mapstructure:"timeout"`             // the client's wait for returns
	GatherJobTimeout   time.Duration `mapstructure:"gather_job_timeout"`  // the client's wait for find_job answers
	TCPMasterPubPort   int           `mapstructure:"tcp_master_pub_port"` // with ipc_mode: tcp
	TCPMasterPullPort  int           `mapstructure:"tcp_master_pull_port"`
	MaxOpenFiles       uint64        `mapstructure:"max_open_files"`
	MaxMinions         int           `mapstructure:"max_minions"` // 0: no limit

	AutoAccept                bool          `mapstructure:"auto_accept"` // only the value true turns it on
	AutosignFile              string        `mapstructure:"autosign_file"`
	AutosignGrainsDir         string        `mapstructure:"autosign_grains_dir"`
	AutosignTimeout           time.Duration `mapstructure:"autosign_timeout" unit:"m"`
	AutorejectFile            string        `mapstructure:"autoreject_file"`
	AllowMinionKeyRevoke      bool          `mapstructure:"allow_minion_key_revoke"`
	AuthEvents                bool          `mapstructure:"auth_events"`
	AuthEventsAutosignGrains  []string      `mapstructure:"auth_events_autosign_grains"`
	MinimumAuthVersion        int           `mapstructure:"minimum_auth_version"`
	RequestServerTTL          time.Duration `mapstructure:"request_server_ttl"` // 0: requests do not expire
	PublishSession            time.Duration `mapstructure:"publish_session"`
	RotateAESKey              bool          `mapstructure:"rotate_aes_key"`
	PingOnRotate              bool          `mapstructure:"ping_on_rotate"`
	PreserveMinionCache       bool          `mapstructure:"preserve_minion_cache"`
	KeyCache                  string        `mapstructure:"key_cache"` // "sched": Maintenance writes .key_cache
	KeyPass                   string        `mapstructure:"key_pass"`
	SigningKeyPass            string        `mapstructure:"signing_key_pass"`
	MasterSignPubkey          bool          `mapstructure:"master_sign_pubkey"`
	MasterPubkeySignature     string        `mapstructure:"master_pubkey_signature"`
	MasterUsePubkeySignature  bool          `mapstructure:"master_use_pubkey_signature"`
	PublishSigningAlgorithm   string        `mapstructure:"publish_signing_algorithm"`
	RequireMinionSignMessages bool          `mapstructure:"require_minion_sign_messages"`
	DropMessagesSignatureFail bool          `mapstructure:"drop_messages_signature_fail"`
	ClientACLVerify           bool          `mapstructure:"client_acl_verify"`
	SudoACL                   bool          `mapstructure:"sudo_acl"`
	PermissiveACL             bool          `mapstructure:"permissive_acl"`
	ExternalAuth              *payload.Map  `mapstructure:"external_auth"`
	TokenExpire               time.Duration `mapstructure:"token_expire"`
	TokenExpireUserOverride   any           `mapstructure:"token_expire_user_override"` // bool or map
	KeepACLInToken            bool          `mapstructure:"keep_acl_in_token"`
	TokenDir                  string        `mapstructure:"token_dir"`  // cachedir/tokens
	SyndicDir                 string        `mapstructure:"syndic_dir"` // cachedir/syndics
	SqliteQueueDir            string        `mapstructure:"sqlite_queue_dir"`
	Peer                      *payload.Map  `mapstructure:"peer"`
	PeerRun                   *payload.Map  `mapstructure:"peer_run"`
	MinionDataCache           bool          `mapstructure:"minion_data_cache"`
	MinionDataCacheEvents     bool          `mapstructure:"minion_data_cache_events"`
	PillarCache               bool          `mapstructure:"pillar_cache"`
	PillarCacheTTL            time.Duration `mapstructure:"pillar_cache_ttl"`
	EnforceMineCache          bool          `mapstructure:"enforce_mine_cache"`
	Nodegroups                *payload.Map  `mapstructure:"nodegroups"` // a list of maps in the file is merged
	OrderMasters              bool          `mapstructure:"order_masters"`
	SyndicWait                time.Duration `mapstructure:"syndic_wait"`
	MasterJobCache            string        `mapstructure:"master_job_cache"`
	JobCache                  bool          `mapstructure:"job_cache"`
	JobCacheStoreEndtime      bool          `mapstructure:"job_cache_store_endtime"`
	// 0: jobs are kept forever
	KeepJobsSeconds time.Duration `mapstructure:"keep_jobs_seconds"`
	// number of events that are stored together
	EventReturnQueue int `mapstructure:"event_return_queue"`
	// 0: an incomplete queue waits for the end
	EventReturnQueueMaxSeconds time.Duration `mapstructure:"event_return_queue_max_seconds"`
	EventReturnWhitelist       []string      `mapstructure:"event_return_whitelist"`
	EventReturnBlacklist       []string      `mapstructure:"event_return_blacklist"`
	FileserverBackend          []string      `mapstructure:"fileserver_backend"`
	PresenceEvents             bool          `mapstructure:"presence_events"`
	DetectRemoteMinions        bool          `mapstructure:"detect_remote_minions"`
	RemoteMinionsPort          int           `mapstructure:"remote_minions_port"`
	MasterStats                bool          `mapstructure:"master_stats"`
	MasterStatsEventIter       time.Duration `mapstructure:"master_stats_event_iter"`
	RunnerReturns              bool          `mapstructure:"runner_returns"`
	CLISummary                 bool          `mapstructure:"cli_summary"`
	ShowTimeout                bool          `mapstructure:"show_timeout"`
	ShowJID                    bool          `mapstructure:"show_jid"`
	ClusterID                  string        `mapstructure:"cluster_id"`
	ClusterPeers               []string      `mapstructure:"cluster_peers"`
	ClusterPKIDir              string        `mapstructure:"cluster_pki_dir"`
	ClusterEncryptionAlgorithm string        `mapstructure:"cluster_encryption_algorithm"`

	// The remaining options are brine's own.

	// JobStoreMaxBytes is the largest size of the job store; beyond it the oldest jobs are removed. 0: no limit.
	JobStoreMaxBytes int64 `mapstructure:"job_store_max_bytes"`
	// JobStoreCompactPercent is how much of the job store's file may be free, in percent. Beyond it the file is
	// rewritten while the master works. 0: never.
	JobStoreCompactPercent int `mapstructure:"job_store_compact_percent"`
	// JobStoreCompactMinBytes is the size below which the file is not rewritten.
	JobStoreCompactMinBytes int64 `mapstructure:"job_store_compact_min_bytes"`
	// JobStoreQueueMax is how many returns may wait for the job store. Further ones are refused, and their minions keep
	// them.
	JobStoreQueueMax int `mapstructure:"job_store_queue_max"`
	// ReturnSpoolMaxBytes is how much is kept on disk for the returners of event_return. The same limit applies to
	// those of master_job_cache and ext_job_cache together, and to those of its own schedule. Beyond the limit,
	// returners lose the oldest entries that they do not have yet.
	ReturnSpoolMaxBytes int64 `mapstructure:"return_spool_max_bytes"`
	// ReturnSpoolMaxAge is the age at which entries of the spool are dropped. 0: never.
	ReturnSpoolMaxAge time.Duration `mapstructure:"return_spool_max_age"`
	// EventBusMax is how many events may wait for the bus, EventBusMaxBytes how many bytes they may have. Beyond it
	// senders must wait: tools as long as it takes, the master itself for two seconds.
	EventBusMax      int   `mapstructure:"event_bus_max"`
	EventBusMaxBytes int64 `mapstructure:"event_bus_max_bytes"`
	// JournalFsync makes the record of a job survive a power failure until the job store has it: the command line gets
	// its answer only when the record is on the disk itself. The job store itself is always synced.
	JournalFsync bool `mapstructure:"journal_fsync"`
	// MaxConnections is the largest number of connections at each of the two ports; 0: as many as max_open_files
	// allows. When there is one too many, the network address with the most connections loses its newest.
	MaxConnections int `mapstructure:"max_connections"`
	// PubMaxTopics is how many topics an unknown connection to the publish port may subscribe to; a connection that
	// exceeds it is cut. Salt's minions have up to three.
	PubMaxTopics int `mapstructure:"pub_max_topics"`
	// RequestQueueMax is how many requests may wait for workers before the master refuses further ones.
	RequestQueueMax int `mapstructure:"request_queue_max"`
	// RequestTimeout is the time limit for one request; after it the peer gets the failure text.
	RequestTimeout time.Duration `mapstructure:"request_timeout"`
	// TargetTimeout is the time limit for evaluating one target: a pattern or a minion's data can be made to take
	// forever.
	TargetTimeout time.Duration `mapstructure:"target_timeout"`
	// LoginFailuresMax is how many log-ins of one user from one address may fail in a minute; further ones are refused
	// without a check. Ten times as many may fail from one address. 0: no limit.
	LoginFailuresMax int `mapstructure:"login_failures_max"`
	// MaxPendingKeys is how many keys may wait for an operator. 0: no limit.
	MaxPendingKeys int `mapstructure:"max_pending_keys"`
	// PendingKeysRate is how many new keys one address may send in a minute; ten times as many may come at once. 0: no
	// limit.
	PendingKeysRate int `mapstructure:"pending_keys_rate"`
	// RequestBytesMax is how many bytes of unanswered requests the master holds; unknown peers get a quarter of it.
	RequestBytesMax int64 `mapstructure:"request_bytes_max"`
	// ACLRequireAll demands that every function of a multi-function publish is allowed. Unlike Salt, where one
	// suffices.
	ACLRequireAll bool `mapstructure:"acl_require_all"`
	// PublisherACLFields are the fields of a publication that users with rules may set although no rule covers them:
	// ret_config, ret_kwargs, module_executors, executor_opts, master_id, id, nocache. Unlike Salt, where all are open.
	PublisherACLFields []string `mapstructure:"publisher_acl_fields"`
	// Syndics are globs for the ids that may act as syndics; only order_masters allows syndics. Empty: an id may if the
	// first message with its key was that of a syndic.
	Syndics []string `mapstructure:"syndics"`
	// MinionEventWhitelist are globs for tags that minions may fire although the tags are in Salt's own namespace and
	// no Salt minion fires them.
	MinionEventWhitelist []string `mapstructure:"minion_event_whitelist"`
	// MinionQuotaEvents is how many events a minion may fire per hour. As for all quotas of minions, 0 means no limit,
	// and a syndic has ten times as much, because it acts for many minions.
	MinionQuotaEvents int `mapstructure:"minion_quota_events"`
	// MinionQuotaEventBytes is how many bytes the events of a minion may have per hour, packed.
	MinionQuotaEventBytes int64 `mapstructure:"minion_quota_event_bytes"`
	// MinionQuotaJobs is how many returns a minion may send per hour for jobs that it did not get from this master.
	MinionQuotaJobs int `mapstructure:"minion_quota_jobs"`
	// MinionQuotaMine is how many times per hour a minion may change its mine.
	MinionQuotaMine int `mapstructure:"minion_quota_mine"`
	// MinionQuotaGrains is how many times per hour a minion may request its pillar; each request stores its grains.
	MinionQuotaGrains int `mapstructure:"minion_quota_grains"`
	// MinionQuotaReturnBytes is how many bytes of returns a minion may send per hour.
	MinionQuotaReturnBytes int64 `mapstructure:"minion_quota_return_bytes"`
	// MinionQuotaPeer is how many publications and runners, allowed by peer and peer_run, a minion may start per hour.
	MinionQuotaPeer int `mapstructure:"minion_quota_peer"`
	// MinionFilesMaxBytes is the limit for all files that a minion has pushed (file_recv); each file counts as 4 KiB
	// more. 0: no limit.
	MinionFilesMaxBytes int64 `mapstructure:"minion_files_max_bytes"`
	// MinionEventsMax is how many events one request may contain; 0: no limit.
	MinionEventsMax int `mapstructure:"minion_events_max"`
	// MinionDataMaxBytes is the limit for a minion's mine, and for its grains; 0: no limit.
	MinionDataMaxBytes int64 `mapstructure:"minion_data_max_bytes"`
	// Version2Returns accepts returns without a token, which all minions of protocol version 2 send. An id that has
	// used version 3 can no longer send them.
	Version2Returns bool `mapstructure:"version_2_returns"`
	// Version2Grains accepts grains without a token in a request for a pillar in the same way.
	Version2Grains bool `mapstructure:"version_2_grains"`
}

// AsMinion are the options for functions of minions that run on a master: the master's own options over those of a
// minion with the same file. Source: salt/config/__init__.py, mminion_config.
func (m *Master) AsMinion() (*payload.Map, error) {
	like, err := Loader{Path: m.ConfFile, HostNames: func() []string { return []string{m.ID} }}.Minion()
	if err != nil {
		return nil, err
	}
	like.Raw.Update(m.Raw)
	return like.Raw, nil
}
