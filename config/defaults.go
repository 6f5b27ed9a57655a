package config

import (
	"embed"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"brine/wire/payload"
)

// salt3008 holds the option tables of Salt 3008.3: the defaults of a master and of a minion, and the types that Salt
// checks. The tables are in packed form because every tool reads them at its start: reading the YAML files from which
// they are made would take longer than reading the rest of a configuration.
//
//go:embed salt3008/*.msgpack
var salt3008 embed.FS

// brineDefaults are the options that Salt does not have, and those with another default here.
func brineDefaults(role string) *payload.Map {
	common := payload.M(
		"ipc_framing", "plain",
		"restart_delay_max", 10,
		"stop_timeout", 5,
		"worker_timeout", 0,
		"component_timeout", 5,
		"chaos", false,
		"control_mode", "0600", // octal
		"event_queue_max", 10000,
		"allow_weak_keys", false,
		"journal_fsync", false,
		"return_spool_max_bytes", 256<<20,
		"return_spool_max_age", 14*86400,
	)
	if role == roleMaster {
		common.Update(payload.M(
			"job_store_max_bytes", 1<<30,
			"job_store_compact_percent", 50,
			"job_store_compact_min_bytes", 64<<20,
			"job_store_queue_max", 50000,
			"event_bus_max", 20000,
			"event_bus_max_bytes", 64<<20,
			"max_connections", 0,
			"request_queue_max", 10000,
			"pub_max_topics", 16,
			"request_timeout", 60,
			"target_timeout", 10,
			"login_failures_max", 60,
			"max_pending_keys", 50000,
			"pending_keys_rate", 1000,
			"request_bytes_max", 256<<20,
			"acl_require_all", true,
			"publisher_acl_fields", []any{},
			"syndics", []any{},
			"minion_event_whitelist", []any{},
			"minion_quota_events", 100000,
			"minion_quota_event_bytes", 512<<20,
			"minion_quota_jobs", 20000,
			"minion_quota_mine", 10000,
			"minion_quota_grains", 10000,
			"minion_quota_return_bytes", 1<<30,
			"minion_quota_peer", 10000,
			"minion_files_max_bytes", 1<<30,
			"minion_events_max", 20000,
			"minion_data_max_bytes", 32<<20,
			"version_2_returns", true,
			"version_2_grains", false,
		))
		return common
	}
	common.Update(payload.M(
		"multiprocessing", false, // Unlike Salt: a function runs in a goroutine of its job's actor
		"job_queue_max", 10000,
		"minion_jid_queue_age", 7*86400,
		"command_output_max_bytes", 0,
		"job_memory_limit", 0,
		"job_cpu_limit", 0,
	))
	return common
}

// fallbacks are options that are in no table of Salt, but that Salt's code reads with a default.
func fallbacks() *payload.Map {
	return payload.M(
		"zmq_heartbeat_ivl", 10000,
		"zmq_heartbeat_timeout", 30000,
		"request_channel_timeout", 60,
		"request_channel_tries", 3,
		"publish_port", 4505,
		"autosign_timeout", 120,
		"batch_manager_loop_interval", 5,
		"enable_lspci", true,
	)
}

const (
	roleMaster = "master"
	roleMinion = "minion"
)

// defaults returns Salt's options of a role followed by brine's. The caller owns the map.
func defaults(role string) (*payload.Map, error) {
	opts, err := table(role)
	if err != nil {
		return nil, err
	}
	opts.Set("user", currentUser())
	if opts.Has("ssh_config_file") {
		opts.Set("ssh_config_file", expandHome("~/.ssh/config"))
	}
	opts.Update(brineDefaults(role))
	return opts, nil
}

// table reads one of the embedded option tables.
func table(name string) (*payload.Map, error) {
	b, err := salt3008.ReadFile("salt3008/" + name + ".msgpack")
	if err != nil {
		return nil, fmt.Errorf("read option table %s: %w", name, err)
	}
	opts, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return nil, fmt.Errorf("read option table %s: %w", name, err)
	}
	return opts, nil
}

// currentUser is the name of this process's user, or "root" if the system does not know its name.
func currentUser() string {
	u, err := user.LookupId(fmt.Sprint(os.Geteuid()))
	if err != nil {
		return "root"
	}
	return u.Username
}

// expandHome replaces a leading "~" by the home directory of this process's user.
func expandHome(path string) string {
	if path != "~" && (len(path) < 2 || path[:2] != "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, path[1:])
}
