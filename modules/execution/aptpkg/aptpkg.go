// Package aptpkg holds the functions of module pkg on Debian and its kin that change no package: what is installed,
// what could be, what belongs to what. On other systems it does not load, and says so. It asks dpkg and apt, as the
// reference does. It answers to salt/modules/aptpkg.py, and to what that takes from pkg_resource.py and dpkg_lowpkg.py.
package aptpkg

import (
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is pkg for Debian.
func Module() loader.Module {
	return loader.Module{File: "aptpkg", Name: "pkg", Virtual: virtual, Funcs: func() []loader.Func {
		return slices.Concat(installed(), words(), available())
	}}
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
		loader.Fn("list_pkgs", listPkgs, "List the installed packages with their versions.",
			"pkg.list_pkgs",
			"pkg.list_pkgs versions_as_list=True"),
		loader.Fn("version", version,
			"Show the installed version of packages, names or globs; nothing for one that is not installed.",
			"pkg.version bash",
			"pkg.version bash 'lib*'"),
		loader.Fn("owner", owner, "Show which package a file is of; nothing for a file of none.",
			"pkg.owner /bin/bash"),
		loader.Fn("file_list", fileList, "List the files of packages; without a name those of all.",
			"pkg.file_list bash"),
		loader.Fn("file_dict", fileDict, "List the files of packages, package by package.",
			"pkg.file_dict bash dash"),
		loader.Fn("get_selections", selections, "Show which packages are selected for what.",
			"pkg.get_selections",
			"pkg.get_selections 'openssh*' state=hold"),
	}
}

// words are functions of names and versions.
func words() []loader.Func {
	return []loader.Func{
		loader.Fn("version_cmp", versionCmp, "Compare two versions: -1, 0 or 1, and None for what is no version.",
			"pkg.version_cmp 0.2.4-0 0.2.4.1-0"),
		loader.Fn("normalize_name", normalizeName,
			"Strip the architecture from the name of a package when it is that of the host.",
			"pkg.normalize_name zsh:amd64"),
		loader.Fn("parse_arch", parseArch, "Split the name of a package from its architecture.",
			"pkg.parse_arch zsh:amd64"),
	}
}

func available() []loader.Func {
	const latestDoc = "Show the version that packages could be installed with or upgraded to; " +
		"nothing where the newest is there. The lists of\npackages are fetched first, unless refresh is False."
	examples := []string{"pkg.latest_version bash", "pkg.latest_version bash zsh refresh=False"}
	return []loader.Func{
		loader.Fn("latest_version", latestVersion, latestDoc, examples...),
		loader.Fn("available_version", latestVersion, latestDoc, examples...).Named("latest_version"),
		loader.Fn("upgrade_available", upgradeAvailable, "Tell whether a package can be upgraded.",
			"pkg.upgrade_available bash"),
		loader.Fn("list_upgrades", listUpgrades, "List the packages that can be upgraded, with their new versions.",
			"pkg.list_upgrades refresh=False"),
		loader.Fn("refresh_db", refreshDB, "Fetch the lists of packages from their repositories.", "pkg.refresh_db"),
	}
}

// several are packages or files, and options as keywords.
type several struct {
	Names []any        `arg:"*names"`
	KW    *payload.Map `arg:"**kwargs"`
}
