package config

import (
	"time"

	"brine/wire/payload"
)

// Minion holds the options of a minion. Keys, units and defaults are Salt's.
type Minion struct {
	Common `mapstructure:",squash"`

	// Masters is the option master as a list with ports. It is empty if the minion works without a master (master_type
	// "disable", or file_client "local" without use_master_when_local).
	Masters []MasterAddr `mapstructure:"-"`
	// IDFromAddress is true if the id was generated and is an IPv4 address.
	IDFromAddress bool `mapstructure:"-"`

	MasterPort             int           `mapstructure:"master_port"`
	PublishPort            int           `mapstructure:"publish_port"` // default for a master that does not send its own
	MasterType             string        `mapstructure:"master_type"`  // str, failover, func, distributed, disable
	MasterURIFormat        string        `mapstructure:"master_uri_format"`
	MasterFinger           string        `mapstructure:"master_finger"`
	VerifyMasterPubkeySign bool          `mapstructure:"verify_master_pubkey_sign"`
	AlwaysVerifySignature  bool          `mapstructure:"always_verify_signature"`
	SourceAddress          string        `mapstructure:"source_address"`
	SourceInterfaceName    string        `mapstructure:"source_interface_name"`
	SourceRetPort          int           `mapstructure:"source_ret_port"`
	SourcePublishPort      int           `mapstructure:"source_publish_port"`
	ResolveDNSFallback     bool          `mapstructure:"resolve_dns_fallback"`
	RetryDNS               time.Duration `mapstructure:"retry_dns"`
	RetryDNSCount          int           `mapstructure:"retry_dns_count"` // null or 0: forever
	TCPPubPort             int           `mapstructure:"tcp_pub_port"`    // with ipc_mode: tcp
	TCPPullPort            int           `mapstructure:"tcp_pull_port"`

	AuthTimeout           time.Duration `mapstructure:"auth_timeout"`
	AuthTries             int           `mapstructure:"auth_tries"`
	AuthRetries           int           `mapstructure:"auth_retries"` // 0: no limit
	AuthSafemode          bool          `mapstructure:"auth_safemode"`
	AcceptanceWaitTime    time.Duration `mapstructure:"acceptance_wait_time"`
	AcceptanceWaitTimeMax time.Duration `mapstructure:"acceptance_wait_time_max"` // 0: like acceptance_wait_time
	RejectedRetry         bool          `mapstructure:"rejected_retry"`
	RandomReauthDelay     time.Duration `mapstructure:"random_reauth_delay"`
	RandomStartupDelay    time.Duration `mapstructure:"random_startup_delay"`
	ReconDefault          time.Duration `mapstructure:"recon_default" unit:"ms"`
	ReconMax              time.Duration `mapstructure:"recon_max" unit:"ms"`
	ReconRandomize        bool          `mapstructure:"recon_randomize"`
	ReturnRetryTimer      time.Duration `mapstructure:"return_retry_timer"`
	ReturnRetryTimerMax   time.Duration `mapstructure:"return_retry_timer_max"`
	ReturnRetryTries      int           `mapstructure:"return_retry_tries"`
	PingInterval          time.Duration `mapstructure:"ping_interval" unit:"m"`
	EncryptionAlgorithm   string        `mapstructure:"encryption_algorithm"`
	SigningAlgorithm      string        `mapstructure:"signing_algorithm"`
	MinionSignMessages    bool          `mapstructure:"minion_sign_messages"`
	AutosignGrains        []string      `mapstructure:"autosign_grains"`

	MinionIDCaching      bool         `mapstructure:"minion_id_caching"`
	MinionIDLowercase    bool         `mapstructure:"minion_id_lowercase"`
	MinionIDRemoveDomain any          `mapstructure:"minion_id_remove_domain"` // true or one domain
	AppendDomain         string       `mapstructure:"append_domain"`
	Grains               *payload.Map `mapstructure:"grains"`
	GrainsBlacklist      []string     `mapstructure:"grains_blacklist"`
	GrainsDeepMerge      bool         `mapstructure:"grains_deep_merge"`
	GrainsCache          bool         `mapstructure:"grains_cache"`

	GrainsCacheExpiration time.Duration `mapstructure:"grains_cache_expiration"`
	MinionPillarCache     bool          `mapstructure:"minion_pillar_cache"`
	GrainsRefreshEvery    time.Duration `mapstructure:"grains_refresh_every" unit:"m"` // 0: off
	EnableFQDNSGrains     bool          `mapstructure:"enable_fqdns_grains"`
	EnableGPUGrains       bool          `mapstructure:"enable_gpu_grains"`
	EnableLspci           bool          `mapstructure:"enable_lspci"`
	StartEventGrains      []string      `mapstructure:"start_event_grains"`
	LegacyStartupEvents   bool          `mapstructure:"enable_legacy_startup_events"`

	Multiprocessing   bool `mapstructure:"multiprocessing"` // Unlike Salt: false by default
	MultifuncOrdered  bool `mapstructure:"multifunc_ordered"`
	ProcessCountMax   int  `mapstructure:"process_count_max"` // -1: see runtime limits
	MinionJIDQueueHWM int  `mapstructure:"minion_jid_queue_hwm"`
	// MinionJIDQueueAge is how long jids of accepted jobs are remembered on disk, 0 or at least a day. Older jobs are
	// refused unless the master has numbered the publication.
	MinionJIDQueueAge time.Duration `mapstructure:"minion_jid_queue_age"` // whole seconds in the file
	CacheJobs         bool          `mapstructure:"cache_jobs"`
	PubRet            bool          `mapstructure:"pub_ret"`
	Return            []string      `mapstructure:"return"` // returners for every job; text or list in the file
	ModuleExecutors   []string      `mapstructure:"module_executors"`
	SudoUser          string        `mapstructure:"sudo_user"`
	CmdSafe           bool          `mapstructure:"cmd_safe"`
	DisableModules    []string      `mapstructure:"disable_modules"`
	DisableReturners  []string      `mapstructure:"disable_returners"`
	RendererBlacklist []string      `mapstructure:"renderer_blacklist"` // skipped in a pipe
	RendererWhitelist []string      `mapstructure:"renderer_whitelist"` // if not empty, all others are skipped
	WhitelistModules  []string      `mapstructure:"whitelist_modules"`
	StateQueue        any           `mapstructure:"state_queue"` // bool or int
	MineEnabled       bool          `mapstructure:"mine_enabled"`
	// GPGDecryptMustSucceed makes a message that gpg cannot decrypt in a pipe an error.
	GPGDecryptMustSucceed bool `mapstructure:"gpg_decrypt_must_succeed"`
	// SchedulerBeforeConnect runs the schedule without waiting for a master.
	SchedulerBeforeConnect bool          `mapstructure:"scheduler_before_connect"`
	MineInterval           time.Duration `mapstructure:"mine_interval" unit:"m"`
	MineFunctions          any           `mapstructure:"mine_functions"` // map or list
	Beacons                any           `mapstructure:"beacons"`
	UseMasterWhenLocal     bool          `mapstructure:"use_master_when_local"`
	AppendIDConfigDirs     []string      `mapstructure:"append_minionid_config_dirs"`

	// The remaining options are brine's own.

	// ReturnSpoolMaxBytes is how many bytes of returns are kept on disk while the master does not answer. Beyond it a
	// short reason replaces the oldest return. A return that is larger by itself is kept in memory for a few attempts.
	// 0: no limit.
	ReturnSpoolMaxBytes int64 `mapstructure:"return_spool_max_bytes"`
	// ReturnSpoolMaxAge is the age at which kept returns are dropped. 0: never. The default lets a node be offline for
	// more than a week; ReturnSpoolMaxBytes limits the disk.
	ReturnSpoolMaxAge time.Duration `mapstructure:"return_spool_max_age"`
	// JournalFsync makes the records of jobs and returns survive a power failure: a job begins, and its return counts
	// as stored, only when its record is on the disk itself. Records that come together share one wait.
	JournalFsync bool `mapstructure:"journal_fsync"`
	// JobQueueMax is how many publications may wait on disk because of process_count_max. 0: no limit.
	JobQueueMax int `mapstructure:"job_queue_max"`
	// CommandOutputMaxBytes is how much output of one command (cmd.*) is kept, in bytes. The rest is cut, and the
	// return says so. 0: 100 MiB, or a 32nd of the control group's memory limit if that is less.
	CommandOutputMaxBytes int64 `mapstructure:"command_output_max_bytes"`
	// JobMemoryLimit is how many bytes of data each process of a job may have in addition to those at its start, and
	// JobCPULimit how much processor time it may use. 0: no limit. They apply with multiprocessing: True.
	JobMemoryLimit int64         `mapstructure:"job_memory_limit"`
	JobCPULimit    time.Duration `mapstructure:"job_cpu_limit"`
}

// MasterAddr is one master of a minion's list.
type MasterAddr struct {
	Host string // name or address; an IPv6 address without brackets
	Port int    // request port: from the entry, else master_port
}
