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

// TestAPISideBySide sends every request in the tables to the real salt-api 3008.3 beside its own master and to
// brine's beside brine's master, and compares the answers. Where brine differs on purpose, NAME.brine holds its
// answer and the reason.
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
					continue // the real salt-api does not answer
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
					// late minions may be missing in the answer at any time
					t.Logf("the real salt-api answers %s otherwise than when it was recorded:\n%s", r.Name, want)
				} else if diff != "" {
					t.Errorf("%s %s\n%s", r.Method, r.Path, diff)
				}
			}
		})
	}
}

// crossing is a salt-api beside a master of the other implementation.
type crossing struct {
	api, master string
	only        []string // beginnings of names of requests; nil: all
	but         []string // names of requests whose answers depend on the master or the minion, not on the salt-api
}

// differ compares an answer with Salt's. Where brine differs on purpose, it may equal either, because the
// difference may be in the salt-api or in the master.
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

// older removes from an answer the differences between releases of masters and minions: the further keywords of
// test.arg in 3008, the stamp of wheel calls, and the order of the states of keys.
func older(a apiplay.Answer) apiplay.Answer {
	a.Body = strings.NewReplacer(
		`, "__pub_resource_targets": [], "__pub_pure_resource_target": false, "__pub_minion_is_target": true`, "",
		`, "_stamp": "<ISO_STAMP>"`, "").Replace(a.Body)
	a.Body = stampYAML.ReplaceAllString(wheelList.ReplaceAllString(a.Body,
		`"minions": $3, "minions_pre": $1, "minions_rejected": $2`), "")
	return a
}

var (
	// mastersWords are requests whose answers depend on the release of the master or the minion: one whose job
	// kills a minion, and some with times.
	mastersWords = []string{"limited-compound-bad", "compound-short", "state-test"}
	// wordsBefore3008 are requests that masters and minions before 3008 answer differently: they do not mask
	// pillars, and the wheel ignores arg.
	wordsBefore3008 = []string{"pillar", "wheel-arg-list"}
	// apisBefore3008 are requests that a salt-api before 3008 answers differently: it treats a batch without a
	// size by accident, and it checks the rights for ssh in another place.
	apisBefore3008 = []string{"batch-odd", "limited-ssh"}
	// mastersRefusals are requests that brine's master refuses with a text, where Salt's gives a result. Salt's
	// salt-api dies of the text.
	mastersRefusals = []string{"keys-odd-mid"}
	// wordsOf3006 are log-ins without a name or a password. A 3006 master dies of them (salt/auth/__init__.py,
	// __auth_call).
	wordsOf3006 = []string{"run-no-password", "run-no-user"}
)

// crossings are the pairs to play. Every test run plays a few requests of the first pair. The other pairs take
// some minutes each.
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

// TestAPICrossed plays the requests for rest_cherrypy with brine's salt-api beside real masters, and with the
// real salt-apis beside brine's master.
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
