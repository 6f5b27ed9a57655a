package eauth

import (
	"context"
	"crypto/subtle"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"brine/wire/payload"
)

// The names of backends that others speak of.
const (
	restName = "rest"
	ldapName = "ldap"
	pamName  = "pam"
)

// attempt is one log-in that a backend is to judge. No field holds a NUL.
type attempt struct {
	*Service
	conf           *payload.Map // the backend's section of external_auth
	user, password string
}

// admitted is what a backend knows of a user whose credentials are right.
type admitted struct {
	groups []any // names, for the entries "name%" of external_auth
	rules  []any // those of the backend itself, in the place of external_auth; nil: it has none
}

// backend judges one log-in. It returns nil for wrong credentials, and an error when it cannot tell: nobody comes in
// then, either.
type backend func(ctx context.Context, a *attempt) (*admitted, error)

func backends() map[string]backend {
	return map[string]backend{"auto": authAuto, "file": authFile, ldapName: authLDAP, pamName: authPAM,
		restName:       authRest,
		"sharedsecret": authSharedSecret}
}

// Backends are the names of the backends, sorted, as the command line lists them.
func Backends() []string { return slices.Sorted(maps.Keys(backends())) }

const (
	failTime = time.Second      // what a failure takes, give or take a quarter, unless one has taken longer
	patience = 30 * time.Second // that a backend has
)

// failureTime is how long one failure takes.
func failureTime(longest time.Duration) time.Duration {
	d := max(failTime, longest)
	return d*3/4 + time.Duration(rand.Int64N(int64(d/2)))
}

func authAuto(context.Context, *attempt) (*admitted, error) { return &admitted{}, nil }

func authSharedSecret(_ context.Context, a *attempt) (*admitted, error) {
	secret := a.opt.SharedSecret
	return admitIf(secret != "" && same(a.password, secret)), nil
}

func admitIf(ok bool) *admitted {
	if ok {
		return &admitted{}
	}
	return nil
}

// same compares in a time that does not tell where two texts differ.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// setting is an option of a backend in its section of external_auth: "^name".
func (a *attempt) setting(name, def string) string {
	if s := a.conf.Str("^" + name); s != "" {
		return s
	}
	return def
}

// option is an option of the master, as text.
func (a *attempt) option(key string) string { return a.opt.Settings.Str(key) }

func hasNUL(texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.IndexByte(s, 0) >= 0 })
}
