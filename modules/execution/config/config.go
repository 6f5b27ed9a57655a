// Package config is the execution module config: values out of the minion's options, grains and pillar. It answers to
// salt/modules/config.py.
package config

import (
	"net/url"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module config.
func Module() loader.Module {
	return loader.Module{File: "config", Virtual: loader.Always, Funcs: func() []loader.Func {
		return append(readers(), others()...)
	}}
}

func readers() []loader.Func {
	return []loader.Func{
		loader.Fn("get", get,
			"Get a value by its path out of options, grains, pillar and the master's options, the first that has it.",
			"config.get pkg:apache", "config.get lxc.container_profile:centos merge=recurse"),
		loader.Fn("option", option,
			"Get a value by its name out of options, grains, pillar and the master's options; all that match a glob "+
				"with wildcard=True.",
			"config.option redis.host", "config.option '*backup*' wildcard=True"),
		loader.Fn("merge", merge, "Get an option from all places at once: maps and lists are joined.",
			"config.merge schedule"),
		loader.Fn("dot_vals", dotVals, "Get all options whose names begin with a name and a dot.",
			"config.dot_vals host"),
		loader.Fn("items", items, "Get all options.", "config.items"),
	}
}

func others() []loader.Func {
	return []loader.Func{
		loader.Fn("backup_mode", backupMode,
			"Get the way files are backed up: the argument, else the option backup_mode.", "config.backup_mode"),
		loader.Fn("manage_mode", manageMode, "Write a file mode with four digits.", "config.manage_mode 644"),
		loader.Fn("valid_fileproto", validFileproto, "Tell whether files can be had by a URI of this kind.",
			"config.valid_fileproto salt://path/to/file"),
		loader.Fn("gather_bootstrap_script", gatherBootstrap,
			"Not offered: the bootstrap script belongs to salt-cloud, which is not part of this program.",
			"config.gather_bootstrap_script"),
	}
}

// defaults are what the reference answers for options nobody set.
func defaults() *payload.Map {
	return payload.M("mongo.db", "salt", "mongo.password", "", "mongo.port", int64(27017), "mongo.user", "",
		"redis.db", "0", "redis.host", "salt", "redis.port", int64(6379), "test.foo", "unconfigured",
		"ca.cert_base_path", "/etc/pki", "solr.cores", []any{}, "solr.host", "localhost", "solr.port", "8983",
		"solr.baseurl", "/solr", "solr.type", "master", "solr.request_timeout", nil,
		"solr.init_script", "/etc/rc.d/solr",
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
func items(c *loader.Call, _ struct{}) (any, error) {
	return loader.WithResources(c.Opts()).Set("grains", c.Grains()).Set("pillar", c.Pillar()), nil
}

type prefix struct {
	Name string `arg:"value"`
}

func dotVals(c *loader.Call, a prefix) (any, error) {
	out := payload.NewMap(0)
	for _, m := range []*payload.Map{masterOpts(c), c.Opts()} {
		for k, v := range m.All() {
			if name, ok := k.(string); ok && strings.HasPrefix(name, a.Name+".") {
				out.Set(k, v)
			}
		}
	}
	return out, nil
}

type backup struct {
	Mode any `arg:"backup=''"`
}

func backupMode(c *loader.Call, a backup) (any, error) {
	if python.Truth(a.Mode) {
		return a.Mode, nil
	}
	return c.Call("config.option", []any{"backup_mode"}, nil)
}

type fileMode struct {
	Mode any `arg:"mode"`
}

func manageMode(_ *loader.Call, a fileMode) (any, error) {
	if a.Mode == nil {
		return nil, nil
	}
	digits := strings.TrimLeft(strings.Trim(strings.Replace(python.Str(a.Mode), "0o", "0", 1), `"'`), "0")
	return strings.Repeat("0", max(0, 4-len(digits))) + digits, nil
}

type fileURI struct {
	URI string `arg:"uri"`
}

func validFileproto(_ *loader.Call, a fileURI) (bool, error) {
	u, err := url.Parse(a.URI)
	if err != nil {
		return false, nil
	}
	switch u.Scheme {
	case "salt", "http", "https", "swift", "s3", "file", "ftp":
		return true, nil
	}
	return false, nil
}

type bootstrap struct {
	Script any `arg:"bootstrap=None"`
}

func gatherBootstrap(*loader.Call, bootstrap) ([]any, error) {
	return []any{false, "config.gather_bootstrap_script is unavailable"}, nil
}
