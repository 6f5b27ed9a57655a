//go:build interop

package interop

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
)

// TestAPISideBySide sends every request of the tables to the real salt-api 3008.3 beside its own master and to brine's beside
// brine's, and compares the answers. Where brine answers otherwise by decision, NAME.brine says what and why.
func TestAPISideBySide(t *testing.T) {
	onlyWith(t, reference)
	real := newAPISite(t, reference, reference)
	ours := newAPISite(t, brine, brine)
	for _, name := range apiplay.Sheets() {
		t.Run(name, func(t *testing.T) {
			s := real.sheet(name)
			theirs, mine := real.serve(reference, name, s.Conf), ours.serve(brine, name, s.Conf)
			for _, r := range s.Requests {
				if s.Salt[r.Name].Status == 0 {
					continue // the real one does not answer
				}
				want, err := theirs.Send(context.Background(), r)
				if err != nil {
					t.Errorf("the real salt-api: %v", err)
					continue
				}
				if want = apiplay.Theirs(want); s.Ours[r.Name].Status != 0 {
					want = s.Ours[r.Name]
				}
				got, err := mine.Send(context.Background(), r)
				if err != nil {
					t.Error(err)
					continue
				}
				if diff := apiplay.Differ(apiplay.Ours(got), want); diff != "" {
					t.Errorf("%s %s\n%s", r.Method, r.Path, diff)
				}
			}
		})
	}
}

// crossing is a salt-api beside a master of somebody else.
type crossing struct {
	api, master string
	only        []string // beginnings of the names of requests; nil: all
	but         []string // names that show the master, not the salt-api
}

// mastersWords are requests whose answers show the release of the master or the minion.
var mastersWords = []string{"limited-compound-bad"}

// TestAPICrossed plays the requests to rest_cherrypy to brine's salt-api beside real masters, and to the real salt-api beside
// brine's master.
func TestAPICrossed(t *testing.T) {
	plain := []string{"welcome", "login", "cookie", "logout", "ping", "two-chunks", "no-match", "list-", "grain-", "compound-t", "echo-", "full-return", "async", "subset",
		"batch", "runner-arg", "runner-up", "runner-status", "runner-full", "runner-missing", "runner-async", "wheel-list", "wheel-finger", "wheel-match", "limited-ping",
		"limited-cmd", "limited-runner", "run-ping", "run-wrong", "run-token", "token", "minion", "jobs", "key", "hook", "events"}
	for _, c := range []crossing{
		{api: brine, master: "3008", but: mastersWords},
		{api: brine, master: "3006", only: plain},
		{api: reference, master: brine, but: mastersWords},
	} {
		t.Run(c.api+" beside a master of "+c.master, func(t *testing.T) {
			onlyWith(t, reference)
			for _, release := range []string{c.api, c.master} {
				if release != brine {
					onlyWith(t, release)
				}
			}
			a := newAPISite(t, c.master, c.master)
			s := a.sheet("cherrypy")
			p := a.serve(c.api, "cherrypy", s.Conf)
			for _, r := range s.Requests {
				if slices.Contains(c.but, r.Name) || c.only != nil && !slices.ContainsFunc(c.only, func(b string) bool { return strings.HasPrefix(r.Name, b) }) {
					continue
				}
				want := s.Salt[r.Name]
				if c.api == brine {
					want, _ = s.Want(r.Name)
				}
				got, err := p.Send(context.Background(), r)
				if err != nil {
					t.Error(err)
					continue
				}
				if c.api == brine {
					got = apiplay.Ours(got)
				}
				if diff := apiplay.Differ(got, want); diff != "" {
					t.Errorf("%s %s\n%s", r.Method, r.Path, diff)
				}
			}
		})
	}
}
