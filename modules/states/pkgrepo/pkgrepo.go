// Package pkgrepo is the state module pkgrepo: repositories of packages, with their keys. It asks the provider of the
// host by name (pkg.get_repo, pkg.mod_repo, ...). Answers to salt/states/pkgrepo.py.
package pkgrepo

import (
	"os"
	"slices"
	"strings"

	"brine/modules/execution/aptpkg"
	"brine/modules/host/aptsources"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module pkgrepo.
func Module() loader.Module {
	return loader.Module{File: "pkgrepo", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("managed", managed, "Ensure that a repository is in the lists.",
				"deb http://deb.debian.org/debian bookworm main:", "  pkgrepo.managed:",
				"    - file: /etc/apt/sources.list.d/debian.list"),
			states.Fn("absent", absent, "Ensure that a repository is in no list.",
				"deb http://deb.debian.org/debian bookworm main:", "  pkgrepo.absent: []"),
		}
	}}
}

func virtual(p loader.Place) (bool, string) { return p.Has("pkg.mod_repo"), "" }

type managedArgs struct {
	Name   string       `arg:"name"`
	PPA    any          `arg:"ppa=None"`
	Copr   any          `arg:"copr=None"`
	AptKey bool         `arg:"aptkey=True"`
	KW     *payload.Map `arg:"**kwargs"`
}

// repo is what a call of managed is about.
type repo struct {
	*states.Call
	managedArgs
	family any
	name   string       // what the provider knows it by
	pre    *payload.Map // what is in the lists
	wanted *payload.Map // what should be
}

func managed(c *states.Call, a managedArgs) (states.Plan, error) {
	r := &repo{Call: c, managedArgs: a, name: a.Name}
	r.KW, r.AptKey = a.KW.Clone(), a.AptKey && program.Which("apt-key") != ""
	r.family, _ = c.Grain("os_family")
	if !c.Has("pkg.get_repo") {
		return states.Wrong("Repo management not implemented on this platform"), nil
	}
	if plan := r.arguments(); plan != nil {
		return *plan, nil
	}
	r.identify()
	if err := r.look(); err != nil {
		if text, ok := execution(err); ok {
			return states.Wrong("Failed to examine repo '" + a.Name + "': " + text), nil
		}
		return states.Plan{}, err
	}
	if r.pre.Len() > 0 && !r.stale() && r.same() {
		return states.Correct("Package repo '" + a.Name + "' already configured"), nil
	}
	r.moved()
	changes := payload.NewMap(0)
	if r.pre.Len() == 0 {
		changes.Set("repo", a.Name)
	} else {
		changes = differences(r.wanted, r.pre, r.wanted)
	}
	return states.Would("Package repo '"+a.Name+"' would be configured. This may cause pkg states to behave "+
		"differently than stated if this action is repeated without test=True, due to the differences in the "+
		"configured repositories.", changes, r.apply), nil
}

// execution is the text of an error that the provider tells.
func execution(err error) (string, bool) {
	if loader.ClassOf(err) == "salt.exceptions.CommandExecutionError" {
		return loader.Message(err), true
	}
	return "", false
}

// arguments refuses those that do not go together.
func (r *repo) arguments() *states.Plan {
	wrong := func(text string) *states.Plan { p := states.Wrong(text); return &p }
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return r.KW.Has(key) })
	}
	switch {
	case has("repo"):
		return wrong("'repo' is not a supported argument for this state. The 'name' argument is probably what was " +
			"intended.")
	case has("key_text") && has("key_url"):
		return wrong(`You may not use both "key_url" and "key_text" argument.`)
	case has("key_text") && has("keyid", "keyserver"):
		return wrong(`You may not use both "keyid"/"keyserver" and "key_text" argument.`)
	case has("key_url") && has("keyid", "keyserver"):
		return wrong(`You may not use both "keyid"/"keyserver" and "key_url" argument.`)
	case r.KW.Value("enabled") != nil && r.KW.Value("disabled") != nil:
		return wrong("Only one of enabled/disabled is allowed")
	}
	insecure, given := r.KW.Get("allow_insecure_key")
	r.KW.Delete("allow_insecure_key")
	url := strings.TrimSpace(loader.Text(r.KW.Value("key_url")))
	if given && !python.Truth(insecure) && strings.HasPrefix(url, "http:") {
		return wrong("Cannot have 'key_url' using http with 'allow_insecure_key' set to True")
	}
	return nil
}

// identify brings the arguments into the form of the provider.
func (r *repo) identify() {
	kw := r.KW
	enabled, disabled := kw.Value("enabled"), kw.Value("disabled")
	kw.Delete("enabled")
	kw.Delete("disabled")
	isOff := disabled != nil && dicts.IsTrue(disabled) || enabled != nil && !dicts.IsTrue(enabled)
	kw.Set("name", r.Name)
	switch r.family {
	case "Debian":
		if r.PPA != nil {
			r.name = "ppa:" + python.Str(r.PPA)
		}
		kw.Set("disabled", isOff)
	case "RedHat", "Suse":
		if r.family == any("RedHat") && r.Copr != nil {
			r.name = "copr:" + python.Str(r.Copr)
		}
		if v, given := kw.Get("humanname"); given {
			kw.Set("name", v)
			kw.Delete("humanname")
		}
		kw.Set("enabled", !isOff)
	case "NILinuxRT", "Poky":
		kw.Set("enabled", !isOff)
	}
}

// get asks the provider for the repository.
func (r *repo) get() (*payload.Map, error) {
	v, err := r.Salt("pkg.get_repo", r.KW.Clone().Set("repo", r.name))
	m, _ := v.(*payload.Map)
	return m.Clone(), err
}

func (r *repo) look() (err error) {
	if r.pre, err = r.get(); err != nil {
		return err
	}
	r.wanted = r.KW.Clone()
	if r.family == any("Debian") {
		r.wanted, err = aptpkg.ExpandRepo(r.Call.Call, r.name, r.KW)
	}
	return err
}

// most is how long a list may be that is looked at, in bytes.
const most = 16 << 20

// stale tells whether a file that is to have nothing but the repository has something else.
func (r *repo) stale() bool {
	path := loader.Text(r.KW.Value("file"))
	if !python.Truth(r.KW.Value("clean_file")) || path == "" {
		return false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && line != strings.TrimSpace(r.Name) {
			return true
		}
	}
	return false
}

// moved tells the provider where the repository is now.
func (r *repo) moved() {
	if r.family != any("Debian") || r.pre.Len() == 0 {
		return
	}
	if !r.KW.Has("uri") && r.pre.Value("uri") != r.wanted.Value("uri") {
		r.KW.Set("uri", r.wanted.Value("uri"))
	}
	uris := r.wanted.List("uris")
	if !r.KW.Has("uris") && len(uris) > 0 && !slices.Contains(r.pre.List("uris"), uris[0]) {
		r.KW.Set("uris", uris)
	}
}

// differences are the keys whose values are others.
func differences(keys, old, now *payload.Map) *payload.Map {
	changes := payload.NewMap(0)
	for key := range keys.All() {
		before, after := old.Value(key), now.Value(key)
		if python.Repr(before) != python.Repr(after) {
			changes.Set(key, payload.M("new", after, "old", before))
		}
	}
	return changes
}

func (r *repo) apply() (states.Done, error) {
	if python.Truth(r.KW.Value("clean_file")) {
		path := loader.Text(r.KW.Value("file"))
		if path == "" {
			return states.Done{}, loader.Raise("KeyError", "'file'")
		}
		if err := aptsources.Empty(path); err != nil {
			return states.Done{}, err
		}
	}
	kw := r.KW.Clone()
	if r.family == any("Debian") {
		kw.Set("saltenv", r.Saltenv).Set("aptkey", r.AptKey)
	}
	if _, err := r.Salt("pkg.mod_repo", kw, r.name); err != nil {
		return states.Failed("Failed to configure repo '"+r.Name+"': "+loader.Message(err), nil)
	}
	post, err := r.get()
	if err != nil {
		return states.Failed("Failed to confirm config of repo '"+r.Name+"': "+loader.Message(err), nil)
	}
	changes := payload.M("repo", r.name)
	if r.pre.Len() > 0 {
		changes = differences(r.wanted, r.pre, post)
	}
	return states.Changed("Configured package repo '"+r.Name+"'", changes)
}
