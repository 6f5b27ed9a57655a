package eauth

import (
	"context"
	"fmt"
	"strings"

	"brine/modules/eauth/directory"
	"brine/wire/payload"
)

// authLDAP asks a directory (options auth.ldap.*).
func authLDAP(ctx context.Context, a *attempt) (*admitted, error) {
	opt, err := directory.Parse(a.opt.Settings)
	if err != nil {
		return nil, fmt.Errorf("external_auth: ldap: %w", err)
	}
	known, err := directory.Authenticate(ctx, opt, a.user, a.password)
	if known == nil || err != nil {
		return nil, err
	}
	in := &admitted{}
	for _, g := range known.Groups {
		in.groups = append(in.groups, g)
	}
	return in, nil
}

// Faults are what is wrong with the sections of external_auth before anybody logs in, and with the options of their
// backends; nil when nothing is. all are the options of the master.
func Faults(external, all *payload.Map) []error {
	var faults []error
	for k, v := range external.All() {
		switch name, _ := k.(string); {
		case name == ldapName:
			if _, err := directory.Parse(all); err != nil {
				faults = append(faults, err)
			}
			faults = append(faults, expansions(v)...)
		case name == restName && external.Map(name).Str("^url") == "":
			faults = append(faults, fmt.Errorf("rest needs ^url"))
		case name == "file" && external.Map(name).Str("^filename") == "":
			faults = append(faults, fmt.Errorf("file needs ^filename"))
		}
	}
	return faults
}

// expansions are targets "ldap(...)", which Salt replaces by the minions that a directory lists there.
func expansions(section any) (faults []error) {
	users, _ := section.(*payload.Map)
	for user, rules := range users.All() {
		for _, rule := range asList(rules) {
			m, _ := rule.(*payload.Map)
			for target := range m.All() {
				if s, _ := target.(string); strings.HasPrefix(s, "ldap(") {
					faults = append(faults, fmt.Errorf("%.100q of ldap: the target %.100q is not expanded here", user,
						s))
				}
			}
		}
	}
	return faults
}
