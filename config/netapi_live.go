package config

import (
	"slices"
	"strings"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// netapiNow are the options that a running salt-api takes from a changed file. A test holds both lists to what salt-api
// reads.
const netapiNow = `acl_require_all auth.enable_expanded_auth_matching default_include eauth_acl_module external_auth include keep_acl_in_token log_level
	log_level_logfile netapi_allow_raw_shell netapi_enable_clients nodegroups permissive_acl rest_timeout`

// netapiLater are those that it reads at its start alone. Others do not concern it.
const netapiLater = `api_logfile api_pidfile cache.redis.banks_prefix cache.redis.cluster.startup_nodes cache.redis.cluster_mode cache.redis.db cache.redis.host
	cache.redis.keys_prefix cache.redis.password cache.redis.port cache.redis.separator cache.redis.timestamp_prefix cache.redis.unix_socket_path
	cachedir cluster_id cluster_pki_dir control_mode disable_runners eauth_redis_host eauth_redis_port eauth_tokens eauth_tokens.cache_driver
	ext_job_cache gather_job_timeout hash_type interface ipc_mode ipv6 log_datefmt log_datefmt_console log_datefmt_logfile log_fmt log_fmt_console
	log_fmt_logfile login_failures_max minion_data_cache order_masters pki_dir rest_cherrypy rest_tornado rest_wsgi ret_port root_dir sock_dir
	stop_timeout syndic_wait tcp_master_pub_port tcp_master_pull_port timeout token_dir unique_jid user verify_env whitelist_runners`

// NetapiTakes tells whether a changed option takes effect in a running salt-api, or else when it is started again.
// Neither: it does not concern it.
func NetapiTakes(key string) (now, later bool) {
	return slices.Contains(strings.Fields(netapiNow), key), slices.Contains(strings.Fields(netapiLater), key)
}

// NetapiLive is what a running salt-api may take from a changed file.
type NetapiLive struct {
	EnableClients []any         // netapi_enable_clients: everybody else is refused
	AllowRawShell bool          // netapi_allow_raw_shell
	RestTimeout   time.Duration // rest_timeout: the wait for a runner
	ExternalAuth  *payload.Map  // external_auth, for what users are shown of their rights
}

func (m *Master) netapiLive() NetapiLive {
	l := NetapiLive{EnableClients: m.Raw.List("netapi_enable_clients"),
		AllowRawShell: python.Truth(m.Raw.Value("netapi_allow_raw_shell")), RestTimeout: restTimeout * time.Second,
		ExternalAuth: m.ExternalAuth}
	if s, ok := python.Number(m.Raw.Value("rest_timeout")); ok && s > 0 {
		l.RestTimeout = time.Duration(s * float64(time.Second))
	}
	return l
}

// Follow is these options with what may change in a running salt-api as another has it.
func (n *Netapi) Follow(fresh *Netapi) *Netapi {
	next := *n
	next.NetapiLive = fresh.NetapiLive
	return &next
}

// restTimeout is rest_timeout where the files do not say, in seconds (salt/config/__init__.py, DEFAULT_API_OPTS).
const restTimeout = 300

// NetapiOwn are the options that only salt-api has a default for, as it has them.
func (m *Master) NetapiOwn() *payload.Map {
	own := payload.M("api_pidfile", m.underRoot("api_pidfile", "/var/run/salt-api.pid"), "api_logfile",
		m.underRoot("api_logfile", "/var/log/salt/api"), "rest_timeout", int64(restTimeout))
	if v := m.Raw.Value("rest_timeout"); v != nil {
		own.Set("rest_timeout", v)
	}
	return own
}
