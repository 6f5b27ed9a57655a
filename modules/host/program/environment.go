package program

import (
	"os"
	"slices"
	"strings"

	"brine/config"
)

// Vars are variables of an environment. They keep their order.
type Vars struct {
	names  []string
	values map[string]string
}

// NewVars takes lines "name=value".
func NewVars(pairs []string) *Vars {
	v := &Vars{values: map[string]string{}}
	for _, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok {
			v.Set(name, value)
		}
	}
	return v
}

// Inherited are those of this process that have one of the names.
func Inherited(names []string) *Vars {
	v := NewVars(nil)
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			v.Set(name, value)
		}
	}
	return v
}

// Set gives a variable its value.
func (v *Vars) Set(name, value string) {
	if _, ok := v.values[name]; !ok {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

// List are lines "name=value".
func (v *Vars) List() []string {
	out := make([]string, 0, len(v.names))
	for _, n := range v.names {
		out = append(out, n+"="+v.values[n])
	}
	return out
}

func (v *Vars) has(name string) bool {
	_, ok := v.values[name]
	return ok
}

func (v *Vars) update(other *Vars) {
	if other == nil {
		return
	}
	for _, n := range other.names {
		v.Set(n, other.values[n])
	}
}

func (v *Vars) remove(name string) {
	if v.has(name) {
		delete(v.values, name)
		v.names = slices.DeleteFunc(v.names, func(n string) bool { return n == name })
	}
}

// hideOptions removes the options of this minion, which another user must not read, but for those that the caller
// gives.
func (v *Vars) hideOptions(given *Vars) {
	for _, name := range slices.Clone(v.names) {
		if (given == nil || !given.has(name)) && config.IsVariable(name) {
			v.remove(name)
		}
	}
}

// localeNames are the variables that an English locale sets to C.
const localeNames = "LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE LC_MONETARY LC_MESSAGES LC_PAPER LC_NAME LC_ADDRESS " +
	"LC_TELEPHONE " +
	"LC_MEASUREMENT LC_IDENTIFICATION LANGUAGE"

// Environment says what a program finds in its environment: the variables of this process, over them those of the
// account's login, over them those that the caller gives.
type Environment struct {
	Own     []string // variables of this process, "name=value"; nil: all of them
	Given   *Vars    // nil: none
	Account *Account
	Login   *Vars // of the account; nil: none
	English bool  // the locale is C, but for what Given or Login says of it
	Clean   bool  // nothing of this process
	Prepend string
}

// List is the environment as Spec wants it. The socket of the service manager is not for programs, and options of this
// minion that stand in its environment are not for other users.
func (e Environment) List() []string {
	own := NewVars(nil)
	own.update(e.Login)
	own.update(e.Given)
	if e.Account != nil && e.Account.Name != "" { // whatever the start files of the shell did to them
		own.Set("USER", e.Account.Name)
		own.Set("HOME", e.Account.Home)
	}
	if e.English {
		for name := range strings.FieldsSeq(localeNames) {
			if !own.has(name) {
				own.Set(name, "C")
			}
		}
	}
	env := own
	if !e.Clean {
		if e.Own == nil {
			e.Own = os.Environ()
		}
		env = NewVars(e.Own)
		env.update(own)
	}
	if e.Prepend != "" {
		env.Set("PATH", e.Prepend+":"+env.values["PATH"])
	}
	if !own.has("NOTIFY_SOCKET") {
		env.remove("NOTIFY_SOCKET")
	}
	if e.Account != nil {
		env.hideOptions(e.Given)
	}
	return env.List()
}
