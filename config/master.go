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
	GatherJobTimeout   time.Duration `mapstructure:"gather_job_timeout"`  // wait for find_job answers
	TCPMasterPubPort   int           `mapstructure:"tcp_master_pub_port"` // with ipc_mode: tcp
	TCPMasterPullPort  int           `mapstructure:"tcp_master_pull_port"`
	MaxOpenFiles       uint64        `mapstructure:"max_open_files"`
	MaxMinions         int           `mapstructure:"max_minions"` // 0: no limit

	AutoAccept                bool          `mapstructure:"auto_accept"` // only a real true counts
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
	// 0: jobs are kept for ever
	KeepJobsSeconds time.Duration `mapstructure:"keep_jobs_seconds"`
	// events that are handed over together
	EventReturnQueue int `mapstructure:"event_return_queue"`
	// 0: fewer wait for the end
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

	// The rest is brine's own.

	// JobStoreMaxBytes caps the job store; beyond it the oldest jobs go first. 0: no cap.
	JobStoreMaxBytes int64 `mapstructure:"job_store_max_bytes"`
	// JobStoreCompactPercent is how much of the job store's file may be free, in percent; beyond it the file is written
	// anew while the master works. 0: never.
	JobStoreCompactPercent int `mapstructure:"job_store_compact_percent"`
	// JobStoreCompactMinBytes is the size below which the file is left as it is.
	JobStoreCompactMinBytes int64 `mapstructure:"job_store_compact_min_bytes"`
	// JobStoreQueueMax is how many returns wait for the job store; what comes beyond it is refused, and its minion
	// keeps it.
	JobStoreQueueMax int `mapstructure:"job_store_queue_max"`
	// ReturnSpoolMaxBytes caps what is kept on disk for the returners of event_return, as much again for those of
	// master_job_cache and ext_job_cache, and for those of its own schedule: beyond it the oldest goes, for returners
	// that do not have it yet.
	ReturnSpoolMaxBytes int64 `mapstructure:"return_spool_max_bytes"`
	// ReturnSpoolMaxAge drops of it what is older. 0: never.
	ReturnSpoolMaxAge time.Duration `mapstructure:"return_spool_max_age"`
	// EventBusMax is how many events wait for the bus, EventBusMaxBytes how many bytes of them. Beyond it who fires has
	// to wait: tools as long as it takes, the master itself for two seconds.
	EventBusMax      int   `mapstructure:"event_bus_max"`
	EventBusMaxBytes int64 `mapstructure:"event_bus_max_bytes"`
	// JournalFsync lets the note of a job, which stands until the job store has it, outlive the power of the machine:
	// the command line has its answer when the note is on the disk itself. The job store is synced with or without.
	JournalFsync bool `mapstructure:"journal_fsync"`
	// MaxConnections bounds the connections at each of the two ports; 0: as many as max_open_files leaves room for.
	// When there is one too many, the network address with the most loses its newest.
	MaxConnections int `mapstructure:"max_connections"`
	// PubMaxTopics is how many topics a connection to the publish port may subscribe to that nobody vouches for; one
	// that goes on is cut. Salt's minions have up to three.
	PubMaxTopics int `mapstructure:"pub_max_topics"`
	// RequestQueueMax is how many requests wait for workers before the master sheds load.
	RequestQueueMax int `mapstructure:"request_queue_max"`
	// RequestTimeout bounds the handling of one request; after it the peer gets the failure text.
	RequestTimeout time.Duration `mapstructure:"request_timeout"`
	// TargetTimeout bounds the work on one target: patterns and the data of minions may both be made to take for ever.
	TargetTimeout time.Duration `mapstructure:"target_timeout"`
	// LoginFailuresMax is how many log-ins of one user at one address may fail in a minute before the next are not
	// tried, and a tenth of how many may fail at one address. 0: no limit.
	LoginFailuresMax int `mapstructure:"login_failures_max"`
	// MaxPendingKeys is how many keys may wait for an operator. 0: no limit.
	MaxPendingKeys int `mapstructure:"max_pending_keys"`
	// PendingKeysRate is how many new keys one address may bring in a minute; ten times as many come at once. 0: no
	// limit.
	PendingKeysRate int `mapstructure:"pending_keys_rate"`
	// RequestBytesMax is how many bytes of requests that are not yet answered the master holds; strangers get a
	// quarter.
	RequestBytesMax int64 `mapstructure:"request_bytes_max"`
	// ACLRequireAll wants every function of a multi-function publish to be allowed. Unlike Salt, where one suffices.
	ACLRequireAll bool `mapstructure:"acl_require_all"`
	// PublisherACLFields are the fields of a publication that users with rules may set although no rule can speak of
	// them: ret_config, ret_kwargs, module_executors, executor_opts, master_id, id, nocache. Unlike Salt, where all are
	// open.
	PublisherACLFields []string `mapstructure:"publisher_acl_fields"`
	// Syndics are globs of the ids that may speak as syndics, which only order_masters allows. Empty: an id may whose
	// first word with its key was that of a syndic.
	Syndics []string `mapstructure:"syndics"`
	// MinionEventWhitelist are globs of tags that minions may fire although they are in Salt's own namespace and no
	// minion of Salt fires them.
	MinionEventWhitelist []string `mapstructure:"minion_event_whitelist"`
	// What a minion may do in an hour; 0: as much as it wants. A syndic may do ten times as much, for it speaks for
	// many.
	MinionQuotaEvents     int   `mapstructure:"minion_quota_events"`      // events
	MinionQuotaEventBytes int64 `mapstructure:"minion_quota_event_bytes"` // of their events, packed
	// returns of jobs that this master did not give to it
	MinionQuotaJobs int `mapstructure:"minion_quota_jobs"`
	MinionQuotaMine int `mapstructure:"minion_quota_mine"` // changes of its mine
	// requests for its pillar, each of which stores its grains
	MinionQuotaGrains      int   `mapstructure:"minion_quota_grains"`
	MinionQuotaReturnBytes int64 `mapstructure:"minion_quota_return_bytes"` // of returns, as they come
	// publications and runners that peer and peer_run allow it
	MinionQuotaPeer int `mapstructure:"minion_quota_peer"`
	// MinionFilesMaxBytes caps all files that a minion has pushed (file_recv), each of which counts as 4 KiB more; 0:
	// no cap.
	MinionFilesMaxBytes int64 `mapstructure:"minion_files_max_bytes"`
	// MinionEventsMax is how many events one request may hold; 0: no limit.
	MinionEventsMax int `mapstructure:"minion_events_max"`
	// MinionDataMaxBytes caps the mine of a minion, and its grains, each; 0: no cap.
	MinionDataMaxBytes int64 `mapstructure:"minion_data_max_bytes"`
	// Version2Returns says that returns without a token count, as all minions of protocol version 2 send them. Those of
	// an id that has spoken version 3 never do.
	Version2Returns bool `mapstructure:"version_2_returns"`
	// Version2Grains says the same of the grains that come with a request for a pillar.
	Version2Grains bool `mapstructure:"version_2_grains"`
}

// AsMinion are the options that functions of minions find where they run on a master: its own, over those of a minion
// with the same file. Source: salt/config/__init__.py, mminion_config.
func (m *Master) AsMinion() (*payload.Map, error) {
	like, err := Loader{Path: m.ConfFile, HostNames: func() []string { return []string{m.ID} }}.Minion()
	if err != nil {
		return nil, err
	}
	like.Raw.Update(m.Raw)
	return like.Raw, nil
}
