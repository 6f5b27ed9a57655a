package gitfs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
)

// Roles of remotes, as options begin.
const (
	RoleFiles  = "gitfs"
	RolePillar = "git_pillar"
)

// anyEnv as the branch of a pillar's remote is the environment that is asked for.
const anyEnv = "__env__"

// remote is one repository and what of it is served.
type remote struct {
	role, id, url    string
	name             string // "" where none is given
	branch, env      string // of pillars
	base, fallback   string
	mountpoint, root string
	allSaltenvs      *string
	whitelist        []string
	blacklist        []string
	refspecs         []refspec
	refTypes         []string
	noMapping        bool
	idle             []string // of a pillar: what is set and changes nothing
	interval         time.Duration
	envs, globalEnvs map[string]envConf
	revmap           map[string][]string // environments by the reference that is mapped to them
	auth             auth
}

// auth is how a remote is reached.
type auth struct {
	user, password              string
	pubkey, privkey, passphrase string
	proxy                       string
	insecure, sslVerify         bool
}

// envConf is what holds for one environment only.
type envConf struct{ ref, mountpoint, root *string }

// Parameters of remotes (salt/fileserver/gitfs.py and salt/pillar/git_pillar.py; the credentials are those of pygit2
// and gitcli).
var (
	authParams = []string{"user", "password", "pubkey", "privkey", "passphrase", "insecure_auth"}
	fileParams = []string{"base", "fallback", "mountpoint", "root", "ssl_verify", "saltenv_whitelist",
		"saltenv_blacklist", "refspecs", "disable_saltenv_mapping", "ref_types", "update_interval", "proxy", "depth"}
	pillarParams = []string{"base", "env", "root", "ssl_verify", "refspecs", "fallback", "proxy", "ref_types",
		"disable_saltenv_mapping", "depth"}
	fileOnly   = []string{"all_saltenvs", "name", "saltenv"}
	pillarOnly = []string{"name", "mountpoint", "all_saltenvs"}
	refKinds   = []string{"branch", "tag", "sha"}
	// pillarIdle are those of pillarParams that change nothing, in Salt as here: its pillars look for a branch, then
	// for a tag, whatever they say (salt/utils/gitfs.py, checkout; only the file server's envs and get_tree read them).
	pillarIdle = []string{"ref_types", "disable_saltenv_mapping"}
)

// parseRemotes reads a list of remotes (gitfs_remotes, or the arguments of ext_pillar: git). What is wrong with one
// remote is told in err, without credentials, and that remote is left out; fatal means that Salt would serve none of
// them.
func parseRemotes(role string, list []any, opts *payload.Map) (out []*remote, err, fatal error) {
	switch p, _ := opts.Value(role + "_provider").(string); strings.ToLower(p) {
	case "", "pygit2", "gitpython", "gitcli":
	default:
		// Salt's words
		return nil, nil, fmt.Errorf("Invalid %s_provider %s. Valid choices are: pygit2, gitpython, gitcli", role,
			payload.Show(p))
	}
	for _, entry := range list {
		ids := []string{python.Str(entry)}
		params := payload.NewMap(0)
		if m, ok := entry.(*payload.Map); ok {
			ids = ids[:0]
			for k := range m.All() {
				ids = append(ids, python.Str(k))
			}
			params = m
		}
		for _, id := range ids[:min(1, len(ids))] {
			r, bad := newRemote(role, id, params.Value(id), params.Len() > 0, opts)
			if bad != nil {
				err = errors.Join(err, fmt.Errorf("%s remote '%s': %w", role, redactURL(id), bad))
				continue
			}
			out = append(out, r)
		}
	}
	for i, a := range out {
		for _, b := range out[:i] {
			if a.key() == b.key() {
				return nil, err, fmt.Errorf("the following %s remotes have conflicting cachedirs: %s, %s; resolve "+
					"this using a per-remote parameter called 'name'",
					role, redactURL(b.id), redactURL(a.id))
			}
		}
	}
	return out, err, nil
}

func newRemote(role, id string, conf any, hasConf bool, opts *payload.Map) (*remote, error) {
	r := &remote{role: role, id: id, url: id, envs: map[string]envConf{}, revmap: map[string][]string{}}
	if role == RolePillar {
		r.branch = python.Str(option(opts, role, "branch"))
		if branch, url, ok := cutSpace(id); ok {
			r.branch, r.url = branch, url
		}
	}
	if err := validURL(r.url); err != nil {
		return nil, err
	}
	own := payload.NewMap(0)
	if hasConf {
		if own = dictlist(conf); own.Len() == 0 {
			return nil, errors.New("no per-remote parameters are specified; there may be a trailing colon after the " +
				"URL, which should be removed")
		}
	}
	if err := r.check(own); err != nil {
		return nil, err
	}
	get := func(key string) any {
		if v, ok := own.Get(key); ok {
			return v
		}
		return option(opts, role, key)
	}
	if err := r.fill(get, own); err != nil {
		return nil, err
	}
	if role == RolePillar {
		r.idle = idleOf(own)
	}
	r.globalEnvs = envConfs(option(opts, role, "saltenv"))
	r.mapEnvs()
	return r, r.auth.check(r.url, role)
}

// idleOf names what a pillar's remote sets by itself and what changes nothing; of the options for all of them config
// tells.
func idleOf(own *payload.Map) (names []string) {
	for _, key := range pillarIdle {
		if own.Has(key) {
			names = append(names, key)
		}
	}
	return names
}

// check refuses parameters that there are not.
func (r *remote) check(own *payload.Map) error {
	valid := slices.Concat(fileParams, authParams, fileOnly)
	if r.role == RolePillar {
		valid = slices.Concat(pillarParams, authParams, pillarOnly)
		if own.Has("base") && r.branch != anyEnv {
			return errors.New("base can only be specified if __env__ is specified as the branch name")
		}
	}
	for k := range own.All() {
		if key := python.Str(k); !slices.Contains(valid, key) {
			// Salt's words
			return fmt.Errorf("Invalid %s configuration parameter '%s'. Valid parameters are: %s", r.role, key,
				strings.Join(valid, ", "))
		}
	}
	if v, ok := own.Get("depth"); ok && python.Str(v) != "0" {
		return errors.New("depth is not honoured: the whole history is fetched")
	}
	return nil
}

func (r *remote) fill(get func(string) any, own *payload.Map) (err error) {
	str := func(key string) string {
		if v := get(key); v != nil {
			return python.Str(v)
		}
		return ""
	}
	truth := func(key string) bool { return python.Truth(get(key)) }
	r.base, r.fallback, r.root = str("base"), str("fallback"), strings.TrimRight(str("root"), "/")
	r.mountpoint = strings.Trim(stripProto(str("mountpoint")), "/")
	r.whitelist, r.blacklist, r.noMapping = wordList(get("saltenv_whitelist")), wordList(get("saltenv_blacklist")),
		truth("disable_saltenv_mapping")
	if r.role == RolePillar {
		r.env = str("env")
		r.mountpoint = ""
		if v, ok := own.Get("mountpoint"); ok {
			r.mountpoint = strings.Trim(stripProto(python.Str(v)), "/")
		}
	}
	if v, ok := own.Get("name"); ok {
		r.name = python.Str(v)
	}
	if v, ok := own.Get("all_saltenvs"); ok {
		all := python.Str(v)
		r.allSaltenvs = &all
	}
	if v, ok := own.Get("saltenv"); ok {
		r.envs = envConfs(v)
	}
	seconds, bad := strconv.Atoi(str("update_interval"))
	if bad != nil {
		return fmt.Errorf("update_interval is %s, and must be a number of seconds",
			payload.Show(str("update_interval")))
	}
	if seconds <= 0 {
		seconds = 60
	}
	r.interval = time.Duration(seconds) * time.Second
	for _, kind := range wordList(get("ref_types")) {
		kind = strings.ToLower(kind)
		if !slices.Contains(refKinds, kind) {
			return fmt.Errorf("the ref_types %s are invalid; the supported values are: %s", kind,
				strings.Join(refKinds, ", "))
		}
		r.refTypes = append(r.refTypes, kind)
	}
	if r.refspecs, err = parseRefspecs(wordList(get("refspecs"))); err != nil {
		return err
	}
	r.auth = auth{user: str("user"), password: str("password"), pubkey: str("pubkey"), privkey: str("privkey"),
		passphrase: str("passphrase"), insecure: truth("insecure_auth"), sslVerify: truth("ssl_verify"),
		proxy: str("proxy")}
	return nil
}

// mapEnvs turns the references that are mapped to environments round; those of the remote go before those for all.
func (r *remote) mapEnvs() {
	mapped := map[string]bool{}
	for _, env := range sortedKeys(r.envs) {
		c := r.envs[env]
		if c.ref == nil {
			continue
		}
		r.revmap[*c.ref] = append(r.revmap[*c.ref], env)
		mapped[env] = true
		if env == "base" {
			r.base = *c.ref
			c.ref = nil
			r.envs[env] = c
		}
	}
	for _, env := range sortedKeys(r.globalEnvs) {
		if c := r.globalEnvs[env]; c.ref != nil && !mapped[env] {
			r.revmap[*c.ref] = append(r.revmap[*c.ref], env)
		}
	}
}

// ref is the reference of an environment; ok is false where none is mapped.
func (r *remote) ref(env string) (string, bool) {
	if r.allSaltenvs != nil {
		return *r.allSaltenvs, true
	}
	if env == "base" {
		return r.base, true
	}
	for _, m := range []map[string]envConf{r.envs, r.globalEnvs} {
		if c := m[env]; c.ref != nil {
			return *c.ref, *c.ref != "" || !r.noMapping
		}
	}
	return env, !r.noMapping
}

// place is the mountpoint or the root of an environment.
func (r *remote) place(env, otherwise string, of func(envConf) *string) string {
	for _, m := range []map[string]envConf{r.envs, r.globalEnvs} {
		if p := of(m[env]); p != nil {
			return strings.TrimRight(*p, "/")
		}
	}
	return strings.TrimRight(otherwise, "/")
}

func (r *remote) mountOf(env string) string {
	return r.place(env, r.mountpoint, func(c envConf) *string { return c.mountpoint })
}

func (r *remote) rootOf(env string) string {
	return r.place(env, r.root, func(c envConf) *string { return c.root })
}

// exposed tells whether an environment may be seen at all.
func (r *remote) exposed(env string) bool {
	among := func(list []string, is func(word, expr string) bool) bool {
		return slices.ContainsFunc(list, func(expr string) bool { return is(env, expr) })
	}
	if among(r.blacklist, matchers.ExprForbids) {
		return false
	}
	return len(r.whitelist) == 0 || among(r.whitelist, matchers.ExprMatch)
}

// envConfs reads the parameter saltenv.
func envConfs(v any) map[string]envConf {
	out := map[string]envConf{}
	for k, conf := range dictlist(v).All() {
		m := dictlist(conf)
		text := func(key string) *string {
			v, ok := m.Get(key)
			if !ok {
				return nil
			}
			s := python.Str(v)
			if key == "mountpoint" {
				s = stripProto(s)
			}
			return &s
		}
		out[python.Str(k)] = envConf{ref: text("ref"), mountpoint: text("mountpoint"), root: text("root")}
	}
	return out
}

// dictlist is a list of maps with one key each, or a map, as one map.
func dictlist(v any) *payload.Map {
	out := payload.NewMap(0)
	switch v := v.(type) {
	case *payload.Map:
		return v
	case []any:
		for _, e := range v {
			if m, ok := e.(*payload.Map); ok {
				out.Update(m)
			}
		}
	}
	return out
}

// wordList is a list of texts, or a text with commas.
func wordList(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			out = append(out, python.Str(e))
		}
		return out
	}
	var out []string
	for _, w := range strings.Split(python.Str(v), ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// cutSpace divides a text at its first white space.
func cutSpace(s string) (before, after string, ok bool) {
	fields := strings.Fields(s)
	if len(fields) < 2 {
		return "", s, false
	}
	return fields[0], strings.TrimSpace(s[strings.Index(s, fields[0])+len(fields[0]):]), true
}
