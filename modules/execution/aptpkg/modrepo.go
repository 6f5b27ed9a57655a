package aptpkg

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/modules/host/aptsources"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

type modRepoArgs struct {
	Repo    string       `arg:"repo"`
	Saltenv string       `arg:"saltenv=base"`
	AptKey  bool         `arg:"aptkey=True"`
	KW      *payload.Map `arg:"**kwargs"`
}

// change is a call of mod_repo on its way.
type change struct {
	*loader.Call
	modRepoArgs
	list  *aptsources.List
	entry *aptsources.Entry // what the call says
	comps []string          // those of the entry and of the keywords
}

func modRepo(c *loader.Call, a modRepoArgs) (*payload.Map, error) {
	a.KW = a.KW.Clone()
	a.AptKey = a.AptKey && program.Which("apt-key") != ""
	wantsRefresh := !a.KW.Has("refresh") || dicts.IsTrue(a.KW.Value("refresh"))
	if v, given := a.KW.Get("refresh_db"); given {
		wantsRefresh = dicts.IsTrue(v)
	}
	if strings.HasPrefix(a.Repo, "ppa:") {
		return addPPA(c, a, wantsRefresh)
	}
	m := &change{Call: c, modRepoArgs: a, list: lists(c)}
	if python.Truth(a.KW.Value("consolidate")) {
		if err := m.consolidate(); err != nil {
			return nil, err
		}
	}
	entry, err := parse(a.Repo)
	if err != nil {
		return nil, err
	}
	if m.entry = entry; entry.Invalid {
		return nil, loader.InvocErr(
			"Name %s is not valid. This must be the complete repo entry as seen in the sources file", a.Repo)
	}
	if err := m.key(); err != nil {
		return nil, err
	}
	if err := m.apply(); err != nil {
		return nil, err
	}
	if err := m.list.Save(); err != nil {
		return nil, loader.ExecErr("%v", err)
	}
	if wantsRefresh {
		if _, err := refresh(c, nil, nil); err != nil {
			return nil, err
		}
	}
	now, err := getRepo(c, repoArgs{Repo: a.Repo})
	return payload.M(a.Repo, now), err
}

// addPPA lets apt-add-repository add a PPA. Unlike Salt: where that program is not, launchpad is not asked.
func addPPA(c *loader.Call, a modRepoArgs, wantsRefresh bool) (*payload.Map, error) {
	system, _ := c.Grain("os")
	if !slices.Contains(ppaSystems, system) {
		return nil, loader.ExecErr("cannot parse \"ppa:\" style repo definitions: %s", a.Repo)
	}
	if program.Which("apt-add-repository") == "" || a.KW.Has("ppa_auth") {
		return nil, loader.ExecErr("PPA '%s': without apt-add-repository, and with ppa_auth, PPAs are not in brine yet",
			strings.TrimPrefix(a.Repo, "ppa:"))
	}
	there, err := getRepo(c, repoArgs{Repo: a.Repo, KW: a.KW})
	if err != nil || there.Len() > 0 {
		return payload.M(a.Repo, there), err
	}
	argv := []string{"apt-add-repository", "-y", a.Repo}
	out, err := unscoped(c, argv, ofCommand(a.KW))
	if err != nil {
		return nil, err
	}
	if out.Code != 0 {
		return nil, loader.ExecErr("Unable to add PPA '%s'. '%s' exited with status %d: '%s'",
			strings.TrimPrefix(a.Repo, "ppa:"), python.Repr(payload.AnyList(argv)), out.Code, out.Stderr)
	}
	if wantsRefresh {
		if _, err := refresh(c, nil, nil); err != nil {
			return nil, err
		}
	}
	return payload.M(a.Repo, payload.M("retcode", out.Code, "stdout", out.Stdout, "stderr", out.Stderr)), nil
}

// consolidate puts all repositories into the main list, each once, and removes the other files.
func (m *change) consolidate() error {
	at, files := map[string]*aptsources.Entry{}, []string(nil)
	var all []*aptsources.Entry
	for _, e := range m.list.Entries {
		if e.Invalid {
			continue
		}
		key := fmt.Sprint(e.Architectures, e.Disabled, e.Type, e.URI, e.Dist)
		if known, ok := at[key]; ok {
			known.SetComps(sortedOnce(append(slices.Clone(known.Comps), e.Comps...)))
		} else {
			one := *e
			one.File = aptsources.Main
			if e.Section != nil {
				return loader.ExecErr("%s: sections cannot be consolidated into %s", e.File, aptsources.Main)
			}
			at[key] = &one
			all = append(all, &one)
		}
		if e.File != aptsources.Main && !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	m.list.Entries = all
	if err := m.list.Save(); err != nil {
		return loader.ExecErr("%v", err)
	}
	for _, file := range files {
		_ = os.Remove(file) // what it had is in the main list
	}
	return nil
}

// apply makes the entry of the lists what the call says, or adds one.
func (m *change) apply() error {
	kw := m.KW.Clone().Set("signedby", m.entry.SignedBy)
	m.comps = slices.Clone(m.entry.Comps)
	if v, given := kw.Get("comps"); given {
		for _, comp := range wordsOf(v) {
			if !slices.Contains(m.comps, comp) {
				m.comps = append(m.comps, comp)
			}
		}
	} else {
		kw.Set("comps", payload.AnyList(m.comps))
	}
	if v, given := kw.Get("architectures"); given {
		kw.Set("architectures", payload.AnyList(loader.StringList(v)))
	} else {
		kw.Set("architectures", payload.AnyList(m.entry.Architectures))
	}
	if v, given := kw.Get("disabled"); given {
		kw.Set("disabled", dicts.IsTrue(v))
	} else if v, given := kw.Get("enabled"); given {
		kw.Set("disabled", !dicts.IsTrue(v))
	}
	e := m.find(kw)
	if e == nil {
		var err error
		if e, err = m.add(kw); err != nil {
			return err
		}
	}
	if v, given := kw.Get("comments"); given {
		e.SetComment(Comments(v))
	}
	if e.Section == nil {
		e.Line = m.entry.Line
	}
	if len(kw.List("architectures")) == 0 && len(e.Architectures) == 0 {
		kw.Delete("architectures")
	}
	if err := modify(e, kw, true); err != nil {
		return err
	}
	if e.Section == nil && e.URI != m.entry.URI {
		e.URI = m.entry.URI
		e.Settle()
	}
	return nil
}

// find is the entry that the call is about: the same repository, or the distribution and type of the keywords.
func (m *change) find(kw *payload.Map) *aptsources.Entry {
	kind, dist := kw.Value("type"), kw.Value("dist")
	for _, e := range m.list.Entries {
		if e.Invalid || e.Type == "" {
			continue
		}
		types, suites := strings.Fields(e.Type), e.Suites()
		same := slices.Contains(types, m.entry.Type) && sameURI(e, m.entry.URI) && slices.Contains(suites, m.entry.Dist)
		byWords := kind != nil && dist != nil && slices.Contains(suites, python.Str(dist)) &&
			slices.Contains(types, python.Str(kind))
		if !same && !byWords {
			continue
		}
		has := func(comp string) bool { return slices.Contains(e.Comps, comp) }
		if slices.ContainsFunc(m.comps, has) || len(e.Comps) == 0 ||
			!slices.Equal(payload.Texts(kw.List("architectures")), e.Architectures) {
			return e
		}
	}
	return nil
}

// add is a new entry.
func (m *change) add(kw *payload.Map) (*aptsources.Entry, error) {
	trusted := false
	if v, given := kw.Get("trusted"); given {
		var err error
		if trusted, err = truthOf(v); err != nil {
			return nil, err
		}
	}
	if !m.AptKey && m.entry.SignedBy == "" && !trusted {
		return nil, loader.InvocErr("missing 'signedby' or 'trusted' option when apt-key is missing")
	}
	file := aptsources.Main
	if v := kw.Value("file"); python.Truth(v) {
		file = python.Str(v)
	}
	var e *aptsources.Entry
	if strings.HasSuffix(file, ".sources") {
		e = aptsources.NewDeb822(file)
		e.SetField("Types", m.entry.Type)
		e.SetField("URIs", m.entry.URI)
		e.SetField("Suites", m.entry.Dist)
		e.SetField("Components", strings.Join(m.entry.Comps, " "))
		own := m.entry.Trusted
		if kw.Value("trusted") == true || kw.Value("Trusted") == true || !kw.Has("trusted") && own != nil && *own {
			e.SetTrusted(true)
		}
	} else {
		one := *m.entry
		e = &one
		e.File = file
	}
	m.list.Entries = append(m.list.Entries, e)
	return e, nil
}

// Comments puts comments into one text.
func Comments(v any) string {
	if list, ok := v.([]any); ok {
		return strings.TrimSpace(strings.Join(payload.Texts(list), " "))
	}
	return strings.TrimSpace(python.Str(v))
}
