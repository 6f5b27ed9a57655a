package archive

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

type cached struct {
	Saltenv string `arg:"saltenv=base"`
	Hash    any    `arg:"source_hash=None"`
	ETag    bool   `arg:"use_etag=False"`
}

// fetch is the path of an archive in the cache, or of this machine.
func (a cached) fetch(c *loader.Call, name string) (string, error) {
	v, err := c.Call("cp.cache_file", []any{name, a.Saltenv}, payload.M("source_hash", a.Hash, "use_etag", a.ETag))
	if err != nil {
		return "", err
	}
	if !python.Truth(v) {
		return "", loader.ExecErr("Failed to cache %s", name)
	}
	return python.Str(v), nil
}

type listArgs struct {
	Name    string `arg:"name"`
	Format  any    `arg:"archive_format=None"`
	Options any    `arg:"options=None"`
	Strip   any    `arg:"strip_components=None"`
	Clean   bool   `arg:"clean=False"`
	Verbose bool   `arg:"verbose=False"`
	cached
}

func list(c *loader.Call, a listArgs) (any, error) {
	file, err := a.fetch(c, a.Name)
	if err != nil {
		return nil, err
	}
	l, err := a.listing(c, file)
	if err != nil {
		return nil, at(file, err)
	}
	if a.Clean {
		_ = os.Remove(file)
	}
	if a.Verbose {
		return l.Map(), nil
	}
	all := slices.Concat(l.Dirs, l.Files, l.Links)
	slices.Sort(all)
	return payload.AnyList(all), nil
}

// at adds the place of an archive to an error, in Salt's form.
func at(file string, err error) error {
	var e *loader.CommandExecutionError
	if !errors.As(err, &e) {
		return err
	}
	text := e.Message
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".?!") {
		text += "."
	}
	return loader.ExecErr("%s Additional info follows:\n\narchive location:\n    %s", text, file)
}

func (a listArgs) listing(c *loader.Call, file string) (*Contents, error) {
	strip := int64(0)
	if python.Truth(a.Strip) {
		n, err := loader.ToInt(a.Strip)
		if err != nil || n <= 0 {
			return nil, loader.ExecErr("'strip_components' must be a positive integer")
		}
		strip = n
	}
	form := loader.Text(a.Format)
	if form == "" {
		if form = Guess(pathOf(a.Name)); form == "" {
			return nil, loader.ExecErr("Unable to guess archive format, please pass an 'archive_format' argument.")
		}
	}
	l, err := List(c, a.Name, file, form, a.Options)
	if err != nil {
		return nil, err
	}
	l.Strip(strip)
	return l, nil
}

// pathOf is the path in a URL, or its host where it has none.
func pathOf(name string) string {
	u, err := url.Parse(name)
	switch {
	case err != nil:
		return name
	case u.Path != "":
		return u.Path
	case u.Opaque != "":
		return u.Opaque
	}
	return u.Host
}

// Guess is the form of an archive by its name: tar, zip or rar, "" for another.
func Guess(name string) string {
	name = strings.ToLower(name)
	for _, end := range []string{"tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tbz", "tar.xz", "txz", "tar.lzma", "tlz"} {
		if strings.HasSuffix(name, "."+end) {
			return "tar"
		}
	}
	for _, end := range []string{"zip", "rar"} {
		if strings.HasSuffix(name, "."+end) {
			return end
		}
	}
	return ""
}

// List reads the names in an archive. name is what it is called in errors; options is a command that uncompresses it.
func List(c *loader.Call, name, file, form string, options any) (*Contents, error) {
	switch form {
	case "tar", "zip":
	case "rar":
		return listRar(c, name)
	default:
		return nil, loader.ExecErr("Unsupported archive format '%s'", form)
	}
	l, err := Scan(c.Ctx, file, form)
	switch {
	case err == nil:
		return l, nil
	case c.Ctx.Err() != nil:
		return nil, err
	case err == errTruncated:
		return nil, loader.ExecErr("Uncaught exception '%v' when listing contents of %s", err, name)
	case errors.As(err, new(*fs.PathError)):
		return nil, loader.ExecErr("Failed to list contents of %s: %s", name, osText(err))
	case form == "zip" && errors.Is(err, errForm):
		return nil, loader.ExecErr("%s is not a ZIP file", name)
	case form == "tar" && python.Truth(options):
		return nil, loader.ExecErr("Unable to list contents of %s: %v. The argument 'options' of archive.list and "+
			"'list_options' of archive.extracted, a command that uncompresses, is not supported on this minion", name,
			err)
	case form == "tar":
		return nil, loader.ExecErr("Unable to list contents of %s. If this is an XZ-compressed tar archive, install "+
			"XZ Utils "+
			"to enable listing its contents. If it is compressed using something other than XZ, it may be necessary "+
			"to "+
			"specify CLI options to decompress the archive. See the documentation for details.", name)
	}
	return nil, loader.ExecErr("Failed to list contents of %s: %v", name, err)
}

var rarLines = pattern.New(`Name:\s*([^\n]+)\s*Type:\s*([^\n]+)`)

// listRar asks rar.
func listRar(c *loader.Call, name string) (*Contents, error) {
	if which(c, "rar") == "" {
		return nil, loader.ExecErr("rar command not available, is it installed?")
	}
	if err := cmdmod.Operand(name); err != nil {
		return nil, err
	}
	text, err := cmdmod.Run(c, []string{"rar", "lt", name}, nil)
	if err != nil {
		return nil, err
	}
	l := &Contents{}
	for _, m := range rarLines.FindAllStringSubmatch(text, -1) {
		if m[2] == "Directory" {
			l.Dirs = append(l.Dirs, m[1]+"/")
		} else {
			l.Files = append(l.Files, m[1])
		}
		l.Harm = firstOf(l.Harm, func() error { return checkName(m[1]) })
	}
	if len(l.Dirs)+len(l.Files) == 0 {
		return nil, loader.ExecErr("Failed to list %s, is it a rar file? If so, the installed version of rar may be "+
			"too old to "+
			"list data in a parsable format. Installing the rarfile Python module may be an easier workaround if "+
			"newer rar "+
			"is not readily available.", name)
	}
	return l, nil
}

// Strip takes leading parts off all names, and drops those that have no more.
func (l *Contents) Strip(count int64) {
	if count == 0 {
		return
	}
	for _, names := range []*[]string{&l.Dirs, &l.Files, &l.Links} {
		var out []string
		for _, name := range *names {
			parts := strings.SplitN(name, "/", int(count)+1)
			if len(parts) > int(count) && parts[count] != "" {
				out = append(out, parts[count])
			}
		}
		slices.Sort(out)
		*names = out
	}
}

// Map are the contents as the function shows them.
func (l *Contents) Map() *payload.Map {
	slices.Sort(l.Dirs)
	slices.Sort(l.Files)
	slices.Sort(l.Links)
	return payload.M("dirs", payload.AnyList(l.Dirs), "files", payload.AnyList(l.Files), "links",
		payload.AnyList(l.Links),
		"top_level_dirs", payload.AnyList(l.TopDirs()), "top_level_files", payload.AnyList(l.Top(l.Files)),
		"top_level_links", payload.AnyList(l.Top(l.Links)))
}

// Top are the names that are in no directory.
func (l *Contents) Top(names []string) []string {
	out := []string{}
	for _, name := range names {
		if !strings.Contains(name, "/") {
			out = append(out, name)
		}
	}
	return out
}

// TopDirs are the directories that are in no other, the one that all names have in common among them.
func (l *Contents) TopDirs() []string {
	out := []string{}
	for _, name := range l.Dirs {
		if strings.Count(name, "/") == 1 {
			out = append(out, name)
		}
	}
	first, _, nested := strings.Cut(commonPrefix(slices.Concat(l.Dirs, l.Files, l.Links)), "/")
	if nested && !slices.Contains(out, first+"/") {
		out = append(out, first+"/")
	}
	return out
}

func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	low, high := slices.Min(names), slices.Max(names)
	for i := range len(low) {
		if i >= len(high) || low[i] != high[i] {
			return low[:i]
		}
	}
	return low
}

func isEncrypted(c *loader.Call, a struct {
	Name  string `arg:"name"`
	Clean bool   `arg:"clean=False"`
	cached
}) (bool, error) {
	file, err := a.fetch(c, a.Name)
	if err != nil {
		return false, err
	}
	l, err := scanZip(file)
	switch {
	case errors.Is(err, errForm):
		return false, at(file, loader.ExecErr("%s is not a ZIP file", a.Name))
	case err != nil:
		return false, at(file, loader.ExecErr("%s", osText(err)))
	}
	if a.Clean {
		_ = os.Remove(file)
	}
	return l.Encrypted, nil
}
