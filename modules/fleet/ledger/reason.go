package ledger

import "time"

// Code names a reason. Codes are stable: programs may compare them.
type Code string

// The codes. Those of the first group are about jobs whose return is here, the others about silence.
const (
	Returned      Code = "returned"
	ReturnedLate  Code = "returned_late" // after the command line had stopped waiting
	JobKilled     Code = "killed"        // by a signal
	JobPanicked   Code = "panicked"      // its actor died
	JobOOM        Code = "oom"           // out of memory
	JobDied       Code = "died"          // its process ended by itself
	JobRestarted  Code = "minion_restarted"
	JobStopped    Code = "minion_stopped"
	JobQueueFull  Code = "queue_full"
	JobSetAside   Code = "set_aside" // the minion's Dispatcher died of it twice
	JobBlackout   Code = "blackout"
	JobUnpackable Code = "unpackable"

	UnknownJob Code = "unknown_job" // the master knows no such job
	Expired    Code = "expired"     // it is older than keep_jobs
	NotSent    Code = "not_sent"    // the publication was never sent
	Publishing Code = "publishing"  // it is not sent yet

	KeyPending  Code = "key_pending"
	KeyRejected Code = "key_rejected"
	KeyDenied   Code = "key_denied"
	KeyWeak     Code = "key_weak"    // others could break the key that came
	KeyDamaged  Code = "key_damaged" // the file of the accepted key holds none
	KeyDeleted  Code = "key_deleted" // it was accepted when the job was published
	KeyNone     Code = "key_none"    // the master has never had one, or not at that time
	NotTargeted Code = "not_targeted"
	BatchTurn   Code = "batch_turn" // it is in a batch, and its turn has not come

	NotConnected   Code = "not_connected"   // when the job was sent
	ConnectionLost Code = "connection_lost" // since then
	MasterFull     Code = "master_full"     // max_minions
	RefusedVersion Code = "refused_version" // protocol
	RefusedClock   Code = "refused_clock"   // request_server_ttl
	RefusedRequest Code = "refused_request"
	RefusedSign    Code = "refused_signature" // of the return
	ReturnLost     Code = "not_stored"        // the return came, and could not be stored

	JobNotMatched Code = "not_matched"  // on the minion
	JobUnmatched  Code = "match_failed" // on the minion: whether the target means it is not known
	JobSeen       Code = "seen_before"
	JobTooOld     Code = "too_old"
	JobStopping   Code = "minion_stopping"
	JobMalformed  Code = "malformed"
	JobNotReady   Code = "not_ready"
	JobUnopened   Code = "unopened"
	JobReceived   Code = "received"
	JobQueued     Code = "queued"
	JobRunning    Code = "running"
	NotRunning    Code = "not_running" // alive without the job
	JobSpooled    Code = "spooled"
	SpoolFailed   Code = "spool_failed"
	TooLarge      Code = "too_large"
	ReturnDropped Code = "return_dropped"
	ReturnUnkept  Code = "return_unkept" // the reason came, or waits, in its place
	ReturnSpoilt  Code = "return_set_aside"
	JobNoReturn   Code = "no_return"
	NeverReceived Code = "never_received"

	NoAnswer     Code = "connected_no_answer"
	OldMinion    Code = "unknown_old_minion" // Salt's: it says no more
	UnknownCause Code = "unknown"
)

// Reason is why a minion is silent, or that it is not. Text is plain sentences.
type Reason struct {
	Code Code
	Text string
}

// Target is what a job's target says about a minion.
type Target int

// The relations of a minion to a job.
const (
	TargetUnknown Target = iota // the master does not remember whom the job meant
	Meant
	Missing  // named by the target, unknown to the master
	NotMeant // neither
)

// Asked is what came of a question to the minion.
type Asked int

// Outcomes of a question.
const (
	NotAsked Asked = iota
	Silent         // no answer came
	Answered
)

// Case is everything that a reason is made of.
type Case struct {
	Now     Stamp
	JID, ID string // no JID: no job was made, because its target meant nobody

	Job    *Snapshot     // nil: nothing is known of the job
	Here   bool          // the job was published by the master that runs now
	Age    time.Duration // of the job by its jid; 0 when that tells no time
	Keep   time.Duration // keep_jobs; 0: for ever
	Target Target
	// Undriven says that the process of the command line is not there any more.
	Undriven bool

	Key    string // accepted, pending, rejected, or ""
	Denied bool   // a key of this id is denied

	Link, LinkNow State   // when the job was sent, and now
	Address       State   // whether a connection from an address of it is there, which is a guess
	Peer          Peer    // what the master has met
	Asked         Asked   // a brine minion was asked about the job
	Answer        *Minion // its answer; its stamps are by the master's clock already
	Stored        bool    // the job store holds its return
}

// Why finds the reason.
func Why(c Case) Reason {
	for _, rule := range rules {
		if r := rule(&c); r.Code != "" {
			r.Text += c.twinText() + c.clockText()
			return r
		}
	}
	return Reason{UnknownCause, "nothing tells why " + c.ID + " gave no return"}
}

// rules in the order in which they count: what is certain and nearest to the return comes first.
var rules = []func(*Case) Reason{
	unknownJob, returned, refusedReturn, byKey, notMeant, notSent, byMinion, refusedAtPort, foundRunning, claimedAtPort,
	byOtherKey, byLink, foundIdle, byPresence,
}

func (c *Case) row() *Row {
	if r := c.Job.Row(c.ID); r != nil {
		return r
	}
	return &Row{}
}

// minion are the newest facts of the minion, by the master's clock; nil when it has said nothing.
func (c *Case) minion() *Minion {
	if c.Answer != nil {
		return c.Answer
	}
	if m := c.row().Minion; m != nil {
		return m.ByMaster()
	}
	return nil
}

// ByMaster is what a minion says in stamps of the master's clock.
func (m *Minion) ByMaster() *Minion {
	out := *m
	for _, f := range minionFields {
		if f.stamp != nil {
			if s := f.stamp(&out); *s != 0 {
				*s += Stamp(m.Offset)
			}
		}
	}
	return &out
}

func unknownJob(c *Case) Reason {
	switch {
	case c.Job != nil || c.Stored || c.JID == "":
		return Reason{}
	case c.Keep > 0 && c.Age > c.Keep:
		return say(Expired, "the job is older than keep_jobs (", span(c.Keep), "): what was known of it is removed")
	}
	return say(UnknownJob, "this master knows no job ", c.JID)
}

func returned(c *Case) Reason {
	r := c.row()
	if r.Returned == 0 {
		if c.Stored {
			return say(Returned, "it has returned; see salt-run jobs.lookup_jid ", c.JID)
		}
		return Reason{}
	}
	if out := c.died(); out.Code != "" {
		return out
	}
	at := c.at(r.Returned)
	if r.Unstored() && !c.Stored {
		again := ""
		if m := c.minion(); m != nil {
			again = "; the minion keeps it and sends it again"
		}
		return say(ReturnLost, "its return came ", at, " and is not stored: ", r.Lost, again)
	}
	if cl := c.Job.Job.Client; cl != nil && cl.Ended != 0 && r.Returned > cl.Ended && cl.Seen[c.ID] == 0 {
		return say(ReturnedLate, "it returned ", at, ", ", span(r.Returned.Sub(cl.Ended)),
			" after the command line had stopped waiting; see salt-run jobs.lookup_jid ", c.JID)
	}
	more := ""
	if m := c.minion(); m != nil {
		more = detail(m.Detail)
	}
	return say(Returned, "it returned ", at, more)
}

// died tells of jobs whose return says that they did not come to their end.
func (c *Case) died() Reason {
	m := c.minion()
	if m == nil {
		return Reason{}
	}
	at, more := c.at(m.Made), detail(m.Detail)
	switch m.Outcome {
	case Killed:
		return say(JobKilled, "the job was killed ", at, more)
	case Panicked:
		return say(JobPanicked, "the job panicked on the minion ", at, more)
	case OutOfMemory:
		return say(JobOOM, "the job's process was ended for want of memory ", at, more)
	case Died:
		return say(JobDied, "the job's process ended by itself ", at, more)
	case Restarted:
		return say(JobRestarted, "the minion's process ended while the job ran, and the next one answered ", at, more)
	case Stopped:
		return say(JobStopped, "the minion was stopped while the job ran, ", at, more)
	case Stopping:
		return say(JobStopping, "the job came when the minion was about to end, ", at, ", and was not run")
	case QueueFull:
		return say(JobQueueFull, "the job queue of the minion was full ", at, more,
			"; see process_count_max and job_queue_max")
	case SetAside:
		return say(JobSetAside, "the job was not run: the minion's Dispatcher died of it twice, and it was set aside ",
			at, more)
	case BlackedOut:
		return say(JobBlackout, "the minion is in blackout (minion_blackout) and ran nothing", more)
	case TooBig:
		return say(TooLarge, "what the function returned is larger than a message may be, and the reason was sent "+
			"in its place", more)
	case Unkept:
		return say(ReturnUnkept, "the minion had no room to keep the return for a master that did not answer, and "+
			"the reason was sent in its place", more)
	case ReturnAside:
		return say(ReturnSpoilt, "the job ended ", at, "; what it returned is lost, for the minion's ReturnSender "+
			"died of it twice, and the reason was sent in its place", more)
	case Unpackable:
		return say(JobUnpackable, "what the function returned cannot be sent", more)
	}
	return Reason{}
}

func refusedReturn(c *Case) Reason {
	r := c.row()
	if r.RefusedAt == 0 {
		return Reason{}
	}
	return say(RefusedSign, "its return came ", c.at(r.RefusedAt), " and was refused: ", r.Refused)
}

func notSent(c *Case) Reason {
	if c.Job == nil {
		return Reason{}
	}
	j := &c.Job.Job
	switch {
	case j.Failed != "":
		return say(NotSent, "the master did not send the job: ", j.Failed)
	case c.Here && j.Sent == 0 && j.Request != 0:
		return say(Publishing, "the master has had the job in hand since ", clock(j.Request),
			" and has not sent it yet; see brine tree")
	}
	return Reason{}
}

func byKey(c *Case) Reason {
	var r Reason
	switch c.Key {
	case "accepted":
		return r
	case "pending":
		r = say(KeyPending, "its key waits to be accepted: salt-key -a ", c.ID)
	case "rejected":
		r = say(KeyRejected, "its key is rejected: salt-key -d ", c.ID, ", and let it sign in again")
	default:
		switch {
		case c.weak().Code != "":
			return c.weak()
		case c.Denied:
			r = say(KeyDenied, "its key is denied: another key was known for the id; salt-key -d ", c.ID,
				", and let it sign in again")
		case c.Target == Meant:
			return say(KeyDeleted, "its key was deleted since the job was published")
		default:
			return say(KeyNone, "the master has no key of it: the minion has never signed in, or its key was deleted")
		}
	}
	if c.Target == Meant {
		r.Text += " (it was accepted when the job was published)"
	}
	return r
}

func notMeant(c *Case) Reason {
	switch c.Target {
	case NotMeant:
		j := &c.Job.Job
		if r := c.notItsTurn(j.Client); r.Code != "" {
			return r
		}
		return say(NotTargeted, "the target ", j.Tgt, " (", j.TgtType, ") did not mean it when the job was "+
			"published; salt --preview-target shows whom a target means")
	case Missing:
		return say(KeyNone, "the master had no accepted key of it when the job was published")
	}
	return Reason{}
}

// refusedAtPort tells of minions that the master turns away.
func refusedAtPort(c *Case) Reason {
	p := &c.Peer
	if p.SignedAt > p.Heard && p.SignedAt > p.RefusedAt && p.SignAct == "full" {
		return say(MasterFull, "the master turned it away ", c.at(p.SignedAt), ": max_minions is reached")
	}
	if p.RefusedAt <= p.Heard || p.RefusedAt < c.sent() {
		return Reason{}
	}
	return c.refusedAs(p.RefusedAt, p.RefusedAs)
}

// claimedAtPort tells of what the master turned away in the name of a minion, without knowing who it was. It is no
// reason for the silence of one that is connected or has answered: that was somebody else.
func claimedAtPort(c *Case) Reason {
	p := &c.Peer
	if c.LinkNow == LinkUp || c.Asked == Answered {
		return Reason{}
	}
	if p.SignedAt > p.Heard && p.SignedAt > p.ClaimedAt {
		switch {
		case c.weak().Code != "":
			return c.weak()
		case p.SignAct == "" && p.SignWhy.Code == RefusedVersion:
			return say(RefusedVersion, "the master refused a sign-in in its name ", c.at(p.SignedAt), ": ",
				p.SignWhy.Text, "; see minimum_auth_version")
		case p.SignAct == "":
			return say(RefusedRequest, "the master refused a sign-in in its name ", c.at(p.SignedAt), ": ",
				p.SignWhy.Text)
		}
	}
	if p.ClaimedAt <= p.Heard || p.ClaimedAt < c.sent() {
		return Reason{}
	}
	return c.refusedAs(p.ClaimedAt, p.ClaimedAs)
}

// refusedAs tells of requests that the master refuses.
func (c *Case) refusedAs(at Stamp, as Reason) Reason {
	why := as.Text
	switch as.Code {
	case RefusedClock:
		return say(RefusedClock, "the master refuses requests in its name, the last one ", c.at(at), ", as ", why,
			": its clock is behind, or the network slow")
	case RefusedVersion:
		return say(RefusedVersion, "the master refuses requests in its name, the last one ", c.at(at), ": ", why,
			"; see minimum_auth_version")
	}
	return say(RefusedRequest, "the master refuses requests in its name, the last one ", c.at(at), ": ", why)
}

func (c *Case) sent() Stamp {
	if c.Job == nil {
		return 0
	}
	return c.Job.Job.Sent
}

// foundRunning and foundIdle use what a find_job about this job has brought to light.
func foundRunning(c *Case) Reason {
	if r := c.row(); r.FoundAt != 0 && r.Running {
		return say(JobRunning, "it was still running the job ", c.at(r.FoundAt), ", as it answered to find_job")
	}
	return Reason{}
}

func foundIdle(c *Case) Reason {
	r := c.row()
	if r.FoundAt == 0 {
		return Reason{}
	}
	return say(NotRunning, "it answered to find_job ", c.at(r.FoundAt),
		" that it does not run the job: it did not take it, has not begun, or its return was lost")
}

func byPresence(c *Case) Reason {
	switch {
	case c.Answer != nil || c.Asked == Answered:
		return say(NeverReceived, "it is connected and answers, and knows nothing of the job: the publication did "+
			"not reach it")
	case c.LinkNow == LinkDown && c.Peer.changed() == 0:
		return say(NotConnected, "it is not connected now", c.heard(), "; whether it was when the job was sent is "+
			"not known")
	case c.LinkNow == LinkDown:
		return say(ConnectionLost, "its connection was lost ", c.at(c.Peer.changed()), ", after the job was sent",
			c.stillHeard(), "; what it did with the job is not known")
	case c.Asked == Silent && c.LinkNow != LinkUp:
		return say(UnknownCause, "whether it is connected is not known", c.heard(), c.byAddress(),
			", and it did not answer when asked just now")
	case c.Asked == Silent:
		return say(NoAnswer, "it is connected", c.heard(), " and did not answer when asked just now: its process is "+
			"stopped or overloaded, or the network drops what is sent")
	case c.LinkNow == LinkUp:
		return say(UnknownCause, "it is connected", c.heard(), " and was not asked")
	}
	return say(OldMinion, "whether it is connected is not known", c.heard(), c.byAddress(),
		"; Salt's minions say no more: salt ", c.ID, " saltutil.find_job ", c.JID, " asks it")
}

// byAddress tells what addresses say. Other minions and anybody else may have the same, or it may come from another
// one.
func (c *Case) byAddress() string {
	switch c.Address {
	case LinkUp:
		return "; a connection from an address of it is there"
	case LinkDown:
		return "; no connection from an address of it is there now"
	}
	return ""
}

// changed is when a peer last came or went.
func (p *Peer) changed() Stamp { return p.history[0].at }

// heard says when the minion was last heard of.
func (c *Case) heard() string {
	if c.Peer.Heard == 0 {
		return ""
	}
	return " (last heard of " + c.at(c.Peer.Heard) + ")"
}
