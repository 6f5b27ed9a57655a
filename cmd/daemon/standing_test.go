package daemon

import (
	"strings"
	"testing"

	"brine/config"
	"brine/wire/payload"
)

// TestBackendFaults: a master does not start with a backend that would let nobody in, or everybody.
func TestBackendFaults(t *testing.T) {
	ldap := payload.M("auth.ldap.binddn", "uid={{ username }},dc=example")
	for _, tt := range []struct {
		external, raw *payload.Map
		want          string // part of the fault; "" for none
	}{
		{payload.M("pam", payload.M("ann", []any{".*"}), "auto", payload.NewMap(0)), nil, ""},
		{payload.M("django", payload.M("ann", []any{".*"})), nil, "'django'"},
		{payload.M("mysql", payload.NewMap(0)), nil, "'mysql'"},
		{payload.M("pki", payload.NewMap(0)), nil, "'pki'"},
		{payload.M("keystone", payload.NewMap(0)), nil, "'keystone'"},
		{payload.M("yubico", payload.NewMap(0)), nil, "'yubico'"},
		{payload.M("rest", payload.M("ann", []any{".*"})), nil, "^url"},
		{payload.M("file", payload.M("ann", []any{".*"})), nil, "^filename"},
		{payload.M("ldap", payload.NewMap(0)), nil, "auth.ldap.binddn"},
		{payload.M("ldap", payload.M("ann", []any{".*"})), ldap, ""},
		{payload.M("ldap", payload.M("ann", []any{payload.M("ldap(OU=web)", []any{".*"})})), ldap, "is not expanded"},
		{payload.NewMap(0), payload.M("eauth_acl_module", "rest"), "no section 'rest'"},
		{payload.NewMap(0), payload.M("eauth_acl_module", "django"), "'django'"},
		{payload.M("pam", payload.NewMap(0)), payload.M("eauth_acl_module", "pam"), ""},
	} {
		m := &config.Master{ExternalAuth: tt.external}
		if m.Raw, m.File = tt.raw, tt.external; tt.raw == nil {
			m.Raw = payload.NewMap(0)
		}
		err := unknownBackends(m).Err()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v with %v: got %v, want %q", tt.external, tt.raw, err, tt.want)
		}
	}
}
