package ledger

import (
	"strings"
	"testing"
	"time"
)

// moment is the time of the cases; sent is when their job was sent.
var (
	moment = At(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	sent   = ago(10 * time.Second)
)

func ago(d time.Duration) Stamp { return moment - At(time.Unix(0, 0).Add(d)) }

// meant is a case of a minion that the job was sent to, that is connected and has said nothing.
func meant(change ...func(*Case)) Case {
	c := Case{Now: moment, JID: "20260102115950000000", ID: "m1", Here: true, Target: Meant, Key: "accepted",
		Link: LinkUp, LinkNow: LinkUp,
		Job: &Snapshot{Job: Job{JID: "20260102115950000000", Tgt: "*", TgtType: "glob", Request: sent, Sent: sent},
			Rows: map[string]*Row{}},
		Peer: Peer{Brine: true, Up: 1, Heard: ago(time.Minute)}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func row(change func(*Row)) func(*Case) {
	return func(c *Case) {
		r := &Row{ID: c.ID}
		change(r)
		c.Job.Rows[c.ID] = r
	}
}

// says is a minion that has reported by itself; answers one that was asked just now.
func says(m Minion) func(*Case) {
	m.Now = ago(5 * time.Second)
	return row(func(r *Row) { r.Minion = &m })
}

func answers(m Minion) func(*Case) {
	return func(c *Case) { c.Asked, c.Answer = Answered, &m }
}

func key(state string) func(*Case) { return func(c *Case) { c.Key = state } }
func target(t Target) func(*Case)  { return func(c *Case) { c.Target = t } }
func asked(a Asked) func(*Case)    { return func(c *Case) { c.Asked = a } }
func links(at, now State) func(*Case) {
	return func(c *Case) {
		c.Link, c.LinkNow = at, now
		c.Peer.history[0] = change{ago(3 * time.Second), now == LinkUp}
	}
}
func byAddress(s State) func(*Case) { return func(c *Case) { c.Address = s } }

func denied(c *Case)  { c.Denied = true }
func salt(c *Case)    { c.Peer.Brine, c.Peer.Up = false, 0 }
func unknown(c *Case) { c.Job = nil }

func signIn(act string, code Code, why string) func(*Case) {
	return func(c *Case) {
		c.Peer.SignedAt, c.Peer.SignAct, c.Peer.SignWhy = ago(time.Second), act, Reason{code, why}
	}
}

func refused(code Code, why string) func(*Case) {
	return func(c *Case) { c.Peer.RefusedAt, c.Peer.RefusedAs = ago(time.Second), Reason{code, why} }
}

func claimed(code Code, why string) func(*Case) {
	return func(c *Case) { c.Peer.ClaimedAt, c.Peer.ClaimedAs = ago(time.Second), Reason{code, why} }
}

func outcome(o Outcome, detail string) Minion {
	return Minion{Received: ago(9 * time.Second), Started: ago(9 * time.Second), Made: ago(8 * time.Second), Outcome: o,
		Detail: detail}
}

// came is a minion whose return is here and says how the job ended.
func came(m Minion) func(*Case) {
	return row(func(r *Row) {
		r.Returned, r.Fired, r.Stored, r.Minion = ago(7*time.Second), ago(7*time.Second), ago(7*time.Second), &m
	})
}

// whyRow is what is known, and the reason.
type whyRow struct {
	name string
	c    Case
	code Code
	text string // part of it
}

const second = time.Second

func whyCases() []whyRow {
	return []whyRow{
		{"no such job", meant(unknown), UnknownJob, "knows no job 20260102115950000000"},
		{"an old job", meant(unknown, func(c *Case) {
			c.Age, c.Keep = 48*time.Hour, 24*time.Hour
		}), Expired, "older than keep_jobs (24h0m0s)"},
		{"returned", meant(came(Minion{Outcome: Done})), Returned, "it returned at 11:59:53 UTC, 7s ago"},
		{"returned, known by the store only", meant(func(c *Case) { c.Stored = true }), Returned, "lookup_jid"},
		{"returned late", meant(came(Minion{}), func(c *Case) {
			c.Job.Job.Client = &Client{Ended: ago(9 * second)}
		}), ReturnedLate, "2s after the command line had stopped waiting"},
		{"returned in time", meant(came(Minion{}), func(c *Case) {
			c.Job.Job.Client = &Client{Ended: ago(9 * second), Seen: map[string]Stamp{"m1": ago(9 * second)}}
		}), Returned, "it returned"},
		{"returned and not stored", meant(row(func(r *Row) {
			r.Returned, r.Lost = ago(second), "no space left on device"
		})), ReturnLost, "not stored: no space left"},
		{"returned, not cached", meant(row(func(r *Row) {
			r.Returned, r.Lost = ago(second), NotKept
		})), Returned, "it returned"},
		{"killed", meant(came(outcome(Killed, "signal 9"))), JobKilled, "was killed at 11:59:52 UTC, 8s ago: signal 9"},
		{"panicked", meant(came(outcome(Panicked, "nil map"))), JobPanicked,
			"panicked on the minion at 11:59:52 UTC, 8s ago: nil map"},
		{"out of memory", meant(came(outcome(OutOfMemory, ""))), JobOOM, "for want of memory"},
		{"process ended", meant(came(outcome(Died, "exit status 3"))), JobDied, "exit status 3"},
		{"minion restarted", meant(came(outcome(Restarted, ""))), JobRestarted, "process ended while the job ran"},
		{"minion stopped", meant(came(outcome(Stopped, ""))), JobStopped, "was stopped while the job ran"},
		{"stopping, returned", meant(came(outcome(Stopping, ""))), JobStopping,
			"about to end, at 11:59:52 UTC, 8s ago, and was not run"},
		{"queue full", meant(came(outcome(QueueFull, "10 jobs wait"))), JobQueueFull,
			"full at 11:59:52 UTC, 8s ago: 10 jobs wait; see process_count_max"},
		{"set aside", meant(came(outcome(SetAside, "nil map"))), JobSetAside,
			"died of it twice, and it was set aside at 11:59:52 UTC, 8s ago: nil map"},
		{"blackout", meant(came(outcome(BlackedOut, ""))), JobBlackout, "minion_blackout"},
		{"too large", meant(came(outcome(TooBig, "300000000 bytes"))), TooLarge, "larger than a message may be"},
		{"no room to keep it", meant(came(outcome(Unkept, "5000 bytes"))), ReturnUnkept,
			"the reason was sent in its place: 5000 bytes"},
		{"unpackable", meant(came(outcome(Unpackable, "a chan"))), JobUnpackable, "cannot be sent: a chan"},
		{"refused return", meant(row(func(r *Row) {
			r.RefusedAt, r.Refused = ago(second), "no signature"
		})), RefusedSign, "was refused: no signature"},

		{"not sent", meant(func(c *Case) {
			c.Job.Job.Sent, c.Job.Job.Failed = 0, "publication cannot be packed"
		}), NotSent, "did not send the job: publication cannot be packed"},
		{"not sent yet", meant(func(c *Case) {
			c.Job.Job.Sent = 0
		}), Publishing, "has had the job in hand since 11:59:50 UTC"},

		{"key pending", meant(key("pending"), target(Missing)), KeyPending, "salt-key -a m1"},
		{"key pending since", meant(key("pending")), KeyPending, "(it was accepted when the job was published)"},
		{"key rejected", meant(key("rejected"), target(NotMeant)), KeyRejected, "its key is rejected"},
		{"key denied", meant(key(""), target(NotMeant), denied), KeyDenied, "its key is denied"},
		{"key deleted", meant(key("")), KeyDeleted, "deleted since the job was published"},
		{"no key", meant(key(""), target(Missing)), KeyNone, "has no key of it"},
		{"key accepted since", meant(target(Missing)), KeyNone, "no accepted key of it when the job was published"},
		{"not meant", meant(target(NotMeant)), NotTargeted, "the target * (glob) did not mean it"},

		{"not matched", meant(answers(Minion{Received: ago(9 * second), Outcome: NotMatched, Detail: "os:Debian"})),
			JobNotMatched, "its target does not mean the minion there: os:Debian"},
		{"seen before", meant(answers(Minion{Received: ago(9 * second), Outcome: SeenBefore})), JobSeen,
			"has had one of this jid before"},
		{"stopping", meant(says(Minion{Received: ago(9 * second), Outcome: Stopping})), JobStopping, "about to end"},
		{"malformed", meant(says(Minion{Received: ago(9 * second), Outcome: Malformed, Detail: "no arg"})),
			JobMalformed, "is none: no arg"},
		{"not ready", meant(answers(Minion{Received: ago(9 * second), Outcome: OutcomeNotReady,
			Detail: "its key is pending"})), JobNotReady, "not ready for what came before 11:59:51 UTC, and dropped " +
			"it: its key is pending"},
		{"unopened", meant(answers(Minion{Outcome: Unopened, Detail: "signature"})), JobUnopened,
			"could not open what came at that time: signature"},
		{"received", meant(answers(Minion{Received: ago(9 * second)})), JobReceived,
			"has had the job since 11:59:51 UTC and has not begun"},
		{"queued", meant(answers(Minion{Received: ago(9 * second), Queued: ago(9 * second), Behind: 3})), JobQueued,
			"waiting behind 3 others on the minion since 11:59:51 UTC (9s)"},
	}
}

func moreWhyCases() []whyRow {
	return []whyRow{
		{"running", meant(answers(Minion{Received: ago(9 * second), Started: ago(8 * second)})), JobRunning,
			"running the job since 11:59:52 UTC (8s); salt m1 saltutil.kill_job"},
		{"running states", meant(answers(Minion{Received: ago(9 * second), Started: ago(8 * second),
			Detail: "2 of 4: cmd.run slow"})), JobRunning, "(8s): 2 of 4: cmd.run slow; salt"},
		{"running, it said", meant(says(Minion{Started: ago(8 * second)})), JobRunning,
			"; it said so at 11:59:55 UTC, 5s ago"},
		{"running, silent now", meant(says(Minion{Started: ago(8 * second)}), asked(Silent)), NoAnswer,
			"did not answer when asked just now"},
		{"running, gone now", meant(says(Minion{Started: ago(8 * second)}), links(LinkUp, LinkDown)), ConnectionLost,
			"its connection was lost at 11:59:57 UTC, 3s ago"},
		{"spooled", meant(answers(Minion{Made: ago(8 * second), Spooled: ago(8 * second), Size: 10, Attempts: 2,
			Tried: ago(second), Error: "no answer"})), JobSpooled, "waits on the minion's disk, 10 bytes, 2 " +
			"attempts to deliver it, the last failed at 11:59:59 UTC, 1s ago: no answer"},
		{"spooled, silent now", meant(says(Minion{Made: ago(8 * second), Spooled: ago(8 * second)}), asked(Silent)),
			JobSpooled, "did not answer when asked"},
		{"spool full", meant(answers(Minion{Made: ago(8 * second), Outcome: Killed})), SpoolFailed,
			"(killed); its return could not be put on the minion's disk"},
		{"no room, not delivered", meant(answers(Minion{Made: ago(8 * second), Spooled: ago(8 * second), Size: 5000,
			Outcome: Unkept, Detail: "5000 bytes", Attempts: 1, Tried: ago(second), Error: "no answer"})), ReturnUnkept,
			"no room to keep its return: 5000 bytes; the reason waits in its place on the minion's disk, 1 attempt"},
		{"held in memory", meant(answers(Minion{Made: ago(8 * second), Size: 5000, Outcome: Done, Tried: ago(second),
			Error: "it is larger than the minion may keep"})), SpoolFailed, "could not be put on the minion's disk " +
			"and is kept in memory, 5000 bytes, the last failed at 11:59:59 UTC, 1s ago: it is larger"},
		{"dropped", meant(answers(Minion{Made: ago(8 * second), Tried: ago(second), Outcome: Dropped,
			Detail: "return_spool_max_age"})), ReturnDropped, "gave up its return at 11:59:59 UTC"},
		{"no return", meant(answers(Minion{Made: ago(8 * second), Outcome: NoReturn})), JobNoReturn,
			"answers nobody, on purpose"},

		{"master full", meant(signIn("full", RefusedRequest, "max_minions is reached")), MasterFull,
			"max_minions is reached"},
		{"weak key", meant(signIn("reject", KeyWeak, "weak RSA key: 1024 bits, fewer than 2048; see allow_weak_keys"),
			links(LinkDown, LinkDown)), KeyWeak, "1024 bits, fewer than 2048"},
		{"version at sign-in", meant(signIn("", RefusedVersion, "protocol version 1 is below minimum_auth_version"),
			links(LinkDown, LinkDown)), RefusedVersion, "protocol version 1"},
		{"sign-in refused", meant(signIn("", RefusedRequest, "incomplete request"), links(LinkDown, LinkDown)),
			RefusedRequest, "refused a sign-in in its name"},
		{"accepted", meant(signIn("accept", RefusedRequest, "")), UnknownCause, "was not asked"},
		{"clock", meant(refused(RefusedClock, "older than request_server_ttl")), RefusedClock, "its clock is behind"},
		{"version of requests", meant(refused(RefusedVersion, "protocol version 2 is below minimum_auth_version")),
			RefusedVersion, "minimum_auth_version"},
		{"token", meant(refused(RefusedRequest, "token does not match")), RefusedRequest, "token does not match"},
		{"refused before the job", meant(func(c *Case) {
			c.Peer.RefusedAt, c.Peer.RefusedAs = ago(30*second), Reason{RefusedRequest, "x"}
		}), UnknownCause, "was not asked"},

		{"not connected", meant(links(LinkDown, LinkDown)), NotConnected,
			"not connected when the job was sent at 11:59:50 UTC, 10s ago; it does not get this job any more"},
		{"not connected then", meant(links(LinkDown, LinkUp), answers(Minion{Outcome: Unknown})), NotConnected,
			"it is now, but jobs are not sent again"},
		{"connection lost", meant(links(LinkUp, LinkDown)), ConnectionLost,
			"its connection was lost at 11:59:57 UTC, 3s ago"},
		{"find_job: running", meant(salt, row(func(r *Row) {
			r.FoundAt, r.Running = ago(second), true
		})), JobRunning, "still running the job at 11:59:59 UTC"},
		{"find_job: not running", meant(salt, row(func(r *Row) {
			r.FoundAt = ago(second)
		})), NotRunning, "does not run the job"},
		{"never received", meant(answers(Minion{Outcome: Unknown})), NeverReceived, "did not reach it"},
		{"frozen", meant(asked(Silent)), NoAnswer, "it is connected (last heard of at 11:59:00 UTC, 1m0s ago) and " +
			"did not answer"},
		{"salt's, connected by address", meant(salt, links(LinkUnknown, LinkUnknown), byAddress(LinkUp)), OldMinion,
			"a connection from an address of it is there"},
		{"salt's, gone by address", meant(salt, links(LinkUnknown, LinkUnknown), byAddress(LinkDown)), OldMinion,
			"no connection from an address of it is there now"},
		{"salt's, unknown", meant(salt, links(LinkUnknown, LinkUnknown)), OldMinion,
			"whether it is connected is not known"},
		{"clock off", meant(links(LinkDown, LinkDown), func(c *Case) {
			c.Peer.Timed, c.Peer.Offset = true, 3_600_000_000
		}), NotConnected, "Its clock is off by 3600 s (behind)"},
		{"clock ahead", meant(asked(Silent), func(c *Case) {
			c.Peer.Timed, c.Peer.Offset = true, -7_200_000_000
		}), NoAnswer, "Its clock is off by 7200 s (ahead)"},
		{"clock right", meant(asked(Silent), func(c *Case) {
			c.Peer.Timed, c.Peer.Offset = true, 900
		}), NoAnswer, "drops what is sent"},
	}
}

func TestWhy(t *testing.T) {
	for _, tt := range append(whyCases(), moreWhyCases()...) {
		t.Run(tt.name, func(t *testing.T) {
			got := Why(tt.c)
			if got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
				t.Errorf("got [%s] %s\nwant [%s] ... %s", got.Code, got.Text, tt.code, tt.text)
			}
		})
	}
}

// TestWhyByMasterClock: what a minion says by its own clock is told by the master's.
func TestWhyByMasterClock(t *testing.T) {
	hour := Stamp(3600e6)
	c := meant(row(func(r *Row) {
		r.Minion = &Minion{Started: ago(8*time.Second) - hour, Now: ago(5*time.Second) - hour, Offset: int64(hour)}
	}))
	c.Peer.Timed, c.Peer.Offset = true, int64(hour)
	if got := Why(c); got.Code != JobRunning || !strings.Contains(got.Text, "since 11:59:52 UTC (8s)") ||
		!strings.Contains(got.Text, "off by 3600 s (behind)") {
		t.Errorf("got %+v", got)
	}
}

// TestWhyTooOld: a minion has refused a publication that may be a recorded one.
func TestWhyTooOld(t *testing.T) {
	got := Why(meant(says(Minion{Received: ago(9 * time.Second), Outcome: TooOld,
		Detail: "minion_jid_queue_age is 168h0m0s"})))
	if got.Code != JobTooOld || !strings.Contains(got.Text, "older than those that the minion remembers") {
		t.Errorf("got %+v", got)
	}
}

// TestWhyClaims: what somebody has said in the name of a minion is no reason for one that is connected.
func TestWhyClaims(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Case
		code Code
		text string
	}{
		{"somebody in its name", meant(claimed(RefusedVersion, "protocol version 2 is below minimum_auth_version"),
			links(LinkUnknown, LinkUnknown)), RefusedVersion, "in its name"},
		{"somebody in the name of one that is connected", meant(claimed(RefusedRequest, "key is not accepted"),
			links(LinkUp, LinkUp), asked(Silent)), NoAnswer, "is connected"},
		{"a sign-in in the name of one that is connected", meant(signIn("", RefusedRequest, "incomplete request"),
			links(LinkUp, LinkUp), asked(Silent)), NoAnswer, "is connected"},
		{"a weak key in the name of one that is connected", meant(signIn("reject", KeyWeak, "see allow_weak_keys"),
			links(LinkUp, LinkUp), asked(Silent)), NoAnswer, "is connected"},
		{"somebody in the name of one that is not there", meant(claimed(RefusedRequest, "key is not accepted"),
			links(LinkDown, LinkDown)), RefusedRequest, "in its name"},
	} {
		if got := Why(tt.c); got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
			t.Errorf("%s: got %s: %s, want %s: %s", tt.name, got.Code, got.Text, tt.code, tt.text)
		}
	}
}

// TestKindsAndNotWords: the code of a refusal is that of its kind, whatever the words say.
func TestKindsAndNotWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Case
		code Code
		text string
	}{
		{"words decide nothing", meant(refused(RefusedRequest, "the version of request_server_ttl")), RefusedRequest,
			"the version of"},
		{"words of a sign-in decide nothing", meant(signIn("reject", RefusedRequest, "see allow_weak_keys")),
			UnknownCause, "was not asked"},
		{"a clock in other words", meant(refused(RefusedClock, "too old")), RefusedClock, "its clock is behind"},
	} {
		if got := Why(tt.c); got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
			t.Errorf("%s: got %+v", tt.name, got)
		}
	}
}
