package directory

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"

	"github.com/go-ldap/ldap/v3"
)

// Options say where a directory is and how users and groups are found in it.
type Options struct {
	uris                     []string
	startTLS, noVerify       bool
	anonymous                bool
	bindDN, bindPW           string
	baseDN, filter           string
	scope                    int
	activeDirectory, freeIPA bool
	groupOU, groupBase       string
	groupClass, groupFilter  string
	account, groupAttribute  string
	personType               string
}

const prefix = "auth.ldap."

// Parse reads auth.ldap.* among the options of a master, with Salt's defaults. An error names the option that makes a
// log-in impossible, or possible without a password.
func Parse(all *payload.Map) (*Options, error) {
	r := reader{all}
	o := &Options{startTLS: r.flag("auth.ldap.starttls"), noVerify: r.flag("auth.ldap.no_verify"),
		anonymous: r.flag("auth.ldap.anonymous"), bindDN: r.text("auth.ldap.binddn", ""),
		bindPW: r.text("auth.ldap.bindpw", ""), baseDN: r.text("auth.ldap.basedn", ""),
		filter: r.text("auth.ldap.filter", ""), activeDirectory: r.flag("auth.ldap.activedirectory"),
		freeIPA: r.flag("auth.ldap.freeipa"), groupOU: r.orNone("auth.ldap.groupou", "Groups"),
		groupBase: r.text("auth.ldap.group_basedn", ""), groupClass: r.text("auth.ldap.groupclass", "posixGroup"),
		groupFilter: r.text("auth.ldap.group_filter", ""), account: r.text("auth.ldap.accountattributename",
			"memberUid"), groupAttribute: r.text("auth.ldap.groupattribute", "memberOf"),
		personType: r.text("auth.ldap.persontype", "person")}
	o.filter, o.groupFilter = inParentheses(o.filter), inParentheses(o.groupFilter)
	var err error
	if o.scope, err = strconv.Atoi(r.text("auth.ldap.scope", "2")); err != nil || o.scope < ldap.ScopeBaseObject ||
		o.scope > ldap.ScopeWholeSubtree {
		return nil, errors.New(prefix + "scope must be 0, 1 or 2")
	}
	if o.uris, err = r.servers(); err != nil {
		return nil, err
	}
	return o, o.check(r)
}

// inParentheses puts them around a filter that has none: the C library takes "uid={{ username }}", too.
func inParentheses(filter string) string {
	if filter == "" || strings.HasPrefix(strings.TrimSpace(filter), "(") {
		return filter
	}
	return "(" + filter + ")"
}

// check finds what does not go together.
func (o *Options) check(r reader) error {
	for name, template := range map[string]string{"binddn": o.bindDN, "filter": o.filter,
		"group_filter": o.groupFilter} {
		if strings.Contains(template, "{%") || strings.Contains(render(template, ""), "{{") {
			return fmt.Errorf("%s%s: a template other than {{ username }} is not there yet", prefix, name)
		}
	}
	for name, filter := range map[string]string{"filter": o.filter, "group_filter": o.groupFilter} {
		if _, err := ldap.CompileFilter(render(filter, "x")); filter != "" && err != nil {
			return fmt.Errorf("%s%s is no filter", prefix, name)
		}
	}
	switch {
	case o.startTLS && r.flag("auth.ldap.tls"):
		return errors.New(prefix + "tls and starttls exclude each other")
	case o.anonymous && r.flag("auth.ldap.auth_by_group_membership_only"):
		return errors.New(prefix + "anonymous with auth_by_group_membership_only lets everybody in without a password")
	case o.searches() && o.filter == "":
		return errors.New(prefix + "filter is needed to find users")
	case !o.searches() && render(o.bindDN, "") == o.bindDN:
		return errors.New(prefix + "binddn needs {{ username }} or, with it, bindpw and filter")
	case o.freeIPA && !o.activeDirectory && o.groupFilter == "":
		return errors.New(prefix + "group_filter is needed with freeipa")
	}
	return nil
}

// searches tells whether a user's name in the directory is looked up; otherwise it is made of auth.ldap.binddn.
func (o *Options) searches() bool {
	return o.bindDN != "" && o.bindPW != "" || o.anonymous && o.filter != ""
}

var username = regexp.MustCompile(`\{\{-?\s*username\s*-?\}\}`)

// render puts a user, who must be escaped already, into a template.
func render(template, user string) string { return username.ReplaceAllLiteralString(template, user) }

type reader struct{ all *payload.Map }

func (r reader) text(name, def string) string {
	switch v := r.all.Value(name).(type) {
	case nil:
		return def
	case string:
		return cmp.Or(v, def)
	default:
		return python.Str(v)
	}
}

// orNone is text of an option that may be turned off: with "", False or null.
func (r reader) orNone(name, def string) string {
	if v, ok := r.all.Get(name); ok && (v == nil || v == false || v == "") {
		return ""
	}
	return r.text(name, def)
}

func (r reader) flag(name string) bool {
	on, _ := r.all.Value(name).(bool)
	return on
}

// servers are the addresses to try in turn: auth.ldap.uri, which may hold some with blanks between, or server and port.
func (r reader) servers() ([]string, error) {
	scheme := "ldap"
	if r.flag("auth.ldap.tls") {
		scheme = "ldaps"
	}
	uris := strings.Fields(r.text("auth.ldap.uri", scheme+"://"+net.JoinHostPort(r.text("auth.ldap.server",
		"localhost"), r.text("auth.ldap.port", "389"))))
	for _, uri := range uris {
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != "ldap" && u.Scheme != "ldaps" && u.Scheme != "ldapi" || u.User != nil {
			return nil, errors.New(prefix + "uri is no address of a directory")
		}
	}
	return uris, nil
}

func hostOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
