// Package pkg is the state module pkg: packages that are installed, the newest, removed, purged, held. It asks the
// provider of the host by name (pkg.install, pkg.list_pkgs, ...), so that apt, dnf and others are alike to it. Answers
// to salt/states/pkg.py.
package pkg

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
)

// Module is the state module pkg.
func Module() loader.Module {
	return loader.Module{File: "pkg", Virtual: virtual, Funcs: func() []loader.Func {
		return append(append(watched(), others()...), hooks()...)
	}}
}

func virtual(p loader.Place) (bool, string) {
	if p.Has("pkg.install") {
		return true, ""
	}
	return false, "pkg module could not be loaded"
}

// watched are the functions that a watch runs again.
func watched() []loader.Func {
	return []loader.Func{
		states.Fn("installed", installed, "Ensure that packages are installed, of a version if one is given.",
			"vim:", "  pkg.installed: []"),
		states.Fn("latest", latest, "Ensure that packages are installed and the newest.", "bash:", "  pkg.latest: []"),
		states.Fn("removed", removed, "Ensure that packages are not installed.", "nano:", "  pkg.removed: []"),
		states.Fn("purged", purged, "Ensure that packages are not installed, and left no configuration.",
			"nano:", "  pkg.purged: []"),
	}
}

func others() []loader.Func {
	return []loader.Func{
		states.Fn("downloaded", downloaded, "Ensure that packages are downloaded.", "zsh:",
			"  pkg.downloaded: []"),
		states.Fn("patch_installed", patchInstalled, "Ensure that packages of advisories are installed.",
			"issue-foo-fixed:", "  pkg.patch_installed:", "    - advisory_ids: [SUSE-SLE-SERVER-12-SP2-2017-185]"),
		states.Fn("patch_downloaded", patchDownloaded, "Ensure that packages of advisories are downloaded.",
			"preparing-to-fix-issues:", "  pkg.patch_downloaded: []"),
		states.Fn("uptodate", uptodate, "Ensure that all packages are the newest.", "update_pkg:",
			"  pkg.uptodate:", "    - refresh: True"),
		states.Fn("group_installed", groupInstalled, "Ensure that a group of packages is installed.",
			"Load Balancer:", "  pkg.group_installed: []"),
		states.Fn("held", held, "Ensure that packages stay at the version that is installed.", "zsh:",
			"  pkg.held: []"),
		states.Fn("unheld", unheld, "Ensure that packages are upgraded with the others.", "zsh:", "  pkg.unheld: []"),
	}
}

// salt calls a function of the provider that returns a map.
func salt(c *states.Call, name string, kw *payload.Map, args ...any) (*payload.Map, error) {
	v, err := c.Salt(name, kw, args...)
	m, _ := v.(*payload.Map)
	return m, err
}
