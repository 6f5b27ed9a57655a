package directory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-ldap/ldap/v3"
)

// groups are the names of the groups of a user, by the one of three ways that the options choose. Salt puts the user's
// name into two of the filters as it is.
func (o *Options) groups(conn *ldap.Conn, user string) ([]string, error) {
	switch {
	case o.activeDirectory:
		return o.groupsOfMember(conn, user)
	case o.freeIPA:
		return o.groupsByFilter(conn, user)
	}
	return o.groupsByAttribute(conn, user)
}

func both(attribute, value, class string) string {
	return fmt.Sprintf("(&(%s=%s)(objectClass=%s))", attribute, ldap.EscapeFilter(value), class)
}

// groupsOfMember finds the user's entry, then the groups that have it as a member (auth.ldap.activedirectory).
func (o *Options) groupsOfMember(conn *ldap.Conn, user string) ([]string, error) {
	own, err := o.search(conn, o.baseDN, ldap.ScopeWholeSubtree, both(o.account, user, o.personType), "1.1")
	if err != nil || len(own) == 0 {
		return nil, err
	}
	found, err := o.search(conn, o.baseDN, ldap.ScopeWholeSubtree, both("member", own[0].DN, o.groupClass), "cn")
	return firstNames(found), err
}

func firstNames(entries []*ldap.Entry) (out []string) {
	for _, e := range entries {
		if cn := e.GetEqualFoldAttributeValue("cn"); cn != "" {
			out = append(out, cn)
		}
	}
	return out
}

// groupsByFilter looks below auth.ldap.group_basedn for what auth.ldap.group_filter fits (auth.ldap.freeipa).
func (o *Options) groupsByFilter(conn *ldap.Conn, user string) ([]string, error) {
	found, err := o.search(conn, o.groupBase, ldap.ScopeWholeSubtree, render(o.groupFilter, ldap.EscapeFilter(user)),
		o.account, o.groupAttribute, "cn")
	var out []string
	for _, e := range found {
		members := slices.Concat(e.GetEqualFoldAttributeValues(o.account),
			e.GetEqualFoldAttributeValues(o.groupAttribute))
		if slices.ContainsFunc(members, func(m string) bool { return nameIn(m) == user }) {
			out = append(out, nameIn(e.DN))
		}
	}
	return out, err
}

// groupsByAttribute looks below the groups' own unit for entries that name the user, and for his entry, which names
// groups.
func (o *Options) groupsByAttribute(conn *ldap.Conn, user string) ([]string, error) {
	base := o.baseDN
	if o.groupOU != "" {
		base = "ou=" + o.groupOU + "," + o.baseDN
	}
	found, err := o.search(conn, base, ldap.ScopeWholeSubtree, both(o.account, user, o.groupClass), o.account, "cn",
		o.groupAttribute)
	var out []string
	for _, e := range found {
		if slices.Contains(e.GetEqualFoldAttributeValues(o.account), user) {
			out = append(out, firstNames([]*ldap.Entry{e})...)
		}
		if nameIn(e.DN) == user {
			for _, group := range e.GetEqualFoldAttributeValues(o.groupAttribute) {
				out = append(out, nameIn(group))
			}
		}
	}
	return out, err
}

// nameIn is the first value of a distinguished name: "ann" of "uid=ann,ou=people"; a text that is none as it is.
func nameIn(dn string) string {
	if !strings.Contains(dn, "=") {
		return dn
	}
	parsed, err := ldap.ParseDN(dn)
	if err != nil || len(parsed.RDNs) == 0 || len(parsed.RDNs[0].Attributes) == 0 {
		return dn
	}
	return parsed.RDNs[0].Attributes[0].Value
}
