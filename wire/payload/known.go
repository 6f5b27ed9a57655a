package payload

// known holds frequent keys of loads and state returns as values that all maps share: reading one of them allocates no
// memory.
var known = shared(
	"__id__", "__kwarg__", "__run_num__", "__sls__", "__state_ran__", "_stamp", "act", "aes", "arg",
	"auth_list", "autosign_grains", "body", "changes", "cmd", "comment", "data", "delimiter", "dest",
	"duration", "eauth", "enc", "enc_algo", "env_only", "error", "events", "extra_minion_data", "form",
	"full_return", "fun", "fun_args", "grains", "head", "id", "jid", "key", "kwarg", "kwargs", "load", "loc",
	"master_id", "message", "metadata", "mid", "minions", "missing", "msg", "name", "new", "no_parse",
	"nonce", "old", "out", "password", "path", "pchanges", "pid", "pillar", "pillar_override", "pillarenv",
	"prefix", "pretag", "pub", "publish_port", "resource_grains", "resources", "result", "ret", "ret_config",
	"ret_kwargs", "retcode", "return", "saltenv", "schedule", "serial", "session", "sig", "sig_algo", "size",
	"start_time", "state_id", "state_std", "stderr", "stdout", "success", "tag", "tgt", "tgt_type", "timeout",
	"tmo", "to", "tok", "token", "ts", "user", "username", "ver", "version",
)

func shared(names ...string) map[string]any {
	m := make(map[string]any, len(names))
	for _, n := range names {
		m[n] = n
	}
	return m
}

// knownKey returns the shared value of a frequent key, or nil.
func knownKey(b []byte) any { return known[string(b)] }
