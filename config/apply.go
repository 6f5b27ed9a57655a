package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"brine/wire/payload"
	"brine/wire/python"
)

// adjustLogFile applies log_dir to what is said about log_file.
func (ld *loading) adjustLogFile() error {
	dir, _ := ld.layers.value("log_dir").(string)
	if dir == "" {
		return nil
	}
	name, origin := "", ld.layers.origin("log_file")
	if origin.Layer != LayerDefault {
		name, _ = ld.layers.value("log_file").(string)
	} else {
		origin = ld.layers.origin("log_dir")
	}
	if name == "" {
		name = filepath.Base(ld.standard.Str("log_file"))
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return ld.layers.correct("log_file", name, origin)
}

// applyCommon makes the corrections that both roles share and that come before the paths.
func (ld *loading) applyCommon(opts *payload.Map) error {
	ld.renameEnvironment(opts)
	fullBackendNames(opts)
	for _, key := range []string{"cachedir", "sock_dir"} {
		if _, ok := opts.Value(key).(string); !ok {
			if err := ld.fault(ld.badPath(opts, key)); err != nil {
				return err
			}
		}
	}
	if len(opts.Str("sock_dir")) > len(opts.Str("cachedir"))+10 {
		opts.Set("sock_dir", filepath.Join(opts.Str("cachedir"), ".salt-unix"))
	}
	return nil
}

// renameEnvironment honours the old name of saltenv.
func (ld *loading) renameEnvironment(opts *payload.Map) {
	env, ok := opts.Get("environment")
	if !ok {
		return
	}
	if saltenv := opts.Value("saltenv"); saltenv != nil {
		ld.notice(slog.LevelWarn, "The 'saltenv' and 'environment' %s config options cannot both be used. "+
			"Ignoring 'environment' in favor of 'saltenv'.", ld.role)
		opts.Set("environment", saltenv)
		return
	}
	ld.notice(slog.LevelWarn, "The 'environment' %s config option has been renamed to 'saltenv'. "+
		"Using %s as the 'saltenv' config value.", ld.role, python.Str(env))
	opts.Set("saltenv", env)
}

// fullBackendNames turns the old names of file server backends (git, hg, svn, minion) into the present ones.
func fullBackendNames(opts *payload.Map) {
	list := opts.List("fileserver_backend")
	out := make([]any, len(list))
	for i, v := range list {
		switch v {
		case "git", "hg", "svn", "minion":
			v = v.(string) + "fs"
		}
		out[i] = v
	}
	if list != nil {
		opts.Set("fileserver_backend", out)
	}
}

// applyModules derives extension_modules and utils_dirs, which must not be empty.
func applyModules(opts *payload.Map) {
	if !python.Truth(opts.Value("extension_modules")) {
		opts.Set("extension_modules", filepath.Join(opts.Str("cachedir"), "extmods"))
	}
	if !python.Truth(opts.Value("utils_dirs")) {
		opts.Set("utils_dirs", []any{filepath.Join(opts.Str("extension_modules"), "utils")})
	}
}

// applyIPCBuffer resolves ipc_write_buffer: "dynamic" is 5 % of the memory, at least 10 MiB.
func (ld *loading) applyIPCBuffer(opts *payload.Map) {
	if ld.layers.value("ipc_write_buffer") != "dynamic" {
		return
	}
	size := int64(10 << 20)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		size = max(size, int64(info.Totalram)*int64(info.Unit)/20)
	}
	opts.Set("ipc_write_buffer", size)
}

// applyRoots normalises file_roots and pillar_roots: names are text, directories lists, globs are expanded.
func (ld *loading) applyRoots(opts *payload.Map, key, name, base string) {
	roots, ok := opts.Value(key).(*payload.Map)
	if !ok {
		ld.notice(slog.LevelWarn, "The %s parameter is not properly formatted, using defaults", name)
		opts.Set(key, payload.M("base", expandDirs([]any{base})))
		return
	}
	out := payload.NewMap(roots.Len())
	for env, v := range roots.All() {
		dirs, _ := v.([]any)
		out.Set(python.Str(env), expandDirs(dirs))
	}
	opts.Set(key, out)
}

func expandDirs(dirs []any) []any {
	out := []any{}
	for _, v := range dirs {
		dir, ok := v.(string)
		if !ok || !strings.ContainsAny(dir, "*?[") {
			out = append(out, v)
			continue
		}
		found, _ := filepath.Glob(dir)
		for _, f := range found {
			out = append(out, f)
		}
	}
	return out
}

// onlyTrue makes a switch that only a real true turns on a bool.
func onlyTrue(opts *payload.Map, key string) { opts.Set(key, opts.Value(key) == true) }

// isURI tells a log file that is no path but a place such as udp://host.
func isURI(s string) bool {
	scheme, _, ok := strings.Cut(s, ":")
	return ok && isLetter(scheme) && !strings.ContainsFunc(scheme, func(r rune) bool {
		return !isLetter(string(r)) && !strings.ContainsRune("0123456789+.-", r)
	})
}

// isLetter tells whether a text begins with a letter of ASCII.
func isLetter(s string) bool { return s != "" && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z' }

// prependRoot puts root_dir in front of the named options, and of those log files that are paths. An absolute
// path outside root_dir is moved into it.
func (ld *loading) prependRoot(opts *payload.Map, keys []string, logs []string) error {
	root, ok := opts.Value("root_dir").(string)
	if !ok {
		if err := ld.fault(ld.badPath(opts, "root_dir")); err != nil {
			return err
		}
		root = opts.Str("root_dir")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return ld.bad("root_dir", root, "option 'root_dir' is '%s': %v", root, err)
	}
	for _, key := range logs {
		if s, ok := opts.Value(key).(string); ok && !isURI(s) {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		v, ok := opts.Get(key)
		if !ok {
			continue
		}
		path, ok := v.(string)
		if !ok {
			if err := ld.fault(ld.badPath(opts, key)); err != nil {
				return err
			}
			path = opts.Str(key)
		}
		opts.Set(key, below(root, path))
	}
	return nil
}

// below puts a root in front of a path that is not below it.
func below(root, path string) string {
	return filepath.Join(root, strings.TrimPrefix(path, root+string(os.PathSeparator)))
}

func (ld *loading) badPath(opts *payload.Map, key string) *Error {
	v := opts.Value(key)
	return ld.bad(key, v, "Config option '%s' with value %s has an invalid type of %s, a path is required for this "+
		"option", key, python.Str(v), python.Type(v))
}

// applyAlgorithm refuses a signing or encryption algorithm that Salt does not know.
func (ld *loading) applyAlgorithm(opts *payload.Map, key, label string, known ...string) error {
	v := opts.Value(key)
	for _, k := range known {
		if v == k {
			return nil
		}
	}
	return ld.bad(key, v, "The %s algorithm '%s' is not valid. Please specify one of %s.", label, python.Str(v),
		strings.Join(known, ","))
}

// Algorithms of requests and signatures (salt/crypt.py).
var (
	encryptionAlgorithms = []string{"OAEP-SHA1", "OAEP-SHA224"}
	signingAlgorithms    = []string{"PKCS1v15-SHA1", "PKCS1v15-SHA224"}
)

// applyLast makes the corrections that both roles share and that come last.
func (ld *loading) applyLast(opts *payload.Map) error {
	hash, ok := opts.Value("hash_type").(string)
	if !ok {
		return ld.bad("hash_type", opts.Value("hash_type"), "option 'hash_type' is %s: it must be the name of a hash",
			python.Str(opts.Value("hash_type")))
	}
	opts.Set("hash_type", strings.ToLower(hash))
	switch opts.Value("ssl") {
	case false:
		opts.Set("ssl", nil)
	case true:
		opts.Set("ssl", payload.NewMap(0))
	}
	if list, ok := opts.Value("return").([]any); ok {
		names := make([]string, len(list))
		for i, v := range list {
			names[i] = python.Str(v)
		}
		opts.Set("return", strings.Join(names, ","))
	}
	return nil
}
