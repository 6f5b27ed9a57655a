//go:build interop

package interop

import (
	"context"
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
)

var everyAPI = flag.Bool("api", false, "send all requests to salt-api, not a few beside a master of Salt; some "+
	"minutes (.ci/matrix interop-api)")

// TestAPISideBySide sends every request of the tables to the real salt-api 3008.3 beside its own master and to brine's
// beside brine's, and compares the answers. Where brine answers otherwise by decision, NAME.brine says what and why.
func TestAPISideBySide(t *testing.T) {
	if !*everyAPI {
		t.Skip("only with -api: cmd/brine's TestAPIRequests plays what is recorded")
	}
	onlyWith(t, reference)
	real := newAPISite(t, reference, reference, "")
	ours := newAPISite(t, brine, brine, "")
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
				recorded, _ := s.Want(r.Name)
				got, err := mine.Send(context.Background(), r)
				if err != nil {
					t.Error(err)
					continue
				}
				got = apiplay.Ours(got)
				diff := apiplay.Differ(got, want)
				if diff != "" && apiplay.Differ(got, recorded) == "" {
					// it leaves out who returns late, which it may do at any time
					t.Logf("the real salt-api answers %s otherwise than when it was recorded:\n%s", r.Name, want)
				} else if diff != "" {
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
	but         []string // names that show the release of the master or the minion, not the salt-api
}

// differ compares an answer with the one of Salt, or where brine answers otherwise by decision with either: what was
// decided is the salt-api's or the master's.
func (c crossing) differ(s *apiplay.Sheet, name string, got apiplay.Answer) string {
	theirs, ours := s.Salt[name], s.Ours[name]
	if c.api == brine {
		got, theirs = apiplay.Ours(got), apiplay.Theirs(theirs)
	}
	if slices.ContainsFunc([]string{c.api, c.master}, func(kind string) bool {
		return kind != brine && kind != reference
	}) {
		got, theirs, ours = older(got), older(theirs), older(ours)
	}
	diff := apiplay.Differ(got, theirs)
	if ours.Status != 0 && diff != "" {
		if diff = apiplay.Differ(got, ours); c.api != brine && diff != "" {
			return apiplay.Differ(got, theirs)
		}
	}
	return diff
}

var (
	wheelList = regexp.MustCompile(
		`"minions_pre": (\[[^]]*\]), "minions_rejected": (\[[^]]*\]), "minions": (\[[^]]*\])`)
	stampYAML = regexp.MustCompile(`_stamp: '<ISO_STAMP>'\\n +`)
)

// older takes out of an answer what differs between the releases of masters and minions: what 3008 adds to the keywords
// of test.arg, the stamp of wheel calls, and the order of the states of keys.
func older(a apiplay.Answer) apiplay.Answer {
	a.Body = strings.NewReplacer(
		`, "__pub_resource_targets": [], "__pub_pure_resource_target": false, "__pub_minion_is_target": true`, "",
		`, "_stamp": "<ISO_STAMP>"`, "").Replace(a.Body)
	a.Body = stampYAML.ReplaceAllString(wheelList.ReplaceAllString(a.Body,
		`"minions": $3, "minions_pre": $1, "minions_rejected": $2`), "")
	return a
}

var (
	// mastersWords are requests whose answers show the release of the master or the minion: those of a minion that dies
	// of a job, and times.
	mastersWords = []string{"limited-compound-bad", "compound-short", "state-test"}
	// wordsBefore3008 are requests that masters and minions before 3008 answer otherwise: they do not mask pillars, and
	// the wheel passes arg by.
	wordsBefore3008 = []string{"pillar", "wheel-arg-list"}
	// apisBefore3008 are requests that a salt-api before 3008 answers otherwise: a batch of no size is an accident, and
	// ssh asks the right place whether a user may.
	apisBefore3008 = []string{"batch-odd", "limited-ssh"}
	// mastersRefusals are what brine's master refuses with a text where Salt's makes an answer: Salt's salt-api dies of
	// the text.
	mastersRefusals = []string{"keys-odd-mid"}
	// wordsOf3006 are requests to log in without a name or a password: a master of 3006 dies of them
	// (salt/auth/__init__.py, __auth_call).
	wordsOf3006 = []string{"run-no-password", "run-no-user"}
)

// crossings are the pairs that are played. Of the first every test plays a few requests; the rest takes some minutes
// each.
func crossings() []crossing {
	if !*everyAPI {
		return []crossing{{api: brine, master: reference,
			only: []string{"welcome", "login", "ping", "full-return", "async", "runner-arg", "wheel-list", "minion",
				"jobs", "key", "hook"}}}
	}
	before := slices.Concat(mastersWords, wordsBefore3008)
	return []crossing{
		{api: brine, master: reference, but: mastersWords},
		{api: brine, master: "3007", but: before},
		{api: brine, master: "3006", but: slices.Concat(before, wordsOf3006)},
		{api: reference, master: brine, but: slices.Concat(mastersWords, mastersRefusals)},
		{api: "3007", master: brine, but: slices.Concat(mastersWords, mastersRefusals, apisBefore3008)},
		{api: "3006", master: brine, but: slices.Concat(mastersWords, mastersRefusals, apisBefore3008)},
	}
}

// TestAPICrossed plays the requests to rest_cherrypy to brine's salt-api beside real masters, and to the real salt-apis
// beside brine's master.
func TestAPICrossed(t *testing.T) {
	for _, c := range crossings() {
		t.Run(c.api+" beside a master of "+c.master, func(t *testing.T) {
			onlyWith(t, reference)
			for _, release := range []string{c.api, c.master} {
				if release != brine {
					onlyWith(t, release)
				}
			}
			a := newAPISite(t, c.master, c.master, framing(c.api))
			s := a.sheet("cherrypy")
			p := a.serve(c.api, "cherrypy", s.Conf)
			for _, r := range s.Requests {
				if slices.Contains(c.but, r.Name) || c.only != nil && !slices.ContainsFunc(c.only, func(b string) bool {
					return strings.HasPrefix(r.Name, b)
				}) {
					continue
				}
				got, err := p.Send(t.Context(), r)
				if err != nil {
					t.Error(err)
				} else if diff := c.differ(s, r.Name, got); diff != "" {
					t.Errorf("%s %s\n%s", r.Method, r.Path, diff)
				}
			}
		})
	}
}
