// Package configmod holds the execution functions of module config: values out of the minion's options, grains and
// pillar. It answers to salt/modules/config.py.
package configmod

import (
	"net/url"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Functions lists the module's functions.
func Functions() []loader.Func {
	funcs := append(readers(), others()...)
	for i := range funcs {
		funcs[i].Source = "salt/modules/config.py"
	}
	return funcs
}

func readers() []loader.Func {
	omits := func(names ...string) []loader.Param {
		var out []loader.Param
		for _, n := range names {
			out = append(out, loader.Opt(n, false))
		}
		return out
	}
	return []loader.Func{
		{Name: "config.get", Params: append([]loader.Param{loader.Req("key"), loader.Opt("default", ""), loader.Opt("delimiter", ":"),
			loader.Opt("merge", nil)}, omits("omit_opts", "omit_pillar", "omit_master", "omit_grains")...), Run: get,
			Doc: `Get a value by its path out of options, grains, pillar and the master's options, the first that has it.

CLI Example:

    salt '*' config.get pkg:apache
    salt '*' config.get lxc.container_profile:centos merge=recurse`},
		{Name: "config.option", Params: append([]loader.Param{loader.Req("value"), loader.Opt("default", nil)},
			omits("omit_opts", "omit_grains", "omit_pillar", "omit_master", "omit_all", "wildcard")...), Run: option,
			Doc: `Get a value by its name out of options, grains, pillar and the master's options; all that match a glob with wildcard=True.

CLI Example:

    salt '*' config.option redis.host
    salt '*' config.option '*backup*' wildcard=True`},
		{Name: "config.merge", Params: append([]loader.Param{loader.Req("value"), loader.Opt("default", "")},
			omits("omit_opts", "omit_master", "omit_pillar")...), Run: merge,
			Doc: `Get an option from all places at once: maps and lists are joined.

CLI Example:

    salt '*' config.merge schedule`},
		{Name: "config.dot_vals", Params: []loader.Param{loader.Req("value")}, Run: dotVals,
			Doc: `Get all options whose names begin with a name and a dot.

CLI Example:

    salt '*' config.dot_vals host`},
		{Name: "config.items", Run: items, Doc: `Get all options.

CLI Example:

    salt '*' config.items`},
	}
}

func others() []loader.Func {
	return []loader.Func{
		{Name: "config.backup_mode", Params: []loader.Param{loader.Opt("backup", "")}, Run: backupMode,
			Doc: `Get the way files are backed up: the argument, else the option backup_mode.

CLI Example:

    salt '*' config.backup_mode`},
		{Name: "config.manage_mode", Params: []loader.Param{loader.Req("mode")}, Run: manageMode,
			Doc: `Write a file mode with four digits.

CLI Example:

    salt '*' config.manage_mode 644`},
		{Name: "config.valid_fileproto", Params: []loader.Param{loader.Req("uri")}, Run: validFileproto,
			Doc: `Tell whether files can be had by a URI of this kind.

CLI Example:

    salt '*' config.valid_fileproto salt://path/to/file`},
		{Name: "config.gather_bootstrap_script", Params: []loader.Param{loader.Opt("bootstrap", nil)}, Run: gatherBootstrap,
			Doc: `Not offered: the bootstrap script belongs to salt-cloud, which is not part of this program.

CLI Example:

    salt '*' config.gather_bootstrap_script`},
	}
}

// defaults are what the reference answers for options nobody set.
func defaults() *payload.Map {
	return payload.M("mongo.db", "salt", "mongo.password", "", "mongo.port", int64(27017), "mongo.user", "",
		"redis.db", "0", "redis.host", "salt", "redis.port", int64(6379), "test.foo", "unconfigured",
		"ca.cert_base_path", "/etc/pki", "solr.cores", []any{}, "solr.host", "localhost", "solr.port", "8983",
		"solr.baseurl", "/solr", "solr.type", "master", "solr.request_timeout", nil, "solr.init_script", "/etc/rc.d/solr",
		"solr.dih.import_options", payload.M("clean", false, "optimize", true, "commit", true, "verbose", false),
		"solr.backup_path", nil, "solr.num_backups", int64(1),
		"poudriere.config", "/usr/local/etc/poudriere.conf", "poudriere.config_dir", "/usr/local/etc/poudriere.d",
		"ldap.uri", "", "ldap.server", "localhost", "ldap.port", "389", "ldap.tls", false, "ldap.no_verify", false,
		"ldap.anonymous", true, "ldap.scope", int64(2), "ldap.attrs", nil, "ldap.binddn", "", "ldap.bindpw", "",
		"hosts.file", "/etc/hosts", "aliases.file", "/etc/aliases",
		"virt", payload.M("tunnel", false, "images", "/srv/salt-images"), "docker.exec_driver", "docker-exec",
		"docker.compare_container_networks", payload.M("static", []any{"Aliases", "Links", "IPAMConfig"},
			"automatic", []any{"IPAddress", "Gateway", "GlobalIPv6Address", "IPv6Gateway"}))
}

// masterOpts are the master's options, when it puts them into the pillar.
func masterOpts(c *loader.Call) *payload.Map { return c.Pillar().Map("master") }

// items are the options, with grains and pillar among them as in the reference.
func items(c *loader.Call, _ loader.Args) (any, error) {
	return loader.WithResources(c.Opts()).Set("grains", c.Grains()).Set("pillar", c.Pillar()), nil
}

func dotVals(c *loader.Call, a loader.Args) (any, error) {
	prefix := a.Str("value") + "."
	out := payload.NewMap(0)
	for _, m := range []*payload.Map{masterOpts(c), c.Opts()} {
		for k, v := range m.All() {
			if name, ok := k.(string); ok && strings.HasPrefix(name, prefix) {
				out.Set(k, v)
			}
		}
	}
	return out, nil
}

func backupMode(c *loader.Call, a loader.Args) (any, error) {
	if v := a.Get("backup"); loader.Truthy(v) {
		return v, nil
	}
	return c.Call("config.option", []any{"backup_mode"}, nil)
}

func manageMode(_ *loader.Call, a loader.Args) (any, error) {
	v := a.Get("mode")
	if v == nil {
		return nil, nil
	}
	digits := strings.TrimLeft(strings.Trim(strings.Replace(pytext.Str(v), "0o", "0", 1), `"'`), "0")
	return strings.Repeat("0", max(0, 4-len(digits))) + digits, nil
}

func validFileproto(_ *loader.Call, a loader.Args) (any, error) {
	u, err := url.Parse(a.Str("uri"))
	if err != nil {
		return false, nil
	}
	switch u.Scheme {
	case "salt", "http", "https", "swift", "s3", "file", "ftp":
		return true, nil
	}
	return false, nil
}

func gatherBootstrap(*loader.Call, loader.Args) (any, error) {
	return []any{false, "config.gather_bootstrap_script is unavailable"}, nil
}
