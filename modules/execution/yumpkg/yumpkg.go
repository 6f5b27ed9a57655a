// Package yumpkg holds the functions of module pkg on Red Hat and its kin: packages that are installed, upgraded,
// removed, held, and repositories. It works with rpm and with dnf5, dnf, tdnf or yum, whichever is there. Groups,
// advisories and verification of files are not in it. It answers to salt/modules/yumpkg.py and salt/utils/pkg/rpm.py.
package yumpkg

import (
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is pkg for Red Hat.
func Module() loader.Module {
	return loader.Module{File: "yumpkg", Name: "pkg", Virtual: virtual, Funcs: func() []loader.Func {
		return slices.Concat(listers(), changers(), keepers())
	}}
}

// also are systems whose family is another one.
var also = []string{"amazon", "xcp", "xenserver", "virtuozzolinux", "virtuozzo", "issabel pbx", "openeuler",
	"vmware photon os"}

func virtual(p loader.Place) (bool, string) {
	family, _ := p.Grain("os_family")
	system, _ := p.Grain("os")
	low := func(v any) string { return strings.ToLower(loader.Text(v)) }
	if low(family) != "redhat" && !slices.Contains(also, low(system)) {
		return false, "Module yumpkg: no yum based system detected"
	}
	if manager() == "" {
		return false, "DNF nor YUM found"
	}
	return true, ""
}

// manager is the program that installs packages here.
func manager() string {
	for _, name := range []string{"dnf5", "dnf", "tdnf", "yum"} {
		if program.Which(name) != "" {
			return name
		}
	}
	return ""
}

// isDNF tells whether it is one of the newer programs.
func isDNF() bool { return slices.Contains([]string{"dnf", "dnf5"}, manager()) }

func listers() []loader.Func {
	const latestDoc = "Show the version that packages could be installed with or upgraded to; nothing where the newest " +
		"is there."
	return []loader.Func{
		loader.Fn("list_pkgs", listPkgs, "List the installed packages with their versions.", "pkg.list_pkgs"),
		loader.Fn("version", version, "Show the installed version of packages.", "pkg.version bash"),
		loader.Fn("version_cmp", versionCmp, "Compare two versions: -1, 0 or 1.",
			"pkg.version_cmp 0.2-001 0.2.0.1-002"),
		loader.Fn("normalize_name", normalizeName, "Strip the architecture from the name of a package when it is that "+
			"of the host.", "pkg.normalize_name zsh.x86_64"),
		loader.Fn("parse_arch", parseArch, "Split the name of a package from its architecture.",
			"pkg.parse_arch zsh.x86_64"),
		loader.Fn("latest_version", latestVersion, latestDoc, "pkg.latest_version bash"),
		loader.Fn("available_version", latestVersion, latestDoc, "pkg.available_version bash").Named("latest_version"),
		loader.Fn("upgrade_available", upgradeAvailable, "Tell whether a package can be upgraded.",
			"pkg.upgrade_available bash"),
		loader.Fn("list_upgrades", listUpgrades, "List the packages that can be upgraded.", "pkg.list_upgrades"),
		loader.Fn("list_updates", listUpgrades, "List the packages that can be upgraded.", "pkg.list_updates").
			Named("list_upgrades"),
		loader.Fn("list_repo_pkgs", listRepoPkgs, "List the versions that repositories have of packages.",
			"pkg.list_repo_pkgs foo bar"),
		loader.Fn("refresh_db", refreshDB, "Fetch the lists of packages; whether there are upgrades.", "pkg.refresh_db"),
		loader.Fn("clean_metadata", refreshDB, "Fetch the lists of packages.", "pkg.clean_metadata"),
	}
}

func changers() []loader.Func {
	return []loader.Func{
		loader.Fn("install", install, "Install packages, or upgrade them.", "pkg.install <package name>"),
		loader.Fn("upgrade", upgrade, "Upgrade all packages, or some.", "pkg.upgrade"),
		loader.Fn("update", update, "Upgrade all packages, or some; obsolete ones stay.", "pkg.update"),
		loader.Fn("remove", remove, "Remove packages.", "pkg.remove <package name>"),
		loader.Fn("purge", remove, "Remove packages.", "pkg.purge <package name>"),
		loader.Fn("hold", hold, "Hold packages at the version that is installed.", "pkg.hold <package name>"),
		loader.Fn("unhold", unhold, "Let packages be upgraded again.", "pkg.unhold <package name>"),
		loader.Fn("list_holds", listHolds, "List the packages that are held.", "pkg.list_holds"),
		loader.Fn("get_locked_packages", listHolds, "List the packages that are held.", "pkg.get_locked_packages").
			Named("list_holds"),
	}
}

func keepers() []loader.Func {
	return []loader.Func{
		loader.Fn("list_repos", listRepos, "List the repositories.", "pkg.list_repos"),
		loader.Fn("get_repo", getRepo, "Show a repository.", "pkg.get_repo myrepo"),
		loader.Fn("del_repo", delRepo, "Delete a repository.", "pkg.del_repo myrepo"),
		loader.Fn("mod_repo", modRepo, "Add a repository, or change it.",
			"pkg.mod_repo reponame enabled=1 gpgcheck=1"),
	}
}

// several are packages, and options as keywords.
type several struct {
	Names []any        `arg:"*names"`
	KW    *payload.Map `arg:"**kwargs"`
}

// call runs the program that installs packages, in a scope of its own where systemd has one.
func call(c *loader.Call, argv []string, more *payload.Map) (cmdmod.Output, error) {
	argv = append([]string{manager()}, argv...)
	if booted() && program.Which("systemd-run") != "" {
		v, err := c.Call("config.get", []any{"systemd.scope", true}, nil)
		if err == nil && python.Truth(v) {
			argv = append([]string{"systemd-run", "--scope"}, argv...)
		}
	}
	return cmdmod.RunAll(c, argv, more)
}

// options are the words of a command line that choose repositories.
func options(kw *payload.Map, extra bool) (out []string) {
	text := func(key string) string { return loader.Text(kw.Value(key)) }
	from := text("fromrepo")
	if from == "" {
		from = text("repo")
	}
	if from != "" {
		out = append(out, "--disablerepo=*", "--enablerepo="+from)
	} else {
		for _, key := range []string{"disablerepo", "enablerepo"} {
			list, isList := kw.Value(key).([]any)
			if !isList && python.Truth(kw.Value(key)) {
				list = []any{kw.Value(key)}
			}
			for _, v := range list {
				out = append(out, "--"+key+"="+python.Str(v))
			}
		}
	}
	for _, key := range []string{"disableexcludes", "branch"} {
		if v := text(key); v != "" {
			out = append(out, "--"+key+"="+v)
		}
	}
	for _, item := range loader.StringList(kw.Value("setopt")) {
		out = append(out, "--setopt="+item)
	}
	if extra {
		out = append(out, extraOptions(kw)...)
	}
	return out
}

// known are the keywords that are not further options of the program.
var known = []string{"fromrepo", "repo", "disablerepo", "enablerepo", "disableexcludes", "branch", "setopt",
	"get_extra_options"}

func extraOptions(kw *payload.Map) (out []string) {
	for v, value := range kw.All() {
		key := python.Str(v)
		text, isText := value.(string)
		switch {
		case slices.Contains(known, key) || strings.HasPrefix(key, "__"):
		case isText:
			out = append(out, "--"+key+"="+text)
		case value == any(true):
			out = append(out, "--"+key)
		}
	}
	slices.Sort(out)
	return out
}
