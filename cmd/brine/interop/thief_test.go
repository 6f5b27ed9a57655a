//go:build interop

package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"brine/wire/auth"
	"brine/wire/auth/trust"
	"brine/wire/crypt"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/zmq"
)

const forged = "forged by a thief"

// TestSaltOfABrineMasterBesideAThief: Salt's own salt waits for a job of a brine master. A thief with a
// minion's key, who knows the job's id, cannot appear as another minion, add minions, or end the tool.
func TestSaltOfABrineMasterBesideAThief(t *testing.T) {
	t.Parallel()
	for _, release := range chosen("3008", "3006") {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.configMaster("auto_accept: True\norder_masters: True\nsyndic_wait: 1\n" + framing(release))
			s.startMaster(brine)
			s.configMinion("m1", "")
			s.startMinion(brine, "m1")
			s.awaitReady("m1")
			th := newThief(s)
			th.ask(payload.CmdReturn, "jid", "20260101000000000000", "fun", "test.ping", "return", true, "retcode", 0)
			jids := s.jobsOf("test.sleep")
			done := make(chan result, 1)
			go func() {
				// its output is checked
				r, _ := s.runOnce(patience, s.masterDir(), release, "salt", "--out=txt", "-t", "10", "-L", "m1,thief",
					"test.sleep", "4")
				done <- r
			}()
			select {
			case jid := <-jids:
				th.forge(jid)
				th.ask(payload.CmdReturn, "jid", jid, "fun", "test.sleep", "return", "mine", "retcode", 0, "success",
					true, "error", forged, "minions", []any{"nobody"}, "missing", []any{"nobody"})
			case r := <-done:
				t.Fatalf("salt ended without a job: %+v", r)
			}
			if r := <-done; r.code != 0 || strings.Join(sortedLines(strings.TrimSpace(r.stdout)),
				"|") != "m1: True|thief: mine" || r.took < 4*time.Second {
				t.Errorf("salt shows %+v", r)
			}
		})
	}
}

// jobsOf delivers the ids of new jobs with a function.
func (s *site) jobsOf(fun string) <-chan string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	sub, err := ipc.Subscribe(ctx, s.masterPath("var/run/salt/master/master_event_pub.ipc"), ipc.FramingDetect)
	if err != nil {
		cancel()
		s.t.Fatal(err)
	}
	jids, ended := make(chan string, 16), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			tag, data, err := sub.Next(ctx)
			if err != nil {
				return
			}
			if strings.HasPrefix(tag, "salt/job/") && strings.HasSuffix(tag, "/new") && data.Str("fun") == fun {
				jids <- data.Str("jid")
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); _ = sub.Close(); <-ended })
	return jids
}

// thief has a key that the master has accepted.
type thief struct {
	t    testing.TB
	req  *zmq.Req
	auth *auth.Minion
}

func newThief(s *site) *thief {
	s.t.Helper()
	key, err := crypt.GenerateKey(2048)
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := auth.NewMinion(auth.MinionOptions{ID: "thief", Key: key, Trust: trust.Dir{Path: s.t.TempDir()},
		AcceptanceWait: time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	zctx, err := zmq.NewContext(1)
	if err != nil {
		s.t.Fatal(err)
	}
	th := &thief{s.t, zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", s.ret, "", 0),
		Context: zctx}), a}
	s.t.Cleanup(func() { _ = th.req.Close(); _ = zctx.Close() })
	frame, err := a.Request()
	if err != nil {
		s.t.Fatal(err)
	}
	if step := a.Reply(th.send(frame)); step.Verdict != auth.Accepted {
		s.t.Fatalf("sign-in: %+v", step)
	}
	return th
}

func (th *thief) send(frame []byte) []byte {
	th.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply, err := th.req.Do(ctx, frame)
	if err != nil {
		th.t.Fatal(err)
	}
	return reply
}

// ask sends a command with its fields. The master must answer, with any result.
func (th *thief) ask(cmd string, fields ...any) {
	th.t.Helper()
	load := payload.M(fields...).Set("cmd", cmd)
	if !load.Has("id") {
		load.Set("id", "thief")
	}
	frame, nonce, err := th.auth.Seal(load)
	if err != nil {
		th.t.Fatal(err)
	}
	if _, err := th.auth.Open(th.send(frame), nonce); err != nil {
		th.t.Fatalf("%s: %v", cmd, err)
	}
}

// forge sends messages about a job that only the master and other minions may send, in every form.
func (th *thief) forge(jid string) {
	th.t.Helper()
	lie := func() *payload.Map {
		return payload.M("id", "m1", "jid", jid, "fun", "test.sleep", "return", forged, "retcode", 0, "success", true,
			"error", forged, "minions", []any{"nobody"}, "missing", []any{"nobody"})
	}
	for _, tag := range []string{"salt/job/" + jid + "/ret/m1", "salt/job/" + jid + "/error",
		"salt/job/" + jid + "/new", "salt/job/" + jid + "/prog/thief/0", "salt/job/" + jid + "/start/thief",
		"syndic/thief/" + jid, jid, jid + "/m1", "syndic/job/" + jid} {
		first, rest, _ := strings.Cut(tag, "/")
		single := lie().Set("tag", tag).Set("data", lie())
		th.ask(payload.CmdMinionEvent, pairs(single)...)
		for pretag, below := range map[string]string{"none": tag, "": tag, first: rest, tag: ""} {
			load := payload.M("events", []any{payload.M("tag", below, "data", lie())})
			if pretag != "none" {
				load.Set("pretag", pretag)
			}
			th.ask(payload.CmdMinionEvent, pairs(load)...)
		}
	}
	th.ask(payload.CmdReturn, pairs(lie().Set("id", "thief").Set("resource_id", "m1"))...)
	th.ask(payload.CmdReturn, pairs(lie().Set("id", "thief").Set("jid", jid+"/ret/m1"))...)
	th.ask(payload.CmdSyndicReturn, "load", []any{payload.M("id", "thief", "jid", jid, "fun", "test.sleep", "return",
		payload.M("m1", payload.M("return", forged, "retcode", 0)))})
}

func pairs(m *payload.Map) []any {
	var out []any
	for k, v := range m.All() {
		out = append(out, k, v)
	}
	return out
}
