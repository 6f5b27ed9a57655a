package pkgrepo

import (
	"slices"
	"strings"

	"brine/modules/execution/aptpkg"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type absentArgs struct {
	Name string       `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

func absent(c *states.Call, a absentArgs) (states.Plan, error) {
	a.KW = a.KW.Clone()
	name, short := a.names(c)
	withKey := a.KW.Value("keyid") != nil || a.KW.Value("keyid_ppa") != nil
	if withKey && !c.Has("pkg.del_repo_key") {
		return states.Wrong("Repo key management is not implemented for this platform"), nil
	}
	v, err := c.Salt("pkg.get_repo", a.KW, short)
	if err != nil {
		if text, ok := execution(err); ok {
			return states.Wrong("Failed to configure repo '" + name + "': " + text), nil
		}
		return states.Plan{}, err
	}
	there, _ := v.(*payload.Map)
	if family, _ := c.Grain("os_family"); there.Len() > 0 && family == any("Debian") {
		wanted, err := aptpkg.SplitRepo(short)
		if err != nil {
			return states.Plan{}, err
		}
		if !sameWords(wanted.Architectures, payload.Texts(there.List("architectures")), true) {
			there = nil
		}
	}
	if there.Len() == 0 {
		return states.Correct("Package repo " + name + " is absent"), nil
	}
	return states.Would("Package repo '"+name+"' will be removed. This may cause pkg states to behave differently "+
		"than stated if this action is repeated without test=True, due to the differences in the configured "+
		"repositories.", nil, func() (states.Done, error) { return a.apply(c, name, short, withKey) }), nil
}

// names are the name of the repository, and that by which the provider knows it.
func (a absentArgs) names(c *states.Call) (name, short string) {
	name = a.Name
	system, _ := c.Grain("os")
	family, _ := c.Grain("os_family")
	if v, given := a.KW.Get("ppa"); given && slices.Contains([]any{"Ubuntu", "Mint"}, system) {
		name = "ppa:" + strings.TrimPrefix(python.Str(v), "ppa:")
		a.KW.Delete("ppa")
	}
	if v, given := a.KW.Get("copr"); given && family == any("RedHat") {
		name = "copr:" + strings.TrimPrefix(python.Str(v), "copr:")
		a.KW.Delete("copr")
	}
	if family != any("Debian") {
		return name, name
	}
	cols := strings.Fields(name)
	for i, col := range cols {
		for _, scheme := range []string{"http://", "https://", "ftp://"} {
			if strings.HasPrefix(col, scheme) {
				cols[i] = strings.TrimRight(col, "/")
			}
		}
	}
	return name, strings.Join(cols, " ")
}

func (a absentArgs) apply(c *states.Call, name, short string, withKey bool) (states.Done, error) {
	if _, err := c.Salt("pkg.del_repo", a.KW.Clone().Set("repo", short)); err != nil {
		if refused(err) {
			return states.Failed(loader.Message(err), nil)
		}
		return states.Done{}, err
	}
	v, err := c.Salt("pkg.list_repos", nil)
	if err != nil {
		return states.Done{}, err
	}
	if all, _ := v.(*payload.Map); all.Has(short) {
		return states.Failed("Failed to remove repo "+name, nil)
	}
	changes, text := payload.M("repo", name), "Removed repo "+name
	if !withKey {
		return states.Changed(text, changes)
	}
	key, err := c.Salt("pkg.del_repo_key", a.KW, short)
	if err != nil {
		if refused(err) {
			return states.Failed(text+", but failed to remove key: "+loader.Message(err), changes)
		}
		return states.Done{}, err
	}
	return states.Changed(text+", and keyid "+python.Str(key), changes.Set("keyid", key))
}

// refused tells whether an error is one that a state tells of.
func refused(err error) bool {
	_, isExecution := execution(err)
	return isExecution || loader.ClassOf(err) == "salt.exceptions.SaltInvocationError"
}
