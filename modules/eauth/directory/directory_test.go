package directory

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// options are those of a test: pairs of names below auth.ldap and values.
func options(t *testing.T, pairs ...any) *Options {
	t.Helper()
	o, err := Parse(settings(pairs...))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func settings(pairs ...any) *payload.Map {
	m := payload.NewMap(0)
	for i := 0; i < len(pairs); i += 2 {
		m.Set(prefix+pairs[i].(string), pairs[i+1])
	}
	return m
}

const base = "dc=example,dc=org"

// searching is a configuration with an account that looks users up.
func searching(port int, more ...any) []any {
	return append([]any{"server", "localhost", "port", int64(port), "basedn", base, "binddn", "uid=svc," + base,
		"bindpw", "Lookup", "filter", "uid={{ username }}", "accountattributename", "memberUid"}, more...)
}

func naming(port int, more ...any) []any {
	return append([]any{"port", fmt.Sprint(port), "basedn", base, "binddn", "uid={{username}},ou=people," + base},
		more...)
}

// TestAuthenticate asks a real slapd about its users in all the ways that the options know.
func TestAuthenticate(t *testing.T) {
	s := startServer(t)
	t.Setenv("SSL_CERT_FILE", s.cert)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	const right = "OpenSesame"
	for _, tt := range []struct {
		name, user, password string
		pairs                []any
		groups               string // "" = refused
	}{
		{"looked up", "ann", right, searching(s.port), "[ops]"},
		{"wrong password", "ann", "opensesame", searching(s.port), ""},
		{"nobody", "zoe", right, searching(s.port), ""},
		{"two entries", "twin", right, searching(s.port), ""},
		{"two entries, a filter that tells them apart", "twin", right, searching(s.port, "basedn", "ou=people,"+base,
			"groupou", ""), "[]"},
		{"scope one level", "ann", right, searching(s.port, "scope", int64(1)), ""},
		{"no group unit", "ann", right, searching(s.port, "groupou", "Nowhere"), "[]"},
		{"no unit of its own", "ann", right, searching(s.port, "groupou", ""), "[ops]"},
		{"anonymous search", "ann", right, searching(s.port, "binddn", "", "anonymous", true), "[ops]"},
		{"an anonymous search checks the password", "ann", "x", searching(s.port, "binddn", "", "anonymous", true), ""},
		{"made of the name", "bob", right, naming(s.port), "[dev]"},
		{"made of the name, wrong", "bob", "x", naming(s.port), ""},
		{"made of the name, nobody", "zoe", right, naming(s.port), ""},
		{"groups of the user's entry", "ann", right, searching(s.port, "groupou", "", "groupclass", "inetOrgPerson",
			"accountattributename", "uid"), "[Ann admins]"},
		{"active directory", "ann", right, searching(s.port, "activedirectory", true, "accountattributename", "uid",
			"persontype", "inetOrgPerson", "groupclass", "groupOfNames"), "[admins]"},
		{"freeipa", "ann", right, searching(s.port, "freeipa", true, "group_basedn", "ou=Groups,"+base, "group_filter",
			"(&(memberUid={{ username }})(objectClass=posixGroup))"), "[ops]"},
		{"freeipa by names of entries", "ann", right, searching(s.port, "freeipa", true, "group_basedn", base,
			"accountattributename", "member", "group_filter",
			"(member=uid={{ username }},ou=people,"+base+")"), "[admins]"},
		{"tls", "ann", right, searching(s.tlsPort, "tls", true), "[ops]"},
		{"starttls", "ann", right, searching(s.port, "starttls", true), "[ops]"},
		{"uri", "ann", right, searching(1, "uri", fmt.Sprint("ldap://127.0.0.1:1 ldap://127.0.0.1:", s.port)), "[ops]"},
		{"a socket", "ann", right, searching(1, "uri", "ldapi:///"+s.socket[1:]), "[ops]"},

		{"no password", "ann", "", searching(s.port), ""},
		{"no password, made of the name", "ann", "", naming(s.port), ""},
		{"no user", "", right, searching(s.port), ""},
		{"a star", "*", right, searching(s.port), ""},
		{"another filter", "x)(|(uid=ann", right, searching(s.port), ""},
		{"a filter of groups", "ann)(objectClass=*", right, naming(s.port), ""},
		{"another unit", "twin,ou=other,dc=example,dc=org", right, naming(s.port), ""},
		{"a name with a comma", "o,ou=other", right, naming(s.port), "[]"},
		{"a NUL", "ann\x00", right, searching(s.port), ""},
		{"a name that is none", strings.Repeat("a", 1000), right, naming(s.port), ""},
		{"two values", "ann+cn=Ann", right, naming(s.port), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known, err := Authenticate(t.Context(), options(t, tt.pairs...), tt.user, tt.password)
			switch {
			case err != nil:
				t.Errorf("got %v", err)
			case known == nil && tt.groups != "", known != nil && fmt.Sprint(known.Groups) != tt.groups:
				t.Errorf("got %v, want %s", known, tt.groups)
			}
		})
	}
	testFaults(t, s)
}

// testFaults: what is no fault of a user is an error, which shows no password.
func testFaults(t *testing.T, s *server) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		pairs []any
	}{
		{"no server", t.Context(), searching(1)},
		{"wrong password of the account", t.Context(), searching(s.port, "bindpw", "Sesame")},
		{"a server that nobody vouches for", t.Context(), searching(s.tlsPort, "tls", true, "server", "127.0.0.1")},
		{"no TLS there", t.Context(), searching(s.port, "tls", true)},
		{"over", ended, searching(s.port)},
	} {
		known, err := Authenticate(tt.ctx, options(t, tt.pairs...), "ann", "OpenSesame")
		if known != nil || err == nil || strings.Contains(err.Error(), "OpenSesame") || strings.Contains(err.Error(),
			"Lookup") {
			t.Errorf("%s: got %v, %v", tt.name, known, err)
		}
	}
	if known, err := Authenticate(t.Context(), options(t, searching(s.tlsPort, "tls", true, "server", "127.0.0.1",
		"no_verify", true)...), "ann", "OpenSesame"); known == nil || err != nil {
		t.Errorf("no_verify: got %v, %v", known, err)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		want  string // part of the error
		pairs []any
	}{
		{"", searching(389)},
		{"", naming(389)},
		{"binddn", nil},
		{"binddn", []any{"binddn", "uid=svc"}},
		{"filter", searching(389, "filter", "")},
		{"scope", searching(389, "scope", int64(3))},
		{"starttls", searching(389, "tls", true, "starttls", true)},
		{"without a password", searching(389, "anonymous", true, "auth_by_group_membership_only", true)},
		{"template", searching(389, "filter", "uid={{ username|lower }}")},
		{"template", searching(389, "filter", "{% if 1 %}x{% endif %}{{ username }}")},
		{"uri", searching(389, "uri", "http://x")},
		{"uri", searching(389, "uri", "ldap://user:secret@x")},
		{"no filter", searching(389, "filter", "(uid=")},
		{"group_filter", searching(389, "freeipa", true)},
	} {
		_, err := Parse(settings(tt.pairs...))
		if (tt.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "secret")) {
			t.Errorf("%v: got %v, want %q", tt.pairs, err, tt.want)
		}
	}
}
