package main

import (
	"strings"
	"testing"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/payload"
)

func stampNow() ledger.Stamp { return ledger.At(time.Now()) }

// salts stages a minion of Salt and its treatment of a job.
func salts(id string, do func(t *testing.T, s *silentSite, m *scripted, jid string)) func(*testing.T,
	*silentSite) (string, string) {
	return func(t *testing.T, s *silentSite) (string, string) {
		m := s.script(t, id).up(t, false)
		jid := s.one(t, id, "test.ping")
		s.sent(t, jid)
		do(t, s, m, jid)
		return jid, id
	}
}

// find asks a minion of Salt about its job.
func find(running any) func(t *testing.T, s *silentSite, m *scripted, jid string) {
	return func(t *testing.T, s *silentSite, m *scripted, jid string) {
		asked := s.one(t, m.id, "saltutil.find_job", jid)
		if _, err := m.giveBack(asked, "saltutil.find_job", running); err != nil {
			t.Fatal(err)
		}
	}
}

// says stages a brine minion that gives the same facts about every job.
func says(id string, facts func() *ledger.Minion) func(*testing.T, *silentSite) (string, string) {
	return func(t *testing.T, s *silentSite) (string, string) {
		m := s.script(t, id)
		m.facts = facts()
		m.up(t, true)
		jid := s.one(t, id, "test.ping")
		s.sent(t, jid)
		return jid, id
	}
}

// made returns facts about a job whose return is made. taken returns facts about a job that the minion received
// and did not start.
func made(change func(*ledger.Minion)) func() *ledger.Minion {
	return func() *ledger.Minion {
		now := stampNow()
		m := &ledger.Minion{Received: now, Started: now, Ended: now, Made: now, Outcome: ledger.Done, Size: 1234}
		change(m)
		return m
	}
}

func taken(outcome ledger.Outcome, detail string) func() *ledger.Minion {
	return func() *ledger.Minion {
		return &ledger.Minion{Received: stampNow(), Outcome: outcome, Detail: detail}
	}
}

// saltSilences are about minions of Salt. They depend on each other's order.
func saltSilences() []silence {
	return []silence{
		{"Salt's", salts("salt1", func(*testing.T, *silentSite, *scripted, string) {}), ledger.OldMinion,
			"saltutil.find_job"},
		{"Salt's, found running", salts("salt2", find(payload.M("jid", "1", "fun", "test.ping"))), ledger.JobRunning,
			"as it answered to find_job"},
		{"Salt's, found idle", salts("salt3", find(payload.NewMap(0))), ledger.NotRunning, "does not run the job"},
		{"Salt's, from elsewhere", salts("salt4", func(_ *testing.T, s *silentSite, _ *scripted, _ string) {
			s.grains("salt4", "ipv4", []any{"192.0.2.1"})
		}),
			ledger.OldMinion, "no connection from an address of it"},
		{"Salt's, returned", salts("salt5", func(t *testing.T, _ *silentSite, m *scripted, jid string) {
			if _, err := m.giveBack(jid, "test.ping", true); err != nil {
				t.Fatal(err)
			}
		}), ledger.Returned, "it returned"},
	}
}

// refusedSilences are about minions that the master refuses, and about clocks.
func refusedSilences() []silence {
	return []silence{
		{"unsigned return", func(t *testing.T, s *silentSite) (string, string) {
			m := s.script(t, "bare1", unsigned)
			if step := m.signIn(t); step.Verdict != auth.Accepted {
				t.Fatalf("%+v", step)
			}
			jid := s.one(t, "bare1", "test.ping")
			if v, err := m.giveBack(jid, "test.ping", true); err != nil || v != false {
				t.Fatalf("an unsigned return was answered with %v, %v", v, err)
			}
			return jid, "bare1"
		}, ledger.RefusedSign, "was refused"},
		{"protocol too old", func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, s.script(t, "old1").id, "test.ping")
			m := s.script(t, "old1", oldProtocol)
			if step := m.signIn(t); step.Verdict == auth.Accepted {
				t.Fatal("version 2 was accepted")
			}
			return jid, "old1"
		}, ledger.RefusedVersion, "minimum_auth_version"},
		{"clock an hour behind", func(t *testing.T, s *silentSite) (string, string) {
			m := s.script(t, "slow1", wrongClock(-time.Hour))
			if step := m.signIn(t); step.Verdict != auth.Accepted {
				t.Fatalf("%+v", step)
			}
			jid := s.one(t, "slow1", "test.ping")
			s.sent(t, jid)
			if _, err := m.giveBack(jid, "test.ping", true); err == nil {
				t.Fatal("a return of an hour ago was taken")
			}
			return jid, "slow1"
		}, ledger.RefusedClock, "its clock is behind"},
		{"clock an hour ahead", func(t *testing.T, s *silentSite) (string, string) {
			m := s.script(t, "fast1", wrongClock(time.Hour)).up(t, true)
			jid := s.one(t, "fast1", "test.sleep", int64(600))
			s.sent(t, jid)
			ahead := stampNow() + ledger.Stamp(time.Hour/time.Microsecond)
			facts := (&ledger.Minion{Received: ahead, Started: ahead, Now: ahead}).Pack()
			if _, err := m.tell(payload.M("cmd", payload.CmdBrineFacts, "id", "fast1", "jobs",
				payload.M(jid, facts))); err != nil {
				t.Fatal(err)
			}
			return jid, "fast1"
		}, ledger.NoAnswer, "Its clock is off by 3600 s (ahead)"},
		{"another key than the master has", func(t *testing.T, s *silentSite) (string, string) {
			m := s.script(t, "swap1")
			if step := m.signIn(t); step.Verdict != auth.Accepted {
				t.Fatalf("%+v", step)
			}
			if err := s.keys.Put(keys.Accepted, "swap1", strings.TrimSpace(s.rsa["master"].Public)); err != nil {
				t.Fatal(err)
			}
			jid := s.one(t, "swap1", "test.ping")
			s.sent(t, jid)
			if _, err := m.giveBack(jid, "test.ping", true); err == nil {
				t.Fatal("a return under another key was taken")
			}
			return jid, "swap1"
		}, ledger.RefusedRequest, "the master refuses requests in its name"},
	}
}

// stateSilences are about a minion's facts about a job, in states that are hard to create with a healthy
// minion.
func stateSilences() []silence {
	return []silence{
		{"return spooled", says("sp1", made(func(m *ledger.Minion) {
			m.Spooled, m.Attempts, m.Tried, m.Error = stampNow(), 3, stampNow(), "the master does not answer"
		})),
			ledger.JobSpooled, "3 attempts to deliver it, the last failed"},
		{"disk full on the spool", says("sp2", made(func(m *ledger.Minion) {
			m.Error, m.Tried = "no space left on device", stampNow()
		})),
			ledger.SpoolFailed, "could not be put on the minion's disk"},
		{"killed, return spooled", says("sp3", made(func(m *ledger.Minion) {
			m.Outcome, m.Spooled = ledger.Killed, stampNow()
		})), ledger.JobSpooled, "(killed)"},
		{"return dropped", says("sp4", made(func(m *ledger.Minion) {
			m.Outcome, m.Tried, m.Detail = ledger.Dropped, stampNow(), "too old"
		})),
			ledger.ReturnDropped, "gave up its return"},
		{"return not kept", says("sp6", made(func(m *ledger.Minion) {
			m.Outcome, m.Spooled, m.Detail = ledger.Unkept, stampNow(), "30000 bytes"
		})),
			ledger.ReturnUnkept, "no room to keep its return: 30000 bytes"},
		{"answers nobody", says("sp5", made(func(m *ledger.Minion) {
			m.Outcome = ledger.NoReturn
		})), ledger.JobNoReturn, "on purpose"},
		{"received and not begun", says("re1", func() *ledger.Minion {
			return &ledger.Minion{Received: stampNow()}
		}), ledger.JobReceived, "has not begun it"},
		{"jid seen before", says("se1", taken(ledger.SeenBefore, "")), ledger.JobSeen, "one of this jid before"},
		{"stopping", says("st1", taken(ledger.Stopping, "")), ledger.JobStopping, "about to end"},
		{"malformed", says("ma1", taken(ledger.Malformed, "no arg")), ledger.JobMalformed, "no arg"},
		{"signature of the publication", says("un1", taken(ledger.Unopened, "publication is not signed")),
			ledger.JobUnopened, "publication is not signed"},
		{"not ready", says("nr1", taken(ledger.OutcomeNotReady, "its key waits to be accepted")), ledger.JobNotReady,
			"was not ready for what came before"},
		{"frame lost", says("lo1", func() *ledger.Minion {
			return &ledger.Minion{Outcome: ledger.Unknown}
		}), ledger.NeverReceived, "did not reach it"},
		{"deaf", func(t *testing.T, s *silentSite) (string, string) {
			s.script(t, "deaf1").up(t, true)
			return s.one(t, "deaf1", "test.ping"), "deaf1"
		}, ledger.NoAnswer, "did not answer when asked"},
	}
}
