package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
)

// transcriptPlace names the sheet whose configuration the recorded salt-api had.
func transcriptPlace(tr *apiplay.Transcript) (sheet string) {
	_, variant, _ := strings.Cut(tr.Name, "_variant_")
	switch {
	case tr.Netapi == "rest_tornado":
		return "tornado"
	case variant == "app":
		return "app"
	case variant == "authorized_ips":
		return "ips"
	case variant == "nosessions_debug_prefix":
		return "prefix"
	case variant == "tls_acl_urls":
		return "tls"
	}
	return "cherrypy"
}

// transcriptUsers tells whose sessions and tokens the placeholders in requests stand for. By default it is
// admin. "" means a value that was never issued.
var transcriptUsers = map[string]map[string]string{
	"permissions": {"<SESSION_ID:1>": "limited", "<SESSION_ID:2>": "jobsonly", "<SESSION_ID:3>": "args",
		"<SESSION_ID:4>": "nobodyknown", "<SESSION_ID:5>": "whl"},
	"run_token":  {"<SALT_TOKEN:6>": ""},
	"events_sse": {"<SALT_TOKEN:1>": ""},
	"basic":      {"<SALT_TOKEN:5>": ""},
	"events_ws":  {"<SALT_TOKEN:2>": ""},
}

// TestAPITranscripts plays the recorded talks with a real salt-api to brine's, step by step, beside a brine
// master and its minions. Where brine differs on purpose, transcripts.brine holds its answer and the reason.
func TestAPITranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("several hundred requests")
	}
	t.Parallel()
	all, err := apiplay.ReadTranscripts(filepath.Join(apiData, "transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b *apiplay.Transcript) int { return lastOf(a) - lastOf(b) })
	raw, err := os.ReadFile(filepath.Join(apiData, "transcripts.brine"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := apiplay.ParseAnswers(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	used, differing, played := map[string]bool{}, map[string]apiplay.Answer{}, map[string]bool{}
	var text strings.Builder
	for _, topology := range []struct {
		name, salt string
		minions    []string
	}{{"two minions", "3006", []string{"m1", "m2"}}, {"one minion", "3007", []string{"m1"}}} {
		t.Run(topology.name, func(t *testing.T) {
			s := newAPISite(t, topology.minions...)
			for _, tr := range all {
				if tr.Salt == topology.salt {
					t.Run(tr.Name, func(t *testing.T) {
						played[tr.Name] = true
						newTalk(t, s, tr, ours, used, differing).play()
					})
				}
			}
		})
	}
	if *writeOurs != "" {
		for _, name := range slices.Sorted(maps.Keys(differing)) {
			fmt.Fprint(&text, differing[name])
		}
		if err := os.WriteFile(filepath.Join(*writeOurs, "transcripts.brine"), []byte(text.String()),
			0o644); err != nil {
			t.Error(err)
		}
	}
	for name := range ours {
		if talk, _, _ := strings.Cut(name, "/"); played[talk] && !used[name] && !t.Failed() {
			t.Errorf("transcripts.brine: %s differs from nothing", name)
		}
	}
}

// lastOf is a sort key: 1 for the talk during which the master ends, otherwise 0.
func lastOf(tr *apiplay.Transcript) int {
	if strings.HasSuffix(tr.Name, "master_down") {
		return 1
	}
	return 0
}

// talk plays one transcript.
type talk struct {
	t      *testing.T
	site   *apiSite
	tr     *apiplay.Transcript
	ours   map[string]apiplay.Answer
	used   map[string]bool
	differ map[string]apiplay.Answer // answers that differ from the recorded ones
	player *apiplay.Player
	values map[string]string // placeholder → value
	topic  string
}

func newTalk(t *testing.T, s *apiSite, tr *apiplay.Transcript, ours map[string]apiplay.Answer, used map[string]bool,
	differing map[string]apiplay.Answer) *talk {
	t.Helper()
	outer := s.t
	s.t = t
	t.Cleanup(func() { s.t = outer })
	_, topic, _ := strings.Cut(tr.Name, "_")
	k := &talk{t: t, site: s, tr: tr, ours: ours, used: used, differ: differing, values: map[string]string{},
		topic: topic}
	sheet := transcriptPlace(tr)
	conf, err := os.ReadFile(filepath.Join(s.data, sheet+".conf"))
	if err != nil {
		t.Fatal(err)
	}
	// the recorded salt-api had no such option
	conf = []byte(strings.Replace(string(conf), ", cors_origin: 'http://ui.example'", "", 1))
	scheme := "http"
	if sheet == "tls" {
		scheme = "https"
		s.certificate()
	}
	k.player = apiplay.NewPlayer(scheme+strings.TrimPrefix(s.serve(tr.Name, string(conf)), "http"), casePatience)
	t.Cleanup(k.player.Close)
	return k
}

func (k *talk) play() {
	for i := range k.tr.Steps {
		step := &k.tr.Steps[i]
		k.before(i)
		r, sent := step.FillStep(k.value)
		switch {
		case step.Want != nil:
			got, body, err := k.player.Exchange(k.t.Context(), r, sent...)
			if err != nil {
				k.t.Error(err)
				continue
			}
			for name, v := range step.Values(body) {
				if _, known := k.values[name]; !known { // a list of jobs has them in another order
					k.values[name] = v
				}
			}
			k.judge(step, got)
		case step.Raw != nil || step.Head != nil:
			k.stream(step, r, sent)
		}
	}
}

// judge compares an answer with the expected one.
func (k *talk) judge(step *apiplay.Step, got apiplay.Answer) {
	k.t.Helper()
	want := apiplay.Theirs(*step.Want)
	if strings.Contains(step.Body, `"local_subset"`) { // by chance it is either minion
		got.Body = strings.ReplaceAll(got.Body, "m2", "m1")
		want.Body = strings.ReplaceAll(want.Body, "m2", "m1")
	}
	k.hold(step, got, want)
}

// hold compares an answer with the recorded one, or with brine's own where brine differs on purpose.
func (k *talk) hold(step *apiplay.Step, got, want apiplay.Answer) {
	k.t.Helper()
	k.note(apiplay.Ours(got), want)
	if our, ok := k.ours[step.Name]; ok {
		k.used[step.Name] = !our.Same(want)
		want = our
	}
	if diff := apiplay.Differ(apiplay.Ours(got), want); diff != "" {
		k.t.Errorf("%s %s (%s)\n%s", step.Method, step.Path, step.Note, diff)
	}
}

// note keeps an answer that differs from the recorded one.
func (k *talk) note(got, want apiplay.Answer) {
	if !got.Same(want) {
		got.Why = k.ours[got.Name].Why
		k.differ[got.Name] = got
	}
}

// value returns the value for a placeholder in a request.
func (k *talk) value(name, kind, number string) string {
	if v, ok := k.values[name]; ok {
		return v
	}
	user, special := transcriptUsers[k.topic][name]
	if !special {
		user = "admin"
	}
	v, err := apiplay.StandIn(kind, number), error(nil)
	switch {
	case kind == "JID" || user == "":
	case kind == "SESSION_ID" || k.tr.Netapi == "rest_tornado":
		v, err = k.player.Session(k.t.Context(), user)
	default:
		v, err = k.player.Token(k.t.Context(), user)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.values[name] = v
	return v
}

// returned waits until an asynchronous job has the returns of all its minions, as it had in the recording.
func (k *talk) returned(jid string) {
	k.site.await("the returns of "+jid, func() error {
		_, body, err := k.player.Exchange(k.t.Context(), apiplay.Request{Name: "returned", Method: "GET",
			Path: "/jobs/" + jid, As: "admin", NoBody: true})
		if err == nil && !complete(body) {
			err = fmt.Errorf("not yet: %s", body)
		}
		return err
	})
}

// complete tells whether an answer contains a job with the returns of all its minions. rest_cherrypy puts it
// into info, rest_tornado into return.
func complete(body string) bool {
	var answer struct{ Info, Return []json.RawMessage }
	if json.Unmarshal([]byte(body), &answer) != nil {
		return false
	}
	for _, one := range append(answer.Info, answer.Return...) {
		var job struct {
			Minions []string
			Result  map[string]any
		}
		if json.Unmarshal(one, &job) == nil && len(job.Minions) > 0 && len(job.Result) == len(job.Minions) {
			return true
		}
	}
	return false
}

// before does what happened between two steps of the recording.
func (k *talk) before(i int) {
	if name, isJob := strings.CutPrefix(k.tr.Steps[i].Path, "/jobs/<JID:"); isJob {
		number, _, _ := strings.Cut(name, ">")
		if jid, known := k.values["<JID:"+number+">"]; known {
			k.returned(jid)
		}
	}
	switch {
	case k.topic == "token_lifetime" && i == 1:
		tokens, _ := filepath.Glob(filepath.Join(k.site.root, "m/var/cache/salt/master/tokens/*"))
		for _, name := range tokens {
			_ = os.Remove(name) // all of them must go
		}
	case k.topic == "master_down" && i == 0:
		k.value("<SESSION_ID:1>", "SESSION_ID", "1")
		k.site.stop(k.site.server)
	case k.topic == "session_auth" && k.tr.Steps[i].Note == "" && strings.Contains(k.tr.Steps[i].Body, "{}"):
		k.player.Forget("admin") // the session was logged out in a step before
	}
}
