package config

import (
	"path/filepath"

	"brine/wire/payload"
	"brine/wire/python"
)

// applyMinion corrects the options of a minion (salt/config/__init__.py, apply_minion_config).
func (ld *loading) applyMinion(opts *payload.Map) error {
	if !python.Truth(opts.Value("id")) {
		var id string
		id, ld.idFromAddress = ld.minionID(opts, ld.CacheID)
		opts.Set("id", id)
	}
	if !ld.idFromAddress {
		appendDomain(opts)
	}
	appendIDToDirs(opts)
	if err := ld.applyCommon(opts); err != nil {
		return err
	}
	onlyTrue(opts, "open_mode")
	ld.applyRoots(opts, "file_roots", "file_roots", "/srv/salt")
	ld.applyRoots(opts, "pillar_roots", "pillar_roots", "/srv/pillar")
	applyModules(opts)
	if err := ld.prependRoot(opts, []string{"pki_dir", "cachedir", "sock_dir", "extension_modules", "pidfile"},
		[]string{"log_file", "key_logfile"}); err != nil {
		return err
	}
	if !opts.Has("__cachedir") {
		opts.Set("__cachedir", opts.Value("cachedir"))
	}
	if !opts.Has("beacons") {
		opts.Set("beacons", payload.NewMap(0))
	}
	ld.applyIPCBuffer(opts)
	return ld.inTurn(
		func() error { return ld.checkQueueAge(opts) },
		func() error { return ld.checkPassed(opts) },
		func() error { return ld.applyLast(opts) },
		func() error {
			return ld.applyAlgorithm(opts, "encryption_algorithm", "encryption", encryptionAlgorithms...)
		},
		func() error { return ld.applyAlgorithm(opts, "signing_algorithm", "signing", signingAlgorithms...) },
	)
}

func (ld *loading) checkQueueAge(opts *payload.Map) error {
	if n, ok := opts.Int("minion_jid_queue_age"); !ok || n != 0 && n < 86400 || n > maxJIDQueueAge {
		v := opts.Value("minion_jid_queue_age")
		return ld.bad("minion_jid_queue_age", v, "option 'minion_jid_queue_age' is %s: it must be 0 or the seconds "+
			"of a day to ten years", python.Str(v))
	}
	return nil
}

// checkPassed finds a pass_to_ext_pillars with which Salt's minion gets no pillar.
func (ld *loading) checkPassed(opts *payload.Map) error {
	v, ok := opts.Get("pass_to_ext_pillars")
	if _, isList := v.([]any); ok && !isList {
		return ld.bad("pass_to_ext_pillars", v, "option 'pass_to_ext_pillars' is %s: it must be a list of names of "+
			"options", python.Str(v))
	}
	return nil
}

// maxJIDQueueAge is ten years, in seconds.
const maxJIDQueueAge = 10 * 366 * 86400

// appendIDToDirs gives this minion its own directories, for several minions on one host.
func appendIDToDirs(opts *payload.Map) {
	for _, v := range opts.List("append_minionid_config_dirs") {
		switch v {
		case "pki_dir", "cachedir", "extension_modules":
			key := v.(string)
			opts.Set(key, filepath.Join(opts.Str(key), opts.Str("id")))
		case "default_include":
			dir, name := filepath.Split(opts.Str("default_include"))
			opts.Set("default_include", filepath.Join(dir, opts.Str("id"), name))
		case "pidfile":
			dir, name := filepath.Split(opts.Str("pidfile"))
			opts.Set("pidfile", filepath.Join(dir, "salt", opts.Str("id"), name))
		}
	}
}
