package config

import (
	"io/fs"
	"log/slog"
	"time"

	"brine/wire/payload"
)

// Common holds the options that master and minion share. Times are durations here; the unit a file uses is
// seconds unless the field is tagged with another one.
type Common struct {
	// Raw is the whole option dictionary as Salt's modules see it in opts: every default in Salt's order,
	// replaced by what the files say, followed by unknown keys in the order of the files.
	Raw *payload.Map `mapstructure:"-"`
	// File holds what the operator wrote and nothing else: the configuration files after all includes, with the options
	// of the environment over them.
	File *payload.Map `mapstructure:"-"`
	// Notices are Salt's log lines about the configuration, for the caller to log.
	Notices []Notice `mapstructure:"-"`
	// Faults are what ends a daemon, of a Loader that looks for them All.
	Faults  Faults            `mapstructure:"-"`
	origins map[string]Origin // of the options that have not their default
	folders []string          // see Folders
	links   []string
	// ConfigDir is the directory of the configuration file.
	ConfigDir string `mapstructure:"-"`

	ConfFile string `mapstructure:"conf_file"` // path of the main file, also when it does not exist
	ID       string `mapstructure:"id"`        // minion id; on a master host name + "_master" unless set
	User     string `mapstructure:"user"`      // the daemon runs as this user

	RootDir          string `mapstructure:"root_dir"`          // put in front of every path below
	PKIDir           string `mapstructure:"pki_dir"`           // key store
	CacheDir         string `mapstructure:"cachedir"`          // jobs, proc files, data cache
	SockDir          string `mapstructure:"sock_dir"`          // Unix sockets
	ExtensionModules string `mapstructure:"extension_modules"` // synced modules
	PidFile          string `mapstructure:"pidfile"`

	LogFile           string `mapstructure:"log_file"`
	KeyLogFile        string `mapstructure:"key_logfile"` // log file of salt-key; master only
	LogLevel          string `mapstructure:"log_level"`
	LogLevelLogfile   string `mapstructure:"log_level_logfile"` // empty: as log_level
	LogFmtConsole     string `mapstructure:"log_fmt_console"`
	LogFmtLogfile     string `mapstructure:"log_fmt_logfile"`
	LogDateFmt        string `mapstructure:"log_datefmt"`
	LogDateFmtLogfile string `mapstructure:"log_datefmt_logfile"`

	Interface string `mapstructure:"interface"`
	IPv6      bool   `mapstructure:"ipv6"` // null in the file counts as false
	IPCMode   string `mapstructure:"ipc_mode"`
	// bytes, 0: no limit; "dynamic" is sized by memory
	IPCWriteBuffer        int64         `mapstructure:"ipc_write_buffer"`
	TCPKeepalive          bool          `mapstructure:"tcp_keepalive"`
	TCPKeepaliveIdle      int           `mapstructure:"tcp_keepalive_idle"`  // seconds, -1: the kernel's
	TCPKeepaliveCnt       int           `mapstructure:"tcp_keepalive_cnt"`   // probes, -1: the kernel's
	TCPKeepaliveIntvl     int           `mapstructure:"tcp_keepalive_intvl"` // seconds, -1: the kernel's
	ZMQFiltering          bool          `mapstructure:"zmq_filtering"`
	ZMQHeartbeatIvl       time.Duration `mapstructure:"zmq_heartbeat_ivl" unit:"ms"`
	ZMQHeartbeatTimeout   time.Duration `mapstructure:"zmq_heartbeat_timeout" unit:"ms"`
	MaxEventSize          int           `mapstructure:"max_event_size"` // bytes
	RequestChannelTimeout time.Duration `mapstructure:"request_channel_timeout"`
	RequestChannelTries   int           `mapstructure:"request_channel_tries"`

	HashType            string        `mapstructure:"hash_type"` // lower case
	KeySize             int           `mapstructure:"keysize"`   // bits of a new RSA key
	OpenMode            bool          `mapstructure:"open_mode"` // only a real true counts
	VerifyEnv           bool          `mapstructure:"verify_env"`
	PermissivePKIAccess bool          `mapstructure:"permissive_pki_access"`
	SignPubMessages     bool          `mapstructure:"sign_pub_messages"`
	MasterSignKeyName   string        `mapstructure:"master_sign_key_name"`
	LoopInterval        time.Duration `mapstructure:"loop_interval"`

	FileClient      string       `mapstructure:"file_client"`
	FileRecv        bool         `mapstructure:"file_recv"`
	FileRecvMaxSize int          `mapstructure:"file_recv_max_size"` // MiB
	FileRoots       *payload.Map `mapstructure:"file_roots"`         // environment → []any of directories
	PillarRoots     *payload.Map `mapstructure:"pillar_roots"`
	SaltEnv         string       `mapstructure:"saltenv"`
	PillarEnv       string       `mapstructure:"pillarenv"`
	Renderer        string       `mapstructure:"renderer"`

	ExtJobCache  string       `mapstructure:"ext_job_cache"`
	Schedule     *payload.Map `mapstructure:"schedule"`
	Engines      []any        `mapstructure:"engines"`
	Reactor      []any        `mapstructure:"reactor"`
	PublisherACL *payload.Map `mapstructure:"publisher_acl"`           // user → list of functions
	ACLBlacklist *payload.Map `mapstructure:"publisher_acl_blacklist"` // users, modules
	Metrics      *payload.Map `mapstructure:"metrics"`                 // see MetricsOptions
	Tracing      *payload.Map `mapstructure:"tracing"`                 // see TracingOptions
	// a job id ends with the process id of who made it
	UniqueJID    bool   `mapstructure:"unique_jid"`
	FailHard     bool   `mapstructure:"failhard"`
	StateOutput  string `mapstructure:"state_output"`
	StateVerbose bool   `mapstructure:"state_verbose"`

	Brine `mapstructure:",squash"`
}

// Notice is a line about the configuration that Salt logs while it loads.
type Notice struct {
	Level slog.Level
	Text  string
}

// Brine holds the options that Salt does not know. Salt's tools keep unknown keys, so they may stand in a
// file that both read.
type Brine struct {
	// IPCFraming is the form of the event socket for local Salt tools: "plain" for 3007 and 3008, "length"
	// for 3006.28 (four bytes of length before each frame).
	IPCFraming string `mapstructure:"ipc_framing"`
	// RestartDelayMax caps the pause before an actor that keeps dying at once is started again.
	RestartDelayMax time.Duration `mapstructure:"restart_delay_max"`
	// StopTimeout is how long a stopping daemon waits for its actors before it abandons and names them.
	StopTimeout time.Duration `mapstructure:"stop_timeout"`
	// WorkerTimeout is how long an actor may work on one message before it is abandoned and replaced. 0: on a
	// master a little longer than request_timeout, on a minion a minute; -1: for ever.
	WorkerTimeout time.Duration `mapstructure:"worker_timeout"`
	// ComponentTimeout is how long an actor on which the others depend (Dispatcher, Publisher, ...) may wait in one
	// message before it is abandoned and replaced; one that works has worker_timeout. -1: as long as worker_timeout.
	ComponentTimeout time.Duration `mapstructure:"component_timeout"`
	// Chaos lets the admin command make actors crash on purpose. For tests and drills.
	Chaos bool `mapstructure:"chaos"`
	// ControlMode is the mode of the control socket. Who may open it may look; changes, and what jobs hold, are for
	// root and the daemon's user alone.
	ControlMode fs.FileMode `mapstructure:"control_mode"`
	// EventQueueMax is how many events wait for one slow subscriber of the bus before the oldest are dropped.
	EventQueueMax int `mapstructure:"event_queue_max"`
	// AllowWeakKeys lets RSA keys under 2048 bits, or with a public exponent below 65537, count: those of the peers,
	// and one's own. Unlike Salt: it has no such check.
	AllowWeakKeys bool `mapstructure:"allow_weak_keys"`
}
