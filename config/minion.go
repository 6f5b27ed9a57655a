package config

import (
	"time"

	"brine/wire/payload"
)

// Minion holds the options of a minion. Keys, units and defaults are Salt's.
type Minion struct {
	Common `mapstructure:",squash"`

	// Masters is the option master as a list with ports; empty when the minion works without a master
	// (master_type "disable", or file_client "local" without use_master_when_local).
	Masters []MasterAddr `mapstructure:"-"`
	// IDFromAddress is set when the id was generated and is an IPv4 address.
	IDFromAddress bool `mapstructure:"-"`

	MasterPort             int           `mapstructure:"master_port"`
	PublishPort            int           `mapstructure:"publish_port"` // default when a master does not say its own
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
	RetryDNSCount          int           `mapstructure:"retry_dns_count"` // null or 0: for ever
	TCPPubPort             int           `mapstructure:"tcp_pub_port"`    // with ipc_mode: tcp
	TCPPullPort            int           `mapstructure:"tcp_pull_port"`

	AuthTimeout           time.Duration `mapstructure:"auth_timeout"`
	AuthTries             int           `mapstructure:"auth_tries"`
	AuthRetries           int           `mapstructure:"auth_retries"` // 0: no limit
	AuthSafemode          bool          `mapstructure:"auth_safemode"`
	AcceptanceWaitTime    time.Duration `mapstructure:"acceptance_wait_time"`
	AcceptanceWaitTimeMax time.Duration `mapstructure:"acceptance_wait_time_max"` // 0: as acceptance_wait_time
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
	// MinionJIDQueueAge is for how long jids of taken jobs are remembered on disk, 0 or at least a day. Older ones are
	// refused unless the master has numbered the publication.
	MinionJIDQueueAge time.Duration `mapstructure:"minion_jid_queue_age"` // whole seconds in the file
	CacheJobs         bool          `mapstructure:"cache_jobs"`
	PubRet            bool          `mapstructure:"pub_ret"`
	Return            []string      `mapstructure:"return"` // returners of every job; text or list in the file
	ModuleExecutors   []string      `mapstructure:"module_executors"`
	SudoUser          string        `mapstructure:"sudo_user"`
	CmdSafe           bool          `mapstructure:"cmd_safe"`
	DisableModules    []string      `mapstructure:"disable_modules"`
	DisableReturners  []string      `mapstructure:"disable_returners"`
	RendererBlacklist []string      `mapstructure:"renderer_blacklist"` // are skipped in a pipe
	RendererWhitelist []string      `mapstructure:"renderer_whitelist"` // if not empty, all others are skipped
	WhitelistModules  []string      `mapstructure:"whitelist_modules"`
	StateQueue        any           `mapstructure:"state_queue"` // bool or int
	MineEnabled       bool          `mapstructure:"mine_enabled"`
	// GPGDecryptMustSucceed: a message in a pipe with gpg that cannot be decrypted is an error.
	GPGDecryptMustSucceed bool `mapstructure:"gpg_decrypt_must_succeed"`
	// SchedulerBeforeConnect: the schedule does not wait for a master.
	SchedulerBeforeConnect bool          `mapstructure:"scheduler_before_connect"`
	MineInterval           time.Duration `mapstructure:"mine_interval" unit:"m"`
	MineFunctions          any           `mapstructure:"mine_functions"` // map or list
	Beacons                any           `mapstructure:"beacons"`
	UseMasterWhenLocal     bool          `mapstructure:"use_master_when_local"`
	AppendIDConfigDirs     []string      `mapstructure:"append_minionid_config_dirs"`

	// The rest is brine's own.

	// ReturnSpoolMaxBytes caps the returns kept on disk for a master that does not answer; beyond it the reason takes
	// the place of the oldest. One that is larger by itself is held in memory for a few attempts. 0: no cap.
	ReturnSpoolMaxBytes int64 `mapstructure:"return_spool_max_bytes"`
	// ReturnSpoolMaxAge drops spooled returns that grew older. 0: never. A node may be offline for a week and then
	// some; the disk is bounded by ReturnSpoolMaxBytes.
	ReturnSpoolMaxAge time.Duration `mapstructure:"return_spool_max_age"`
	// JournalFsync lets the records of the journal of jobs and returns outlive the power of the machine: a job begins,
	// and its return counts as kept, when its record is on the disk itself. Records that come together share one wait.
	JournalFsync bool `mapstructure:"journal_fsync"`
	// JobQueueMax caps the publications waiting on disk behind process_count_max. 0: no cap.
	JobQueueMax int `mapstructure:"job_queue_max"`
	// CommandOutputMaxBytes is how much output of one command (cmd.*) is kept, in bytes; the rest is cut, and the
	// return says so. 0: 100 MiB, or a 32nd of the memory limit of the control group where that is less.
	CommandOutputMaxBytes int64 `mapstructure:"command_output_max_bytes"`
	// JobMemoryLimit is how many bytes of data each process of a job may have beyond what the program itself has at its
	// start, and JobCPULimit how much processor time it may use. 0: no limit. They hold with multiprocessing: True.
	JobMemoryLimit int64         `mapstructure:"job_memory_limit"`
	JobCPULimit    time.Duration `mapstructure:"job_cpu_limit"`
}

// MasterAddr is one master of a minion's list.
type MasterAddr struct {
	Host string // name or address; an IPv6 address without brackets
	Port int    // request port: from the entry, else master_port
}
