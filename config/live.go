package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/wire/payload"
)

// live names the options that a running daemon takes from a changed file: the options by which it judges requests,
// waiting times, log levels, and options that only tools use, which read the files each time.
func live(role string) []string {
	both := []string{"log_level", "log_level_logfile", "nodegroups", "include", "default_include",
		"state_output", "state_verbose", "state_output_diff", "state_output_profile"}
	if role == roleMinion {
		return append(both, "auth_timeout", "auth_tries", "return_retry_timer", "return_retry_timer_max",
			"return_retry_tries", "request_channel_timeout", "request_channel_tries")
	}
	return append(append(both, liveLDAP()...), "publisher_acl", "publisher_acl_blacklist", "publisher_acl_fields",
		"client_acl_verify", "external_auth", "sharedsecret", "acl_require_all", "permissive_acl", "sudo_acl",
		"keep_acl_in_token", "eauth_acl_module", "auth.enable_expanded_auth_matching", "auth.pam.python",
		"auth.pam.service", "token_expire", "token_expire_user_override", "login_failures_max", "peer", "peer_run",
		"reactor", "target_timeout", "timeout", "gather_job_timeout", "key_logfile", "show_timeout", "show_jid",
		"cli_summary", "syndic_wait")
}

// liveLDAP are the options of the backend ldap. Each log-in reads their current values.
func liveLDAP() []string {
	names := strings.Fields(`accountattributename activedirectory anonymous auth_by_group_membership_only basedn binddn bindpw filter freeipa group_basedn group_filter
		groupattribute groupclass groupou no_verify persontype port scope server starttls tls uri`)
	for i, n := range names {
		names[i] = "auth.ldap." + n
	}
	return names
}

// Change is an option that a changed file sets to another value.
type Change struct {
	Key     string
	Live    bool // it takes effect in the running daemon
	Foreign bool // it is an option of another program
	Origin  Origin
}

// Changes compares what the operator had written before with what is written now. Options of the command line do not
// change, whatever the files say.
func Changes(was, now *Common) ([]Change, error) {
	role := now.Raw.Str("__role")
	std, err := defaults(role)
	if err != nil {
		return nil, &Error{Code: ExitGeneric, Err: err}
	}
	written := func(c *Common, key any) any {
		if v, ok := c.File.Get(key); ok {
			return v
		}
		return std.Value(key)
	}
	mayChange, others := live(role), foreign(role)
	var out []Change
	keys := now.File.Keys()
	for _, key := range was.File.Keys() {
		if !now.File.Has(key) {
			keys = append(keys, key)
		}
	}
	for _, k := range keys {
		key, ok := k.(string)
		if a, b := written(was, k), written(now, k); !ok || a == nil && b == nil || payload.Equal(a, b) ||
			now.Origin(key).Layer == LayerCommandLine {
			continue
		}
		out = append(out, Change{key, slices.Contains(mayChange, key), others[key], now.Origin(key)})
	}
	return out, nil
}

// Folders lists the directories in which a changed, new or removed file may change this configuration, whether they
// exist or not. It also lists the symbolic links on the way to the files: if the target of a link changes, everything
// may change.
func (c *Common) Folders() (dirs, links []string) {
	return sorted(c.folders), sorted(c.links)
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// watch records the directory of a file or of a glob, and the links on the way to it. The directory is the one behind
// all links, which is the same for all names of the file.
func (ld *loading) watch(path string) {
	dir := filepath.Dir(path)
	if strings.ContainsAny(path, "*?[") {
		for strings.ContainsAny(dir, "*?[") {
			dir = filepath.Dir(dir)
		}
		real, links := followLinks(dir)
		ld.folders, ld.links = append(ld.folders, real), append(ld.links, links...)
		return
	}
	real, links := followLinks(path)
	ld.folders, ld.links = append(ld.folders, filepath.Dir(real)), append(ld.links, links...)
}

// mostLinks ends circles of links.
const mostLinks = 64

// followLinks resolves all symbolic links of a path, as far as they exist, and lists them.
func followLinks(path string) (real string, links []string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, nil
	}
	real = "/"
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		target, err := os.Readlink(next)
		if err != nil || len(links) == mostLinks {
			real = next
			continue
		}
		links = append(links, next)
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return real, links
}
