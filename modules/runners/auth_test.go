package runners_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// TestMakeToken: the credentials reach who makes the token, and no event tells the password.
func TestMakeToken(t *testing.T) {
	reg := loader.NewRegistry()
	var got *payload.Map
	reg.Offer(all.Runners(runners.Options{Token: func(fields *payload.Map) (*payload.Map, error) {
		got = fields
		return payload.M("token", "t"), nil
	}}))
	var told strings.Builder
	res := runners.Run(t.Context(), &loader.Env{Registry: reg},
		runners.Request{Kind: runners.KindRunner, Fun: "auth.mk_token", JID: "1",
			KW: payload.M("username", "ann", "password", "hush", "eauth", "pam")},
		func(tag string, data *payload.Map) { fmt.Fprintln(&told, tag, data) })
	if m, _ := res.Return.(*payload.Map); m.Str("token") != "t" || got.Str("password") != "hush" ||
		got.Str("username") != "ann" {
		t.Errorf("got %v with %v", res.Return, got)
	}
	if strings.Contains(told.String(), "hush") || !strings.Contains(told.String(), "salt/run/1/ret") {
		t.Errorf("events: %s", told.String())
	}
}
