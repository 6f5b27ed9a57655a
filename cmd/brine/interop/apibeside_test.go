//go:build interop

package interop

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
)

var everyAPI = flag.Bool("api", false, "send all requests to salt-api, not a few beside a master of Salt; some minutes (.ci/matrix interop-api)")

// TestAPISideBySide sends every request of the tables to the real salt-api 3008.3 beside its own master and to brine's beside
// brine's, and compares the answers. Where brine answers otherwise by decision, NAME.brine says what and why.
func TestAPISideBySide(t *testing.T) {
	if !*everyAPI {
		t.Skip("only with -api: cmd/brine's TestAPIRequests plays what is recorded")
	}
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
				if name == "tornado" && strings.HasSuffix(want.Body, `{"return": [{}]}`) && s.Ours[r.Name].Status == 0 {
					want = s.Salt[r.Name] // it leaves out who returns late, which it may do at any time
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

// differ compares an answer with the one of Salt, or where brine answers otherwise by decision with either: what was decided is the
// salt-api's or the master's.
func (c crossing) differ(s *apiplay.Sheet, name string, got apiplay.Answer) string {
	if c.api != brine {
		diff := apiplay.Differ(got, s.Salt[name])
		if ours, named := s.Ours[name]; diff != "" && named && apiplay.Differ(got, ours) == "" {
			return ""
		}
		return diff
	}
	got = apiplay.Ours(got)
	want, _ := s.Want(name)
	diff := apiplay.Differ(got, want)
	if diff != "" && apiplay.Differ(got, apiplay.Theirs(s.Salt[name])) == "" {
		return ""
	}
	return diff
}

var (
	// mastersWords are requests whose answers show the release of the master or the minion: those of a minion that dies of a job,
	// and times.
	mastersWords = []string{"limited-compound-bad", "compound-short", "state-test"}
	// unknownRunners ask for runner functions that nobody has. A master of Salt starts them and never tells of their end, so that who
	// does not have Salt's modules waits for rest_timeout.
	unknownRunners = []string{"runner-missing", "runner-missing-fun", "runner-async-missing"}
	// wheelOf3006 are answers of the wheel, which 3006 gives in other forms.
	wheelOf3006 = []string{"wheel-list", "wheel-finger", "wheel-match", "run-token-wheel", "keys", "keys-odd-delete", "keys-delete"}
)

// TestAPICrossed plays the requests to rest_cherrypy to brine's salt-api beside real masters, and to the real salt-api beside
// brine's master.
func TestAPICrossed(t *testing.T) {
	plain := []string{"welcome", "login", "cookie", "logout", "ping", "two-chunks", "no-match", "list-", "grain-", "compound-t", "echo-", "full-return", "async", "subset",
		"batch", "runner-arg", "runner-up", "runner-status", "runner-full", "runner-missing", "runner-async", "wheel-list", "wheel-finger", "wheel-match", "limited-ping",
		"limited-cmd", "limited-runner", "run-ping", "run-wrong", "run-token", "token", "minion", "jobs", "key", "hook", "events"}
	crossings := []crossing{{api: brine, master: "3008", only: []string{"welcome", "login", "ping", "full-return", "async", "runner-arg", "wheel-list", "minion", "jobs", "key", "hook"}}}
	if *everyAPI {
		crossings = []crossing{
			{api: brine, master: "3008", but: slices.Concat(unknownRunners, mastersWords)},
			{api: brine, master: "3006", only: plain, but: slices.Concat(unknownRunners, wheelOf3006)},
			{api: reference, master: brine, but: mastersWords},
		}
	}
	for _, c := range crossings {
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
				got, err := p.Send(context.Background(), r)
				if err != nil {
					t.Error(err)
					continue
				}
				if diff := c.differ(s, r.Name, got); diff != "" {
					t.Errorf("%s %s\n%s", r.Method, r.Path, diff)
				}
			}
		})
	}
}
