package attack

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/wire/auth"
	"brine/wire/payload"
)

// version2 makes a thief use version 2, in which the id of a request is not bound to a key.
func version2(o *auth.MinionOptions) { o.MaxVersion = 2 }

// TestVersion2Refused: without minimum_auth_version every client with version 2 is refused.
func TestVersion2Refused(t *testing.T) {
	s := newSite(t, "")
	if _, err := s.stranger().askVersion(second(), 2, payload.M("cmd", payload.CmdPing)); err != nil {
		t.Fatal(err)
	}
	if v, _ := s.stranger().askVersion(second(), 2, payload.M("cmd", payload.CmdPing)); v != payload.TextBadLoad {
		t.Errorf("got %v", v)
	}
	s.good()
}

// TestVersion2Names: where version 2 is allowed, a thief can use any id. Requests with the id of a minion that
// has used version 3 have no effect, even after a restart of the master. Grains never have an effect, and
// requests that need a token fail without it.
func TestVersion2Names(t *testing.T) {
	s := newSite(t,
		"minimum_auth_version: 0\nfile_recv: True\npeer: {'.*': ['test.*']}\npeer_run: {'.*': ['test.*']}\n")
	th := s.namer("thief")
	s.honestMay()
	const jid = "20260101000000000001"
	for range 2 {
		e := s.listen()
		ret := payload.M("cmd", payload.CmdReturn, "id", honest, "jid", jid, "fun", "test.ping", "return", forged,
			"retcode", 0)
		for _, load := range []*payload.Map{
			ret,
			payload.M("cmd", payload.CmdReturn, "resource_id", honest, "jid", jid, "fun", "test.ping", "return", forged,
				"retcode", 0),
			payload.M("cmd", payload.CmdReturn, "id", []any{honest}, "jid", jid, "return", forged),
			payload.M("cmd", payload.CmdReturn, "id", "thief", "resource_id", honest, "jid", jid, "fun", "test.ping",
				"return", forged, "retcode", 0),
			payload.M("cmd", payload.CmdSyndicReturn, "id", honest, "load",
				[]any{payload.M("id", honest, "jid", jid, "return", payload.M(honest, payload.M("return", forged)))}),
			payload.M("cmd", payload.CmdMinionEvent, "id", honest, "tag", "salt/minion/"+honest+"/start", "data",
				forged),
			payload.M("cmd", payload.CmdMinionEvent, "id", honest, "events",
				[]any{payload.M("tag", "salt/minion/"+honest+"/start", "data", forged)}),
			payload.M("cmd", payload.CmdMine, "id", honest, "data", payload.M("x", forged), "clear", true),
			payload.M("cmd", payload.CmdMineGet, "id", honest, "tgt", "*", "fun", "x", "tgt_type", "glob"),
			payload.M("cmd", payload.CmdMineDelete, "id", honest, "fun", "x"),
			payload.M("cmd", payload.CmdBrineFacts, "id", honest, "jobs", payload.M(jid, forged)),
			payload.M("cmd", payload.CmdMineFlush, "id", honest),
			payload.M("cmd", payload.CmdRegisterResources, "id", honest, "resources", payload.M("x", []any{"r"})),
			payload.M("cmd", payload.CmdRevokeAuth, "id", honest),
			payload.M("cmd", payload.CmdFileRecv, "id", honest, "path", []any{forged}, "loc", 0, "data", []byte("x")),
			payload.M("cmd", payload.CmdMinionPublish, "id", honest, "tgt", "*", "fun", "test.arg", "arg",
				[]any{forged}, "ret", "", "tmo", 1),
			payload.M("cmd", payload.CmdMinionPub, "id", honest, "tgt", "*", "fun", "test.arg", "arg", []any{forged},
				"ret", ""),
			payload.M("cmd", payload.CmdMinionRunner, "id", honest, "fun", "test.arg", "arg", []any{forged}),
			payload.M("cmd", payload.CmdPubRet, "id", honest, "jid", jid),
			payload.M("cmd", payload.CmdPillar, "id", honest, "grains", payload.M("os", forged), "ver", "2"),
		} {
			for version := range 4 {
				for _, tok := range []any{nil, "x", []byte("x"), th.auth.Token(), th.auth.Token()[:100], []any{}} {
					load := load.Clone()
					if tok != nil {
						load.Set("tok", tok)
					}
					if err := th.say(version, load); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		s.good()
		if e.has(func(tag string, data *payload.Map) bool {
			return isForged(tag, data) || strings.HasPrefix(tag, "salt/run/") || data.Str("fun") == "test.arg" ||
				tag == "minion/refresh/"+honest || tag == "resource/refresh/"+honest
		}) {
			t.Errorf("fired: %v", e.all())
		}
		if r := s.tool("salt-run", "--out=json", "jobs.lookup_jid", jid); strings.Contains(r.stdout, honest) {
			t.Errorf("stored: %s", r.stdout)
		}
		if _, err := os.Stat(s.cache("minions/" + honest + "/files/" + forged)); !os.IsNotExist(err) {
			t.Errorf("a file of the honest minion: %v", err)
		}
		if r := s.tool("salt-run", "--out=json", "cache.grains", "*"); strings.Contains(r.stdout, forged) {
			t.Errorf("grains: %s", r.stdout)
		}
		if r := s.tool("brine", "minions", "--json"); !strings.Contains(r.stdout, `"version"`) {
			t.Errorf("brine minions: %s", r.stdout)
		}
		s.master.stop()
		s.startMaster()
		th = s.namer("thief")
		s.eventually("the honest minion", func() error { return s.ping(second()) })
	}
}

// honestMay checks that the requests refused below are permitted to a minion in its own name: it pushes,
// publishes and runs.
func (s *site) honestMay() {
	s.t.Helper()
	th, e := s.thief("own", nil), s.listen()
	if v := th.must(payload.M("cmd", payload.CmdFileRecv, "path", []any{"x"}, "loc", 0, "data",
		[]byte("x"))); v != true {
		s.t.Errorf("_file_recv: %v", v)
	}
	for _, cmd := range []string{payload.CmdMinionPublish, payload.CmdMinionPub, payload.CmdMinionRunner} {
		th.must(payload.M("cmd", cmd, "tgt", honest, "fun", "test.arg", "arg", []any{}, "ret", "", "tmo", 1))
	}
	s.eventually("publications and a run of a minion", func() error {
		jobs, runs, returns := 0, 0, 0
		for _, h := range e.all() {
			if strings.HasSuffix(h.tag, "/publish") && h.data.Str("fun") == "test.arg" {
				jobs++
			}
			if strings.HasSuffix(h.tag, "/ret/"+honest) && h.data.Str("fun") == "test.arg" {
				// a later return would look like a forged one
				returns++
			}
			if strings.HasPrefix(h.tag, "salt/run/") && strings.HasSuffix(h.tag, "/ret") {
				runs++
			}
		}
		if jobs != 2 || runs != 1 || returns != jobs {
			return fmt.Errorf("%d publications, %d runs, %d returns", jobs, runs, returns)
		}
		return nil
	})
}

// TestVersion2Works: a minion with version 2 can use its own id, as far as its protocol can prove it.
func TestVersion2Works(t *testing.T) {
	s := newSite(t, "minimum_auth_version: 0\n")
	th := s.thief("old", version2)
	const jid = "20260101000000000001"
	th.must(payload.M("cmd", payload.CmdReturn, "id", "old", "jid", jid, "fun", "test.ping", "return",
		"from the old one", "retcode", 0))
	if r := s.tool("salt-run", "--out=json", "jobs.lookup_jid", jid); !strings.Contains(r.stdout, "from the old one") {
		t.Errorf("not stored: %+v", r)
	}
	s.good()
}
