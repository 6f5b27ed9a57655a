// Package dpkg_lowpkg holds the functions of module lowpkg on Debian and its kin: what dpkg itself knows of packages
// that are installed and of package files. It answers to salt/modules/dpkg_lowpkg.py.
package dpkg_lowpkg

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is lowpkg for Debian.
func Module() loader.Module {
	return loader.Module{File: "dpkg_lowpkg", Name: "lowpkg", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("bin_pkg_info", binInfo, "Show the name, version and architecture of a package file.",
				"lowpkg.bin_pkg_info /root/foo-1.2.3-1ubuntu1_all.deb",
				"lowpkg.bin_pkg_info salt://foo-1.2.3-1ubuntu1_all.deb"),
			loader.Fn("unpurge", unpurge, "Change packages that are selected to be purged to be installed.",
				"lowpkg.unpurge curl"),
			loader.Fn("list_pkgs", listPkgs, "List the installed packages with their versions.",
				"lowpkg.list_pkgs", "lowpkg.list_pkgs httpd"),
			loader.Fn("file_list", FileList, "List the files of packages; without a name those of all.",
				"lowpkg.file_list httpd"),
			loader.Fn("file_dict", FileDict, "List the files of packages, package by package.",
				"lowpkg.file_dict httpd postfix"),
			loader.Fn("info", info, "Show what dpkg knows of packages; without a name of all.", "lowpkg.info",
				"lowpkg.info apache2 bash"),
		}
	}}
}

func virtual(p loader.Place) (bool, string) {
	if family, _ := p.Grain("os_family"); family == "Debian" {
		return true, ""
	}
	return false, "The dpkg execution module cannot be loaded: only works on Debian family systems."
}

// Several are packages, and options as keywords.
type Several struct {
	Names []any        `arg:"*packages"`
	KW    *payload.Map `arg:"**kwargs"`
}

type binFile struct {
	Path    string `arg:"path"`
	Saltenv any    `arg:"saltenv=base"`
}

func binInfo(c *loader.Call, a binFile) (*payload.Map, error) { return BinInfo(c, a.Path, a.Saltenv) }

// BinInfo tells name, version and architecture of a package file, which may be one of the file server.
func BinInfo(c *loader.Call, path string, saltenv any) (*payload.Map, error) {
	path, err := local(c, path, saltenv)
	if err != nil {
		return nil, err
	}
	out, err := cmdmod.RunAll(c, []string{"dpkg", "-I", path}, nil)
	if err != nil {
		return nil, err
	}
	if out.Code != 0 {
		text := "Unable to get info for " + path
		if out.Stderr != "" {
			text += ": " + out.Stderr
		}
		return nil, loader.ExecErr("%s", text)
	}
	keys, found := map[string]string{"Package": "name", "Version": "version", "Architecture": "arch"}, payload.NewMap(3)
	for _, line := range out.Lines() {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		key := keys[strings.TrimRight(field, " ")]
		if words := strings.Fields(value); key != "" && len(words) > 0 {
			found.Set(key, words[len(words)-1])
		}
	}
	var missing []string
	for _, key := range []string{"name", "version", "arch"} {
		if !found.Has(key) {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return nil, loader.ExecErr("Unable to get %s for %s", strings.Join(missing, ", "), path)
	}
	cpu, _ := c.Grain("cpuarch")
	own, _ := c.Grain("osarch")
	if arch := found.Str("arch"); cpu == "x86_64" && own == "amd64" && arch != "all" && arch != "amd64" {
		found.Set("name", found.Str("name")+":"+arch)
	}
	return found, nil
}

// local is the path of a package file on this machine.
func local(c *loader.Call, path string, saltenv any) (string, error) {
	remote, err := c.Call("config.valid_fileproto", []any{path}, nil)
	if err != nil {
		return "", err
	}
	if python.Truth(remote) {
		cached, err := c.Call("cp.cache_file", []any{path, saltenv}, nil)
		if err == nil && !python.Truth(cached) {
			err = loader.ExecErr("Unable to retrieve %s from saltenv '%s'", path, python.Str(saltenv))
		}
		return loader.Text(cached), err
	}
	if _, err := os.Stat(path); err != nil {
		return "", loader.ExecErr("%s does not exist on minion", path)
	}
	if !filepath.IsAbs(path) {
		return "", loader.InvocErr("%s does not exist on minion", path)
	}
	return path, nil
}

// listPkgs lists what is installed. Where dpkg-query knows a name not, its text is returned.
func listPkgs(c *loader.Call, a Several) (any, error) {
	argv, err := query("${db:Status-Status}\t${binary:Package}\t${Version}\n", a.Names)
	if err != nil {
		return nil, err
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	if out.Code != 0 {
		text := "Error:  " + out.Stderr
		c.Log(slog.LevelError, text)
		return text, nil
	}
	found := payload.NewMap(0)
	for _, line := range out.Lines() {
		if cols := strings.Split(line, "\t"); len(cols) == 3 && cols[0] == "installed" {
			found.Set(cols[1], cols[2])
		}
	}
	return found, nil
}

// query is a call of dpkg-query for packages.
func query(format string, names []any) ([]string, error) {
	argv := []string{"dpkg-query", "-f=" + format, "-W"}
	for _, v := range names {
		if err := cmdmod.Operand(python.Str(v)); err != nil {
			return nil, err
		}
		argv = append(argv, python.Str(v))
	}
	return argv, nil
}
