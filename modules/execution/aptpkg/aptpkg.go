// Package aptpkg holds the functions of module pkg on Debian and its kin: packages that are installed, upgraded,
// removed, held; repositories and their keys; what is installed, what could be, what belongs to what. On other systems
// it does not load, and says so. It asks dpkg and apt, as the reference does. It answers to salt/modules/aptpkg.py.
package aptpkg

import (
	"slices"

	"brine/modules/execution/dpkg_lowpkg"
	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is pkg for Debian.
func Module() loader.Module {
	return loader.Module{File: "aptpkg", Name: "pkg", Virtual: virtual, Funcs: func() []loader.Func {
		return slices.Concat(installed(), words(), available(), changers(), selectors(), keepers(), tellers())
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
		loader.Fn("file_list", dpkg_lowpkg.FileList, "List the files of packages; without a name those of all.",
			"pkg.file_list bash"),
		loader.Fn("file_dict", dpkg_lowpkg.FileDict, "List the files of packages, package by package.",
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

// changers are the functions that change packages.
func changers() []loader.Func {
	return []loader.Func{
		loader.Fn("install", install, "Install packages, or upgrade them. It returns what is other than before.",
			"pkg.install <package name>", "pkg.install pkgs='[\"foo\", {\"bar\": \"1.2.3-0ubuntu0\"}]'",
			"pkg.install sources='[{\"foo\": \"salt://foo.deb\"}]'"),
		loader.Fn("remove", remove, "Remove packages. Their configuration stays.", "pkg.remove <package name>",
			"pkg.remove pkgs='[\"foo\", \"bar\"]'"),
		loader.Fn("purge", purge, "Remove packages with their configuration.", "pkg.purge <package name>"),
		loader.Fn("autoremove", autoremove, "Remove packages that were installed for others and are needed no more.",
			"pkg.autoremove list_only=True", "pkg.autoremove purge=True"),
		loader.Fn("upgrade", upgrade, "Upgrade all packages.", "pkg.upgrade"),
	}
}

// selectors are the functions that say what dpkg is to do with packages.
func selectors() []loader.Func {
	return []loader.Func{
		loader.Fn("hold", hold, "Hold packages at the version that is installed.", "pkg.hold <package name>"),
		loader.Fn("unhold", unhold, "Let packages be upgraded again.", "pkg.unhold <package name>"),
		loader.Fn("set_selections", selectPackages, "Select packages for something: install, hold, deinstall, purge.",
			"pkg.set_selections selection='{\"install\": [\"netcat\"]}'", "pkg.set_selections salt://path/to/file"),
	}
}

// keepers are the functions of repositories and their keys.
func keepers() []loader.Func {
	return []loader.Func{
		loader.Fn("list_repos", listRepos, "List the repositories, by URI.", "pkg.list_repos"),
		loader.Fn("get_repo", getRepo, "Show a repository; nothing for one that is not in the lists.",
			"pkg.get_repo 'deb http://deb.debian.org/debian bookworm main'"),
		loader.Fn("del_repo", delRepo, "Take a repository out of the lists.",
			"pkg.del_repo 'deb http://deb.debian.org/debian bookworm main'"),
		loader.Fn("mod_repo", modRepo, "Add a repository to the lists, or change it.",
			"pkg.mod_repo 'deb http://deb.debian.org/debian bookworm main' comps=main,contrib"),
		loader.Fn("get_repo_keys", getRepoKeys, "List the keys of repositories.", "pkg.get_repo_keys"),
		loader.Fn("add_repo_key", addRepoKey, "Add a key of repositories.",
			"pkg.add_repo_key 'salt://apt/sources/test.key'", "pkg.add_repo_key keyserver='pgp.example.com' keyid='0ABC'"),
		loader.Fn("del_repo_key", delRepoKey, "Remove a key of repositories.", "pkg.del_repo_key keyid=0123ABCD"),
	}
}

// tellers are the functions that tell more of packages.
func tellers() []loader.Func {
	return []loader.Func{
		loader.Fn("list_repo_pkgs", listRepoPkgs, "List the versions that repositories have of packages.",
			"pkg.list_repo_pkgs", "pkg.list_repo_pkgs foo bar"),
		loader.Fn("show", show, "Show what repositories tell of packages, by name and version.",
			"pkg.show libatlas-base-dev filter=description,maintainer"),
		loader.Fn("info_installed", infoInstalled, "Show what dpkg knows of installed packages.",
			"pkg.info_installed <package1> <package2>"),
		loader.Fn("list_downloaded", listDownloaded, "List the package files in the cache of apt.",
			"pkg.list_downloaded"),
		loader.Fn("services_need_restart", servicesNeedRestart,
			"List services whose files were replaced while they ran (checkrestart).", "pkg.services_need_restart"),
		loader.Fn("which", which, "Tell of which package a file is.", "pkg.which /usr/bin/apt"),
	}
}
