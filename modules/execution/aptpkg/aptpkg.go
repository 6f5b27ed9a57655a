// Package aptpkg holds the functions of module pkg on Debian and its kin that change no package: what is installed, what
// could be, what belongs to what. On other systems it does not load, and says so. It asks dpkg and apt, as the reference
// does, and answers to salt/modules/aptpkg.py, and to what that takes from pkg_resource.py and dpkg_lowpkg.py.
package aptpkg

import (
	"brine/modules/loader"
)

// name is the module's among functions, file its own.
const (
	name = "pkg"
	file = "aptpkg"
)

// Module is pkg for Debian.
func Module() loader.Module {
	return loader.Module{File: file, Name: name, Virtual: virtual, Funcs: func() []loader.Func { return append(installed(), available()...) }}
}

// virtual goes by the grain alone, as the reference: a host whose family is not known as Debian's has it set in its
// configuration.
func virtual(p loader.Place) (bool, string) {
	if family, _ := p.Grain("os_family"); family == "Debian" {
		return true, ""
	}
	return false, "The pkg module could not be loaded: unsupported OS family"
}

func installed() []loader.Func {
	return []loader.Func{
		{Name: "pkg.list_pkgs", Params: []loader.Param{loader.Opt("versions_as_list", false), loader.Opt("removed", false),
			loader.Opt("purge_desired", false)}, KWArgs: true, Run: listPkgs, Doc: `List the installed packages with their versions.

CLI Example:

    salt '*' pkg.list_pkgs
    salt '*' pkg.list_pkgs versions_as_list=True`},
		{Name: "pkg.version", VarArgs: true, KWArgs: true, Run: version, Doc: `Show the installed version of packages, names or globs; nothing for one that is not installed.

CLI Example:

    salt '*' pkg.version bash
    salt '*' pkg.version bash 'lib*'`},
		{Name: "pkg.version_cmp", Params: []loader.Param{loader.Req("pkg1"), loader.Req("pkg2"), loader.Opt("ignore_epoch", false)},
			KWArgs: true, Run: versionCmp, Doc: `Compare two versions: -1, 0 or 1, and None for what is no version.

CLI Example:

    salt '*' pkg.version_cmp 0.2.4-0 0.2.4.1-0`},
		{Name: "pkg.owner", VarArgs: true, KWArgs: true, Run: owner, Doc: `Show which package a file is of; nothing for a file of none.

CLI Example:

    salt '*' pkg.owner /bin/bash`},
		{Name: "pkg.file_list", VarArgs: true, KWArgs: true, Run: fileList, Doc: `List the files of packages; without a name those of all.

CLI Example:

    salt '*' pkg.file_list bash`},
		{Name: "pkg.file_dict", VarArgs: true, KWArgs: true, Run: fileDict, Doc: `List the files of packages, package by package.

CLI Example:

    salt '*' pkg.file_dict bash dash`},
		{Name: "pkg.get_selections", Params: []loader.Param{loader.Opt("pattern", nil), loader.Opt("state", nil)}, Run: selections, Doc: `Show which packages are selected for what.

CLI Example:

    salt '*' pkg.get_selections
    salt '*' pkg.get_selections 'openssh*' state=hold`},
		{Name: "pkg.normalize_name", Params: []loader.Param{loader.Req("name")}, Run: normalizeName, Doc: `Strip the architecture from the name of a package when it is that of the host.

CLI Example:

    salt '*' pkg.normalize_name zsh:amd64`},
		{Name: "pkg.parse_arch", Params: []loader.Param{loader.Req("name")}, Run: parseArch, Doc: `Split the name of a package from its architecture.

CLI Example:

    salt '*' pkg.parse_arch zsh:amd64`},
	}
}

func available() []loader.Func {
	latest := loader.Func{Name: "pkg.latest_version", VarArgs: true, KWArgs: true, Run: latestVersion, Doc: `Show the version that packages could be installed with or upgraded to; nothing where the newest is there. The lists of
packages are fetched first, unless refresh is False.

CLI Example:

    salt '*' pkg.latest_version bash
    salt '*' pkg.latest_version bash zsh refresh=False`}
	other := latest
	other.Name, other.PyName = "pkg.available_version", "latest_version"
	return []loader.Func{latest, other,
		{Name: "pkg.upgrade_available", Params: []loader.Param{loader.Req("name")}, KWArgs: true, Run: upgradeAvailable, Doc: `Tell whether a package can be upgraded.

CLI Example:

    salt '*' pkg.upgrade_available bash`},
		{Name: "pkg.list_upgrades", Params: []loader.Param{loader.Opt("refresh", true), loader.Opt("dist_upgrade", true)}, KWArgs: true,
			Run: listUpgrades, Doc: `List the packages that can be upgraded, with their new versions.

CLI Example:

    salt '*' pkg.list_upgrades refresh=False`},
		{Name: "pkg.refresh_db", Params: []loader.Param{loader.Opt("cache_valid_time", int64(0)), loader.Opt("failhard", false)}, KWArgs: true,
			Run: refreshDB, Doc: `Fetch the lists of packages from their repositories.

CLI Example:

    salt '*' pkg.refresh_db`},
	}
}
