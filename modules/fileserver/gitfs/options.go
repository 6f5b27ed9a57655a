package gitfs

import (
	"brine/wire/payload"
	"brine/wire/python"
)

// globals are the options that hold for all remotes of a role, by the parameter of one remote.
var globals = map[string]map[string]string{
	"gitfs": {
		"base": "gitfs_base", "fallback": "gitfs_fallback", "mountpoint": "gitfs_mountpoint", "root": "gitfs_root",
		"ssl_verify": "gitfs_ssl_verify", "saltenv_whitelist": "gitfs_saltenv_whitelist",
		"saltenv_blacklist": "gitfs_saltenv_blacklist", "refspecs": "gitfs_refspecs",
		"disable_saltenv_mapping": "gitfs_disable_saltenv_mapping", "ref_types": "gitfs_ref_types",
		"update_interval": "gitfs_update_interval", "proxy": "gitfs_proxy", "user": "gitfs_user",
		"password": "gitfs_password", "pubkey": "gitfs_pubkey", "privkey": "gitfs_privkey",
		"passphrase": "gitfs_passphrase", "insecure_auth": "gitfs_insecure_auth", "saltenv": "gitfs_saltenv",
		"global_lock": "gitfs_global_lock",
	},
	"git_pillar": {
		"base": "git_pillar_base", "branch": "git_pillar_branch", "env": "git_pillar_env", "root": "git_pillar_root",
		"ssl_verify": "git_pillar_ssl_verify", "refspecs": "git_pillar_refspecs", "fallback": "git_pillar_fallback",
		"proxy": "git_pillar_proxy", "ref_types": "git_pillar_ref_types",
		"disable_saltenv_mapping": "git_pillar_disable_saltenv_mapping",
		"update_interval":         "git_pillar_update_interval", "user": "git_pillar_user",
		"password": "git_pillar_password", "pubkey": "git_pillar_pubkey", "privkey": "git_pillar_privkey",
		"passphrase": "git_pillar_passphrase", "insecure_auth": "git_pillar_insecure_auth",
		"global_lock": "git_pillar_global_lock",
	},
}

// defaults are Salt's, where a configuration has none.
var defaults = map[string]any{
	"base": "master", "branch": "master", "ssl_verify": true, "refspecs": []any{"+refs/heads/*:refs/remotes/origin/*",
		"+refs/tags/*:refs/tags/*"}, "ref_types": []any{"branch", "tag", "sha"}, "update_interval": int64(60),
	"depth": int64(1), "global_lock": true,
}

// option is what holds for all remotes of a role.
func option(opts *payload.Map, role, key string) any {
	if name, ok := globals[role][key]; ok {
		if v, ok := opts.Get(name); ok {
			return v
		}
	}
	return defaults[key]
}

func globalLock(opts *payload.Map, role string) bool {
	return python.Truth(option(opts, role, "global_lock"))
}
