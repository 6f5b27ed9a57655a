package dpkg_lowpkg

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// endOfPackage stands between two packages in what dpkg-query writes.
const endOfPackage = `*/~^\*`

// fields are what dpkg-query is asked of a package, in this order; the description, which has several lines, is last.
var fields = [][2]string{{"package", "${Package}"}, {"revision", "${binary:Revision}"},
	{"architecture", "${Architecture}"}, {"maintainer", "${Maintainer}"}, {"summary", "${Summary}"},
	{"source", "${source:Package}"}, {"version", "${Version}"}, {"section", "${Section}"}, {"size", "${Size}"},
	{"MD5", "${MD5sum}"}, {"SHA1", "${SHA1}"}, {"SHA256", "${SHA256}"}, {"origin", "${Origin}"},
	{"homepage", "${Homepage}"}, {"status", "${db:Status-Abbrev}"}, {"install_date", "${db-fsys:Last-Modified}"},
	{"description", "${Description}"}}

func info(c *loader.Call, a Several) (*payload.Map, error) { return Info(c, a.Names, a.KW) }

// Info tells what dpkg knows of packages. Unlike Salt: what dselect once fetched is not added to it.
func Info(c *loader.Call, names []any, kw *payload.Map) (*payload.Map, error) {
	kw = loader.CleanKWArgs(kw)
	failHard, given := kw.Get("failhard")
	kw.Delete("failhard")
	if kw.Len() > 0 {
		return nil, loader.InvalidKeywords(invalid(kw))
	}
	format := ""
	for _, f := range fields {
		format += f[0] + ":" + f[1] + "\\n"
	}
	argv, err := query(format+"\\n"+strings.ReplaceAll(endOfPackage, `\`, `\\`)+"\\n", names)
	if err != nil {
		return nil, err
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	all := payload.NewMap(0)
	if out.Code != 0 {
		if !given || python.Truth(failHard) {
			return nil, loader.ExecErr("Error getting packages information: %s", out.Stderr)
		}
		return all, nil
	}
	for _, text := range strings.Split(out.Stdout, "\n"+endOfPackage) {
		if text = strings.TrimPrefix(text, "\n"); strings.TrimSpace(text) != "" {
			one := packageOf(text)
			all.Set(one.Value("package"), one)
		}
	}
	return all, nil
}

func invalid(kw *payload.Map) (out []string) {
	for key, v := range kw.All() {
		out = append(out, fmt.Sprintf("%s=%s", python.Str(key), python.Str(v)))
	}
	return out
}

func packageOf(text string) *payload.Map {
	head, description, _ := strings.Cut(text, "\ndescription:")
	one := payload.NewMap(0)
	for line := range strings.Lines(head) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if seconds, err := strconv.ParseInt(value, 10, 64); key == "install_date" {
			if value = ""; err == nil {
				value = time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05Z")
			}
		}
		if ok && value != "" {
			one.Set(key, value)
		}
	}
	one.Set("description", description)
	if words := license(one.Str("package")); words != "" {
		one.Set("license", words)
	}
	return one
}

// license are the licenses that the copyright file of a package names.
func license(name string) string {
	if strings.ContainsRune(name, '/') {
		return ""
	}
	f, err := os.Open("/usr/share/doc/" + name + "/copyright")
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 4 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if of, ok := strings.CutPrefix(line, "License:"); ok {
			found = append(found, strings.TrimSpace(of))
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", ")
}

// unpurge changes the selection of packages from purge to install. Unlike Salt: of several packages, too.
func unpurge(c *loader.Call, a struct {
	Names []any `arg:"*packages"`
}) (*payload.Map, error) {
	if len(a.Names) == 0 {
		return payload.NewMap(0), nil
	}
	lines := ""
	for _, v := range a.Names {
		name := python.Str(v)
		if name == "" || strings.ContainsFunc(name, python.IsSpace) {
			return nil, loader.ExecErr("%s is no name of a package", python.Repr(name))
		}
		lines += name + " install\n"
	}
	list := func() (*payload.Map, error) {
		v, err := c.Call("pkg.list_pkgs", nil, payload.M("purge_desired", true))
		m, _ := v.(*payload.Map)
		return m, err
	}
	old, err := list()
	if err != nil {
		return nil, err
	}
	if _, err := cmdmod.Run(c, []string{"dpkg", "--set-selections"}, payload.M("stdin", lines)); err != nil {
		return nil, err
	}
	now, err := list()
	return pkg_resource.Compare(old, now), err
}
