package aptpkg

import (
	"log/slog"
	"os"
	"slices"
	"strings"

	"brine/modules/host/aptsources"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// ppaSystems are those that have PPAs.
var ppaSystems = []any{"Ubuntu", "Mint", "neon"}

// lists reads the lists of apt, and logs what could not be read.
func lists(c *loader.Call) *aptsources.List {
	l := aptsources.Read()
	for _, err := range l.Trouble {
		c.Log(slog.LevelError, "Could not parse source file: "+err.Error())
	}
	return l
}

func listRepos(c *loader.Call, _ struct {
	KW *payload.Map `arg:"**kwargs"`
}) (*payload.Map, error) {
	return repoTable(c), nil
}

// repoTable are all repositories, by URI; a section is one for each of its URIs, suites and types.
func repoTable(c *loader.Call) *payload.Map {
	all := payload.NewMap(0)
	for _, e := range lists(c).Entries {
		if e.Invalid {
			continue
		}
		for _, uri := range e.URIs() {
			for _, suite := range e.Suites() {
				for _, kind := range e.Types() {
					of, _ := all.Value(uri).([]any)
					all.Set(uri, append(of, repoOf(e, kind, uri, suite)))
				}
			}
		}
	}
	return all
}

// repoOf is one repository as list_repos shows it.
func repoOf(e *aptsources.Entry, kind, uri, suite string) *payload.Map {
	line := strings.TrimSpace(e.Line)
	if e.Section != nil {
		one := aptsources.Entry{Type: kind, URI: uri, Dist: suite, Comps: e.Comps, Disabled: e.Disabled,
			Architectures: e.Architectures, SignedBy: python.Str(signedBy(e)), Trusted: e.Trusted}
		line = one.String()
	}
	return payload.M("file", e.File, "comps", payload.AnyList(e.Comps), "disabled", e.Disabled, "enabled", !e.Disabled,
		"dist", suite, "suites", payload.AnyList(e.Suites()), "type", kind, "types", payload.AnyList(e.Types()),
		"uri", uri, "uris", payload.AnyList(e.URIs()), "line", line,
		"architectures", payload.AnyList(e.Architectures), "signedby", signedBy(e))
}

// signedBy is the key of a repository: nothing (None) where a section names none.
func signedBy(e *aptsources.Entry) any {
	if e.Section != nil {
		if _, ok := e.Section.Get("Signed-By"); !ok {
			return nil
		}
	}
	return e.SignedBy
}

type repoArgs struct {
	Repo string       `arg:"repo"`
	KW   *payload.Map `arg:"**kwargs"`
}

// ppaLine is the line of a PPA on a system that has them.
func ppaLine(c *loader.Call, repo string, kw *payload.Map) (line string, isPPA bool, err error) {
	system, _ := c.Grain("os")
	name, found := strings.CutPrefix(repo, "ppa:")
	if !found || !slices.Contains(ppaSystems, system) {
		return repo, false, nil
	}
	owner, ppa, ok := strings.Cut(name, "/")
	if !ok {
		return "", true, loader.ExecErr("Unable to get PPA info from argument. Expected format "+
			"\"<PPA_OWNER>/<PPA_NAME>\" (e.g. saltstack/salt) not found.  Received '%s' instead.", name)
	}
	v, _ := c.Grain("oscodename")
	dist := python.Str(v)
	if auth := kw.Value("ppa_auth"); python.Truth(auth) {
		return "deb https://" + python.Str(auth) + "@private-ppa.launchpad.net/" + owner + "/" + ppa + "/ubuntu " + dist +
			" main", true, nil
	}
	return "deb http://ppa.launchpad.net/" + owner + "/" + ppa + "/ubuntu " + dist + " main", true, nil
}

// parse reads the definition of a repository.
func parse(repo string) (*aptsources.Entry, error) {
	if strings.ContainsAny(repo, "\n\r\x00") {
		return nil, loader.ExecErr("repo %s has more than one line", python.Repr(repo))
	}
	e, err := aptsources.Parse(repo, aptsources.Main)
	if err != nil {
		return nil, loader.InvocErr("%v", err)
	}
	return e, nil
}

// SplitRepo cuts the definition of a repository into its parts.
func SplitRepo(repo string) (*aptsources.Entry, error) { return parse(repo) }

func getRepo(c *loader.Call, a repoArgs) (*payload.Map, error) {
	repo, _, err := ppaLine(c, a.Repo, a.KW)
	if err != nil {
		return nil, err
	}
	all := repoTable(c)
	if all.Len() == 0 {
		return payload.NewMap(0), nil
	}
	wanted, err := parse(repo)
	if err != nil {
		return nil, err
	}
	for _, v := range all.All() {
		for _, item := range v.([]any) {
			sub := item.(*payload.Map)
			if sub.Str("type") != wanted.Type || sub.Str("dist") != wanted.Dist ||
				strings.TrimRight(sub.Str("uri"), "/") != strings.TrimRight(wanted.URI, "/") {
				continue
			}
			comps := payload.Texts(sub.List("comps"))
			has := func(comp string) bool { return slices.Contains(comps, comp) }
			if len(wanted.Comps) == 0 || slices.ContainsFunc(wanted.Comps, has) {
				return sub, nil
			}
		}
	}
	return payload.NewMap(0), nil
}

// sameURI tells whether an entry is at a URI.
func sameURI(e *aptsources.Entry, uri string) bool {
	same := func(u string) bool { return strings.TrimRight(u, "/") == strings.TrimRight(uri, "/") }
	return slices.ContainsFunc(e.URIs(), same)
}

func sameSet(a, b []string) bool { return slices.Equal(sortedOnce(a), sortedOnce(b)) }

// without are the words of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) })
}

// delRepo takes a repository, or components of it, out of the lists.
func delRepo(c *loader.Call, a repoArgs) (string, error) {
	repo, isPPA, err := ppaLine(c, a.Repo, a.KW)
	if err != nil {
		return "", err
	}
	l := lists(c)
	wanted, err := parse(repo)
	if err != nil {
		return "", err
	}
	var from []string
	for _, e := range slices.Clone(l.Entries) {
		if e.Invalid || !sameURI(e, wanted.URI) || !slices.Contains(e.Suites(), wanted.Dist) {
			continue
		}
		typed := slices.Contains(strings.Fields(e.Type), wanted.Type) &&
			slices.Equal(e.Architectures, wanted.Architectures)
		if !typed && !(isPPA && wanted.Type == "deb" && e.Type == "deb-src") || !takeOut(l, e, wanted) {
			continue
		}
		if !slices.Contains(from, e.File) {
			from = append(from, e.File)
		}
	}
	if len(from) == 0 {
		return "", loader.ExecErr("Repo %s doesn't exist in the sources.list(s)", repo)
	}
	if err := l.Save(); err != nil {
		return "", loader.ExecErr("%v", err)
	}
	text := ""
	for _, file := range from {
		text += tellRemoved(l, repo, file)
	}
	_, err = refresh(c, nil, nil)
	return text, err
}

// takeOut removes what is wanted from an entry, and the entry where nothing is left.
func takeOut(l *aptsources.List, e, wanted *aptsources.Entry) bool {
	switch {
	case sameSet(e.Comps, wanted.Comps):
		e.SetSuites(without(e.Suites(), []string{wanted.Dist}))
		if len(e.Suites()) == 0 {
			l.Remove(e)
		}
	case len(without(e.Comps, wanted.Comps)) < len(e.Comps):
		if e.SetComps(without(e.Comps, wanted.Comps)); len(e.Comps) == 0 {
			l.Remove(e)
		}
	default:
		return false
	}
	return true
}

// tellRemoved says that a repository is not in a file any more, and removes a file that has no other.
func tellRemoved(l *aptsources.List, repo, file string) string {
	others := func(e *aptsources.Entry) bool { return !e.Invalid && e.File == file }
	if !slices.ContainsFunc(l.Entries, others) && strings.Contains(file, "sources.list.d/") {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			_ = os.Remove(file) // apt reads nothing in it any more
			return "File " + file + " containing repo '" + repo + "' has been removed."
		}
	}
	return "Repo '" + repo + "' has been removed from " + file + ".\n"
}

// wordsOf splits a text with commas, or takes a list.
func wordsOf(v any) []string {
	out := loader.StringList(v)
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// ExpandRepo is a repository as list_repos would show it, if it were there as a call of mod_repo says.
func ExpandRepo(c *loader.Call, repo string, kw *payload.Map) (*payload.Map, error) {
	kw = kw.Clone()
	line, isPPA, err := ppaLine(c, repo, kw)
	if err != nil {
		return nil, err
	}
	if isPPA && !kw.Has("file") {
		kw.Set("file", ppaFile(c, repo))
	}
	e, err := parse(line)
	if err != nil {
		return nil, err
	}
	file := aptsources.Main
	if v := kw.Value("file"); v != nil {
		file = python.Str(v)
	}
	if err := modify(e, kw, false); err != nil {
		return nil, err
	}
	signed := e.SignedBy
	if strings.HasSuffix(file, ".sources") {
		if e, err = asSection(e, file, kw); err != nil {
			return nil, err
		}
	} else {
		e.File = file
		e.Trusted = nil
		if trusted, given := kw.Get("trusted"); given && python.Truth(trusted) {
			e.SetTrusted(true)
		}
		e.Line, e.Comment = "", ""
		e.Settle()
	}
	dist, kind, uri := e.Dist, e.Type, e.URI
	return payload.M("file", file, "comps", payload.AnyList(e.Comps), "disabled", e.Disabled, "dist", dist,
		"suites", payload.AnyList(e.Suites()), "type", kind, "types", payload.AnyList(e.Types()), "uri", uri,
		"uris", payload.AnyList(e.URIs()), "line", e.String(), "architectures", payload.AnyList(e.Architectures),
		"signedby", signed), nil
}

// ppaFile is the file of a PPA.
func ppaFile(c *loader.Call, repo string) string {
	v, _ := c.Grain("oscodename")
	name := strings.ReplaceAll(strings.TrimPrefix(repo, "ppa:"), "/", "-")
	return aptsources.Parts + name + "-" + python.Str(v) + ".list"
}

// asSection is a line as the section that a file of sections gets.
func asSection(from *aptsources.Entry, file string, kw *payload.Map) (*aptsources.Entry, error) {
	e := aptsources.NewDeb822(file)
	several := func(key, otherwise string) string {
		if v, ok := kw.Value(key).([]any); ok && len(v) > 0 {
			return strings.Join(payload.Texts(v), " ")
		}
		return otherwise
	}
	e.SetField("Types", several("types", from.Type))
	e.SetField("URIs", several("uris", from.URI))
	e.SetField("Suites", several("suites", from.Dist))
	e.SetField("Components", strings.Join(from.Comps, " "))
	if len(from.Architectures) > 0 {
		e.SetField("Architectures", strings.Join(from.Architectures, " "))
	}
	e.SetDisabled(from.Disabled)
	if from.SignedBy != "" {
		e.SetField("Signed-By", from.SignedBy)
	}
	if v, given := kw.Get("trusted"); given && v != any(false) {
		trusted, err := truthOf(v)
		if err != nil {
			return nil, err
		}
		e.SetTrusted(trusted)
	}
	return e, nil
}

// truthOf reads a value as apt reads a truth value.
func truthOf(v any) (bool, error) {
	if text, ok := v.(string); ok {
		out, known := aptsources.Bool(text)
		if !known {
			return false, loader.Raise("ValueError", "Unable to convert to boolean: %s", text)
		}
		return out, nil
	}
	return dicts.IsTrue(v), nil
}

// modify sets the parts of an entry that keywords name. Only a section takes types, uris and suites.
func modify(e *aptsources.Entry, kw *payload.Map, saved bool) error {
	set := func(name string, line *string, field string, v any) {
		if e.Section != nil {
			e.SetField(field, strings.Join(wordsOf(v), " "))
		} else if name != "" {
			*line = python.Str(v)
		}
	}
	for key, v := range kw.All() {
		for _, word := range loader.StringList(v) {
			if slices.Contains([]any{"uri", "uris", "comps", "architectures", "dist", "suites", "types", "signedby"}, key) &&
				strings.ContainsAny(word, "\n\r\x00") {
				return loader.ExecErr("%s %s has more than one line", python.Str(key), python.Repr(word))
			}
		}
		switch key {
		case "uri":
			set("uri", &e.URI, "URIs", v)
		case "dist":
			set("dist", &e.Dist, "Suites", v)
		case "signedby":
			if e.SignedBy = python.Str(v); e.Section != nil {
				e.SetField("Signed-By", python.Str(v))
			}
		case "uris", "suites", "types":
			if saved {
				set("", nil, map[any]string{"uris": "URIs", "suites": "Suites", "types": "Types"}[key], v)
			}
		case "comps":
			e.SetComps(wordsOf(v))
		case "architectures":
			e.SetArchitectures(wordsOf(v))
		case "disabled":
			e.SetDisabled(python.Truth(v))
		case "file":
			if saved {
				e.File = python.Str(v)
			}
		case "trusted":
			trusted, err := truthOf(v)
			if err != nil {
				return err
			}
			e.SetTrusted(trusted)
		}
	}
	return nil
}
