package config

import (
	"errors"
	"log/slog"
	"path/filepath"
	"regexp"

	"brine/wire/payload"
	"brine/wire/python"
)

// applyMaster corrects the options of a master (salt/config/__init__.py, apply_master_config).
func (ld *loading) applyMaster(opts *payload.Map) error {
	if opts.Map("external_auth").Has("rest") && opts.Value("keep_acl_in_token") != true {
		ld.notice(slog.LevelWarn, "The 'rest' external_auth backend requires 'keep_acl_in_token' to be True. "+
			"Setting 'keep_acl_in_token' to True.")
		opts.Set("keep_acl_in_token", true)
	}
	if err := ld.applyCommon(opts); err != nil {
		return err
	}
	opts.Set("token_dir", filepath.Join(opts.Str("cachedir"), "tokens"))
	opts.Set("syndic_dir", filepath.Join(opts.Str("cachedir"), "syndics"))
	applyModules(opts)
	ld.applyIPCBuffer(opts)
	ld.applyMasterID(opts)
	if err := ld.prependRoot(opts, []string{
		"pki_dir", "cachedir", "pidfile", "sock_dir", "extension_modules", "autosign_file", "autoreject_file",
		"token_dir", "syndic_dir", "sqlite_queue_dir", "autosign_grains_dir",
	}, []string{"log_file", "key_logfile", "ssh_log_file"}); err != nil {
		return err
	}
	ld.applyCluster(opts)
	onlyTrue(opts, "open_mode")
	onlyTrue(opts, "auto_accept")
	ld.applyRoots(opts, "file_roots", "file_roots", "/srv/salt")
	ld.applyRoots(opts, "pillar_roots", "file_roots", "/srv/salt")
	ld.applyIgnores(opts)
	return ld.inTurn(
		func() error { return ld.applyWorkers(opts) },
		func() error { return ld.applyLast(opts) },
		func() error { applyNodegroups(opts); return nil },
		func() error {
			return ld.applyAlgorithm(opts, "publish_signing_algorithm", "publish signing", signingAlgorithms...)
		},
		func() error {
			return ld.applyAlgorithm(opts, "cluster_encryption_algorithm", "cluster encryption",
				encryptionAlgorithms...)
		},
	)
}

// applyMasterID gives the master an id: the host's minion id with "_master".
func (ld *loading) applyMasterID(opts *payload.Map) {
	made := !python.Truth(opts.Value("id"))
	fromAddress := false
	if made {
		var id string
		id, fromAddress = ld.minionID(opts, false)
		opts.Set("id", id)
	}
	if !fromAddress {
		appendDomain(opts)
	}
	if made {
		opts.Set("id", opts.Str("id")+"_master")
	}
}

// applyCluster makes the cluster options agree with each other.
func (ld *loading) applyCluster(opts *payload.Map) {
	peers, pki := opts.Value("cluster_peers"), opts.Value("cluster_pki_dir")
	if opts.Value("cluster_id") != nil {
		if !python.Truth(peers) && !python.Truth(opts.Value("cluster_secret")) {
			ld.notice(slog.LevelWarn, "Cluster id defined without defining cluster peers")
			opts.Set("cluster_peers", []any{})
		}
		if !python.Truth(pki) {
			ld.notice(slog.LevelWarn, "Cluster id defined without defining cluster pki, falling back to pki_dir")
			opts.Set("cluster_pki_dir", opts.Value("pki_dir"))
		}
		return
	}
	if python.Truth(peers) {
		ld.notice(slog.LevelWarn, "Cluster peers defined without a cluster_id, ignoring.")
		opts.Set("cluster_peers", []any{})
	}
	if python.Truth(pki) {
		ld.notice(slog.LevelWarn, "Cluster pki dir defined without a cluster_id, ignoring.")
		opts.Set("cluster_pki_dir", nil)
	}
}

// applyIgnores makes lists of file_ignore_regex and file_ignore_glob and drops expressions that do not compile.
func (ld *loading) applyIgnores(opts *payload.Map) {
	regexes := opts.List("file_ignore_regex")
	if s := opts.Str("file_ignore_regex"); s != "" {
		regexes = []any{s}
	}
	if len(regexes) > 0 {
		good := []any{}
		for _, v := range regexes {
			if s, ok := v.(string); ok {
				if _, err := regexp.Compile(s); err == nil {
					good = append(good, s)
					continue
				}
			}
			ld.notice(slog.LevelWarn, "Unable to parse file_ignore_regex. Skipping: %s", python.Str(v))
		}
		opts.Set("file_ignore_regex", good)
	}
	if s := opts.Str("file_ignore_glob"); s != "" {
		opts.Set("file_ignore_glob", []any{s})
	}
}

// applyWorkers keeps three workers where minions may publish, and checks worker_pools.
func (ld *loading) applyWorkers(opts *payload.Map) error {
	threads, ok := python.Number(opts.Value("worker_threads"))
	if !ok {
		v := opts.Value("worker_threads")
		return ld.bad("worker_threads", v, "Config option 'worker_threads' with value %s has an invalid type of %s, "+
			"a int is required for this option", python.Str(v), python.Type(v))
	}
	if threads < 3 && python.Truth(opts.Value("peer")) {
		ld.notice(slog.LevelWarn, "The 'worker_threads' setting in '%s' cannot be lower than 3. Resetting it to the "+
			"default value of 3.", opts.Str("conf_file"))
		opts.Set("worker_threads", 3)
	}
	v := opts.Value("worker_pools")
	if !python.Truth(opts.Value("worker_pools_enabled")) || !python.Truth(v) {
		return nil
	}
	if faults := checkPools(v); faults != nil {
		return ld.bad("worker_pools", v, "%w", errors.Join(faults...))
	}
	return nil
}

// applyNodegroups undoes an empty "nodegroups:" and merges a list of maps.
func applyNodegroups(opts *payload.Map) {
	switch v := opts.Value("nodegroups").(type) {
	case nil:
		opts.Set("nodegroups", payload.NewMap(0))
	case []any:
		if m, ok := mergedList(v); ok {
			opts.Set("nodegroups", m)
		}
	}
}

// mergedList merges a list of maps into one map.
func mergedList(list []any) (*payload.Map, bool) {
	out := payload.NewMap(len(list))
	for _, v := range list {
		m, ok := v.(*payload.Map)
		if !ok {
			return nil, false
		}
		out.Update(m)
	}
	return out, true
}
