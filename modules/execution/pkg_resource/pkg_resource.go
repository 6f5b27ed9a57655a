// Package pkg_resource is what all providers of module pkg have in common, and the functions of module pkg_resource:
// the packages that a call names, lists of versions, the mark that the lists of packages are to be fetched. It asks
// the provider by name (pkg.normalize_name, pkg.list_pkgs). It answers to salt/modules/pkg_resource.py and
// salt/utils/pkg/__init__.py.
package pkg_resource

import (
	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module pkg_resource.
func Module() loader.Module {
	return loader.Module{File: "pkg_resource", Virtual: loader.Always, Funcs: func() []loader.Func {
		return append(targetFuncs(), versionFuncs()...)
	}}
}

func targetFuncs() []loader.Func {
	return []loader.Func{
		loader.Fn("pack_sources", packSources, "Turn a list of one-key maps into one map of package files.",
			"pkg_resource.pack_sources '[{foo: salt://foo.deb}, {bar: salt://bar.deb}]'"),
		loader.Fn("parse_targets", parseTargets, "Tell which packages a call of a provider names.",
			"pkg_resource.parse_targets name=zsh").AsTuple(),
	}
}

func versionFuncs() []loader.Func {
	return []loader.Func{
		loader.Fn("version", version, "Show the installed version of packages, names or globs.",
			"pkg_resource.version zsh"),
		loader.Fn("add_pkg", addPkg, "Add a version to a map of packages. It returns nothing: it is for modules.",
			"pkg_resource.add_pkg '{}' bind 9"),
		loader.Fn("sort_pkglist", nothing[packages], "Sort the versions of a map of packages. It returns nothing: "+
			"it is for modules.", "pkg_resource.sort_pkglist '[\"3.45\", \"2.13\"]'"),
		loader.Fn("stringify", nothing[packages], "Join the versions of a map of packages. It returns nothing: "+
			"it is for modules.", "pkg_resource.stringify 'vim: 7.127'"),
		loader.Fn("version_clean", versionClean, "Clean a version as the provider wants it.",
			"pkg_resource.version_clean <version_string>"),
		loader.Fn("version_compare", versionCompare, "Compare two versions.",
			"pkg_resource.version_compare 1.0 '<' 2.0"),
		loader.Fn("check_extra_requirements", extraRequirements,
			"Tell whether the provider has further requirements that a version meets.",
			"pkg_resource.check_extra_requirements <pkgname> <extra_requirements>"),
		loader.Fn("format_pkg_list", formatList, "Show a map of packages as list_pkgs does.",
			"pkg_resource.format_pkg_list '{}' True None"),
		loader.Fn("format_version", formatVersion, "Put a version together.", "pkg_resource.format_version 1 2 3"),
	}
}

type packages struct {
	Packages any `arg:"pkgs"`
}

func nothing[A any](*loader.Call, A) (any, error) { return nil, nil }

type oneVersion struct {
	Packages any `arg:"pkgs"`
	Name     any `arg:"name"`
	Version  any `arg:"pkgver"`
}

func addPkg(*loader.Call, oneVersion) (any, error) { return nil, nil }

// Failure is the error of a provider: what went wrong, with errors, and what was done all the same.
func Failure(text string, info *payload.Map) error {
	full, brief := info.Clone(), info.Clone()
	changes, _ := info.Value("changes").(*payload.Map)
	brief.Delete("changes")
	out := &loader.CommandExecutionError{Message: withInfo(text, full), Changes: changes, Brief: text}
	if out.Changes == nil {
		out.Changes = payload.NewMap(0)
	}
	if brief.Len() > 0 {
		out.Brief = withInfo(text, brief)
	}
	return out
}
