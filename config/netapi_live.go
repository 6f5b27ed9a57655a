package config

import (
	"slices"
	"strings"
)

// netapiLive are the options that a running salt-api takes from a changed file.
const netapiLive = `netapi_enable_clients netapi_allow_raw_shell rest_timeout external_auth keep_acl_in_token permissive_acl acl_require_all eauth_acl_module
	auth.enable_expanded_auth_matching nodegroups log_level log_level_logfile include default_include`

// netapiStart are those that it reads at its start alone. Others are the master's.
const netapiStart = `rest_cherrypy rest_tornado rest_wsgi api_pidfile api_logfile user id root_dir sock_dir cachedir pki_dir token_dir eauth_tokens hash_type interface ipv6
	ret_port publish_port transport ipc_mode tcp_master_pub_port tcp_master_pull_port timeout gather_job_timeout login_failures_max unique_jid order_masters
	syndic_wait ext_job_cache minion_data_cache cluster_id cluster_pki_dir disabled_runners whitelist_runners`

// NetapiTakes tells whether a changed option takes effect in a running salt-api, or else when it is started again. Neither: it does
// not concern it.
func NetapiTakes(key string) (now, later bool) {
	return slices.Contains(strings.Fields(netapiLive), key), slices.Contains(strings.Fields(netapiStart), key)
}

// Follow is these options with what may change in a running salt-api as another has it.
func (n *Netapi) Follow(fresh *Netapi) *Netapi {
	next := *n
	next.EnableClients, next.AllowRawShell, next.RestTimeout, next.ExternalAuth = fresh.EnableClients, fresh.AllowRawShell, fresh.RestTimeout, fresh.ExternalAuth
	return &next
}
