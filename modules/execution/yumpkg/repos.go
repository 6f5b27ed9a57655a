package yumpkg

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// configs are where the program may have its configuration; the first one counts.
var configs = []string{"/etc/yum/yum.conf", "/etc/yum.conf", "/etc/dnf/dnf.conf", "/etc/tdnf/tdnf.conf"}

// most is how long a file may be, in bytes.
const most = 4 << 20

func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	return string(text), err
}

// directories are where files of repositories are.
func directories(basedir any) ([]string, error) {
	if python.Truth(basedir) {
		return loader.StringList(basedir), nil
	}
	for _, path := range configs {
		text, err := readFile(path)
		if err != nil {
			continue
		}
		_, sections, err := parseINI(text)
		if err != nil {
			return nil, err
		}
		main, _ := sections.Value("main").(*payload.Map)
		if v, given := main.Get("reposdir"); given {
			return loader.StringList(v), nil
		}
		return []string{"/etc/yum/repos.d", "/etc/yum.repos.d"}, nil
	}
	quoted := make([]string, len(configs))
	for i, path := range configs {
		quoted[i] = python.Repr(path)
	}
	return nil, loader.ExecErr("No suitable yum config file found in: (%s)", strings.Join(quoted, ", "))
}

// parseINI reads a file of repositories: comments before the first section, and sections with their values as they are
// written. A section that is there twice, or a line that is none of these, is an error.
func parseINI(text string) (header string, sections *payload.Map, err error) {
	sections = payload.NewMap(0)
	var at *payload.Map
	key := ""
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		name, value, hasValue := strings.Cut(line, "=")
		if i := strings.IndexAny(line, "=:"); i >= 0 {
			name, value, hasValue = line[:i], line[i+1:], true
		}
		switch {
		case line == "" || strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, "#") && at == nil:
			header += line + "\n"
		case strings.HasPrefix(line, "#"):
			comments, _ := at.Value("comments").([]any)
			at.Set("comments", append(comments, strings.TrimLeft(line[1:], " \t")))
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			id := line[1 : len(line)-1]
			if sections.Has(id) {
				return "", nil, fmt.Errorf("section %s is there twice", python.Repr(id))
			}
			at, key = payload.NewMap(0), ""
			sections.Set(id, at)
		case at == nil:
			return "", nil, fmt.Errorf("no section before %s", python.Repr(line))
		case (raw[0] == ' ' || raw[0] == '\t') && key != "":
			at.Set(key, at.Str(key)+"\n"+line)
		case hasValue:
			key = strings.ToLower(strings.TrimSpace(name))
			at.Set(key, strings.TrimSpace(value))
		default:
			return "", nil, fmt.Errorf("no value in %s", python.Repr(line))
		}
	}
	return header, sections, nil
}

// parseFile reads a file of repositories; one that is broken has none.
func parseFile(c *loader.Call, path string) (header string, sections *payload.Map) {
	text, err := readFile(path)
	if err == nil {
		header, sections, err = parseINI(text)
	}
	if err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("Failed to parse file %s, error: %v", path, err))
		return "", payload.NewMap(0)
	}
	return header, sections
}

type reposArgs struct {
	Basedir any          `arg:"basedir=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

func listRepos(c *loader.Call, a reposArgs) (*payload.Map, error) { return repoTable(c, a.Basedir) }

// repoTable are all repositories, by name, each with its file.
func repoTable(c *loader.Call, basedir any) (*payload.Map, error) {
	dirs, err := directories(basedir)
	if err != nil {
		return nil, err
	}
	all := payload.NewMap(0)
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if filepath.Ext(path) != ".repo" {
				continue
			}
			_, sections := parseFile(c, path)
			for name, v := range sections.All() {
				all.Set(name, v.(*payload.Map).Set("file", path))
			}
		}
	}
	return all, nil
}

type repoArgs struct {
	Repo    string       `arg:"repo"`
	Basedir any          `arg:"basedir=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

// copr is the name of a repository of copr.
func (a *repoArgs) copr() (isCopr bool) {
	name, isCopr := strings.CutPrefix(a.Repo, "copr:")
	if owner, project, ok := strings.Cut(name, "/"); isCopr && ok {
		a.Repo = "copr:copr.fedorainfracloud.org:" + owner + ":" + project
	}
	return isCopr
}

func getRepo(c *loader.Call, a repoArgs) (*payload.Map, error) {
	a.copr()
	all, err := repoTable(c, a.Basedir)
	if err != nil {
		return nil, err
	}
	found, ok := all.Value(a.Repo).(*payload.Map)
	if !ok {
		return payload.NewMap(0), nil
	}
	found.Delete("file")
	return found, nil
}

func delRepo(c *loader.Call, a repoArgs) (string, error) {
	a.copr()
	dirs, err := directories(a.Basedir)
	if err != nil {
		return "", err
	}
	all, err := repoTable(c, payload.AnyList(dirs))
	if err != nil {
		return "", err
	}
	found, ok := all.Value(a.Repo).(*payload.Map)
	if !ok {
		return fmt.Sprintf("Error: the %s repo does not exist in %s", a.Repo, python.Repr(payload.AnyList(dirs))), nil
	}
	file := found.Str("file")
	header, sections := parseFile(c, file)
	if sections.Len() <= 1 {
		return fmt.Sprintf("File %s containing repo %s has been removed", file, a.Repo), os.Remove(file)
	}
	text := header
	for name, v := range sections.All() {
		if name == any(a.Repo) {
			continue
		}
		section := v.(*payload.Map)
		comments := comments(section)
		text += "\n[" + python.Str(name) + "]"
		for key, value := range section.All() {
			text += "\n" + python.Str(key) + "=" + written(value)
		}
		text += "\n" + comments + "\n"
	}
	return fmt.Sprintf("Repo %s has been removed from %s", a.Repo, file), write(file, text)
}

// comments takes the comments out of a section.
func comments(section *payload.Map) (text string) {
	v, given := section.Get("comments")
	section.Delete("comments")
	if !given {
		return ""
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, item := range list {
		for _, line := range strings.Split(python.Str(item), "\n") {
			text += "# " + strings.TrimLeft(strings.TrimLeft(line, "#"), " \t") + "\n"
		}
	}
	return text
}

// written is a value as it stands in a file: further lines are indented.
func written(v any) string {
	switch v {
	case any(true):
		return "1"
	case any(false):
		return "0"
	}
	return strings.ReplaceAll(python.Str(v), "\n", "\n ")
}

func write(file, text string) error {
	return wholefile.Write(file, []byte(text), wholefile.Options{Mode: 0o644, KeepMode: true, Follow: true})
}

// links are the keys that say where a repository is; it has one of them.
var links = []string{"baseurl", "mirrorlist", "metalink"}

func modRepo(c *loader.Call, a repoArgs) (*payload.Map, error) {
	if a.copr() {
		return nil, loader.ExecErr("copr is not in brine yet")
	}
	options, gone, err := a.options()
	if err != nil {
		return nil, err
	}
	dirs, err := directories(a.Basedir)
	if err != nil {
		return nil, err
	}
	all, err := repoTable(c, payload.AnyList(dirs))
	if err != nil {
		return nil, err
	}
	file, header, sections := "", "", payload.NewMap(1)
	if known, ok := all.Value(a.Repo).(*payload.Map); ok {
		file = known.Str("file")
		header, sections = parseFile(c, file)
	} else {
		if file, err = a.newFile(dirs, options); err != nil {
			return nil, err
		}
		sections.Set(a.Repo, payload.NewMap(0))
	}
	section := sections.Value(a.Repo).(*payload.Map)
	if err := keepsLink(options, section, gone); err != nil {
		return nil, err
	}
	for _, key := range gone {
		section.Delete(key)
	}
	section.Update(options)
	text := header
	for name, v := range sections.All() {
		section := v.(*payload.Map)
		comments := comments(section)
		text += "[" + python.Str(name) + "]\n"
		for key, value := range section.All() {
			text += python.Str(key) + "=" + written(value) + "\n"
		}
		text += comments + "\n"
	}
	return payload.M(file, sections), write(file, text)
}

// options are the keys that a call sets, and those that it takes away. A key or a name with control characters would
// be a repository more.
func (a repoArgs) options() (set *payload.Map, gone []string, err error) {
	set = payload.NewMap(a.KW.Len())
	count := 0
	for v, value := range a.KW.All() {
		key := python.Str(v)
		if strings.HasPrefix(key, "__") || key == "saltenv" {
			continue
		}
		if strings.ContainsAny(key, "\n\r[]=\x00") {
			return nil, nil, loader.InvocErr("%s is no key of a repository", python.Repr(key))
		}
		if slices.Contains(links, key) {
			count++
		}
		isNumber := false
		switch value.(type) {
		case bool, int64, float64:
			isNumber = true
		}
		if python.Truth(value) || isNumber {
			set.Set(key, value)
		} else {
			gone = append(gone, key)
		}
	}
	if count >= 2 {
		return nil, nil, loader.InvocErr("One and only one of %s can be used", strings.Join(links, ", "))
	}
	if strings.ContainsAny(a.Repo, "\n\r[]/\x00") || a.Repo == "" {
		return nil, nil, loader.InvocErr("%s is no name of a repository", python.Repr(a.Repo))
	}
	for _, key := range links {
		if set.Has(key) {
			gone = append(gone, slices.DeleteFunc(slices.Clone(links), func(k string) bool { return k == key })...)
			break
		}
	}
	if slices.Contains(gone, "name") {
		return nil, nil, loader.InvocErr("The repo name cannot be deleted")
	}
	return set, gone, nil
}

// newFile is where a repository goes that is in no file.
func (a repoArgs) newFile(dirs []string, options *payload.Map) (string, error) {
	dir := ""
	for _, d := range dirs {
		if _, err := os.Stat(d); err == nil {
			dir = d
			break
		}
	}
	const begin = "The repo does not exist and needs to be created, but "
	has := func(key string) bool { return options.Has(key) }
	switch {
	case dir == "":
		return "", loader.InvocErr("%snone of the following basedir directories exist: %s", begin,
			python.Repr(payload.AnyList(dirs)))
	case !options.Has("name"):
		return "", loader.InvocErr("%sa name was not given", begin)
	case !slices.ContainsFunc(links, has):
		return "", loader.InvocErr("%snone of %s was given", begin, strings.Join(links, ", "))
	}
	return filepath.Join(dir, a.Repo+".repo"), nil
}

// keepsLink refuses to take away the only key that says where a repository is.
func keepsLink(options, section *payload.Map, gone []string) error {
	for _, key := range links {
		if !slices.Contains(gone, key) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(links), func(k string) bool { return k == key })
		has := func(k string) bool { return options.Has(k) || section.Has(k) }
		if !slices.ContainsFunc(others, has) {
			return loader.InvocErr("Cannot delete %s without specifying %s", key, strings.Join(others, " or "))
		}
	}
	return nil
}
