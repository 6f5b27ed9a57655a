package attack

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/wire/payload"
)

// evil is a pattern that never ends on ids with many a's.
const evil = "((a|aa)+)+(?!b)[0-9]x$"

// evilTargets are targets that are expensive to evaluate.
func evilTargets() []*payload.Map {
	long := strings.Repeat("a", 4<<20)
	return []*payload.Map{
		payload.M("tgt_type", "pcre", "tgt", evil),
		payload.M("tgt_type", "compound", "tgt", strings.Repeat("E@"+evil+" or ", 500)+"x"),
		payload.M("tgt_type", "grain_pcre", "tgt", "long:"+evil),
		payload.M("tgt_type", "grain", "tgt", strings.Repeat("a:", 1<<20)),
		payload.M("tgt_type", "grain", "tgt", "deep:"+strings.Repeat("a:", 300)+"x"),
		payload.M("tgt_type", "glob", "tgt", strings.Repeat("*a", 1<<20)),
		payload.M("tgt_type", "pcre", "tgt", long),
		payload.M("tgt_type", "list", "tgt", strings.Repeat("a,", 2<<20)),
		payload.M("tgt_type", "nodegroup", "tgt", long),
		payload.M("tgt_type", long, "tgt", "*"),
	}
}

// evilMinion is a minion whose id and grains make patterns run for ever.
func (s *site) evilMinion() *thief {
	s.t.Helper()
	th := s.thief(strings.Repeat("a", 60), nil)
	deep := payload.M("a", "end")
	for range 400 {
		deep = payload.M("a", deep)
	}
	frame, _, err := th.auth.Seal(payload.M("cmd", payload.CmdPillar, "id", th.id, "saltenv", "base", "pillarenv", nil,
		"ver", "2", "grains", payload.M("id", th.id, "long", strings.Repeat("a", 80), "deep", deep)))
	if err == nil {
		_, err = th.send(patience, frame)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return th
}

// atOnce calls n functions concurrently and waits for all.
func atOnce(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// TestStrangerTargets: a client without a key is refused before its target is evaluated.
func TestStrangerTargets(t *testing.T) {
	s := newSite(t, "")
	s.evilMinion()
	for _, load := range evilTargets() {
		load.Set("cmd", payload.CmdPublish).Set("user", "root").Set("fun", "test.ping").Set("arg", []any{}).Set("ret",
			"").
			Set("jid", "20261122000000000000").Set("key", "no key")
		atOnce(8, func(int) {
			began := time.Now()
			v, err := s.stranger().ask(load)
			m, _ := v.(*payload.Map)
			if m.Map("error").Str("name") != "AuthenticationError" {
				t.Errorf("%s: got %v, %v", payload.Show(load.Str("tgt_type")), v, err)
			}
			if took := time.Since(began); took > 5*second() {
				t.Errorf("%s: a refusal took %v", payload.Show(load.Str("tgt_type")), took)
			}
		})
		s.good()
	}
}

// TestStrangerFunctions: the operator's patterns are not matched against names from strangers either.
func TestStrangerFunctions(t *testing.T) {
	s := newSite(t, "publisher_acl_blacklist: {users: ['bad.*', '^(a+)+$'], modules: ['cmd.*', '(x+)+y']}\n")
	funs := make([]any, 200_000)
	for i := range funs {
		funs[i] = "x.y"
	}
	atOnce(8, func(int) {
		v, err := s.stranger().ask(payload.M("cmd", payload.CmdPublish, "user", "root", "fun", funs, "tgt", "*", "arg",
			[]any{}, "ret", "", "key", "no key"))
		if m, _ := v.(*payload.Map); m.Map("error").Str("name") != "AuthenticationError" {
			t.Errorf("got %v, %v", v, err)
		}
	})
	s.good()
}

// TestStrangerClears: the other commands in clear cost nothing either for a client without a key. No pattern of
// the configuration is matched against a long name, no target is expanded, and nothing is stored.
func TestStrangerClears(t *testing.T) {
	s := newSite(t, "publisher_acl: {'(a+)+$': ['.*']}\npublisher_acl_blacklist: {users: ['(a+)+b'], modules: "+
		"['(a+)+b']}\n"+
		"external_auth: {sharedsecret: {'(a+)+$': ['.*'], '*': ['(a+)+b', '@runner', '@wheel']}}\nsharedsecret: "+
		"OpenSesame\n")
	s.evilMinion()
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	name, large := strings.Repeat("a", 1000)+"!", strings.Repeat("a", 2<<20)
	for _, cmd := range []string{payload.CmdPublish, payload.CmdRunner, payload.CmdWheel, payload.CmdMkToken,
		payload.CmdGetToken} {
		for i, load := range []*payload.Map{
			payload.M("user", name, "key", "no key", "fun", name, "kwargs", payload.NewMap(0)),
			payload.M("eauth", "sharedsecret", "username", name, "password", "wrong", "fun", name, "user", name,
				"kwargs", payload.M("eauth", "sharedsecret", "username", name, "password", "wrong")),
			payload.M("user", large, "key", large, "fun", large, "username", large, "password", large, "eauth", large,
				"token", large),
			payload.M("token", name, "fun", []any{large, large}, "kwargs", payload.M("token", large), "kwarg",
				payload.M("match", large)),
		} {
			load.Set("cmd", cmd).Set("tgt", evil).Set("tgt_type", "pcre").Set("arg", []any{}).Set("ret",
				"").Set("match", evil)
			atOnce(8, func(int) {
				began := time.Now()
				v, err := s.stranger().ask(load)
				if err != nil || says(v) {
					t.Errorf("%s: got %v, %v", cmd, v, err)
				}
				if took := time.Since(began); took > 8*second() { // a failed log-in waits a second by design
					t.Errorf("%s, load %d: a refusal took %v", cmd, i, took)
				}
			})
			s.good()
		}
	}
	s.grown(before, 600<<20)
}

// TestThiefTargets: a minion's targets may take long, but do not occupy the workers of others.
func TestThiefTargets(t *testing.T) {
	s := newSite(t, "target_timeout: 3\npeer: {'.*': ['.*']}\n")
	th := s.evilMinion()
	frames := map[string][]byte{} // made in advance, because the honest user shares this process with the thief
	for _, load := range evilTargets() {
		for _, cmd := range []string{payload.CmdMineGet, payload.CmdMinionPub} {
			what := fmt.Sprint(len(frames), cmd, payload.Show(load.Str("tgt_type")))
			frame, _, err := th.auth.Seal(load.Clone().Set("cmd", cmd).Set("fun", "test.ping").Set("arg",
				[]any{}).Set("ret", "").Set("id", th.id))
			if err != nil {
				t.Fatal(err)
			}
			frames[what] = frame
		}
	}
	var open sync.WaitGroup
	for what, frame := range frames {
		open.Go(func() {
			if _, err := s.stranger().send(patience, frame); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	for range 20 {
		s.good()
	}
	open.Wait()
	s.good()
}

// TestLoginStorm: failed log-ins are slow for the user who fails, and for no other. After too many failures,
// further attempts are refused at once.
func TestLoginStorm(t *testing.T) {
	s := newSite(t, "external_auth: {sharedsecret: {fred: ['.*', '@runner'], ann: ['test.ping']}}\nsharedsecret: "+
		"Op3nSesame\nlogin_failures_max: 50\n")
	from := s.stranger
	logIn := func(user, password string) (any, time.Duration) {
		began := time.Now()
		v, err := from().ask(payload.M("cmd", payload.CmdMkToken, "eauth", "sharedsecret", "username", user, "password",
			password))
		if err != nil {
			t.Error(err)
		}
		return v, time.Since(began)
	}
	if v, took := logIn("fred", "wrong"); v != any("") || took < 700*time.Millisecond || took > 3*second() {
		t.Errorf("a failed log-in gives %v after %v", v, took)
	}
	var storm sync.WaitGroup
	for i := range 40 {
		storm.Go(func() {
			fields := payload.M("eauth", "sharedsecret", "username", "fred", "password", fmt.Sprint("wrong", i))
			load := payload.M("cmd", payload.CmdPublish, "user", "fred", "fun", "test.ping", "tgt", "*", "arg", []any{},
				"ret", "", "tgt_type", "glob", "kwargs", fields)
			if i%2 == 0 {
				load = fields.Set("cmd", payload.CmdRunner).Set("fun", "jobs.active")
			}
			_, _ = s.stranger().ask(load)
		})
	}
	began := time.Now()
	s.good()
	if took := time.Since(began); took > second() {
		t.Errorf("during 40 failed log-ins a ping took %v", took)
	}
	storm.Wait()
	if v, _ := logIn("fred", "Op3nSesame"); v.(*payload.Map).Str("token") == "" {
		t.Errorf("the right password gives %v", v)
	}
	for range 30 {
		storm.Go(func() { logIn("fred", "wrong") })
	}
	storm.Wait()
	if v, took := logIn("fred", "Op3nSesame"); v != any("") || took > second() {
		t.Errorf("after too many failures a log-in gives %v after %v", v, took)
	}
	s.said(s.master, "login_failures_max")
	if v, _ := logIn("ann", "Op3nSesame"); v == any("") {
		t.Error("another user at the same address is not let in")
	}
	from = func() *stranger { return s.strangerFrom("127.0.0.7") }
	if v, _ := logIn("fred", "Op3nSesame"); v == any("") {
		t.Error("the user is not let in at another address")
	}
	s.good()
}
