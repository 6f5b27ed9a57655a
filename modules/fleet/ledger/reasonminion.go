package ledger

import (
	"fmt"
	"strings"
	"time"
)

// byMinion uses what the minion itself says. What only says that it knows nothing is left to later rules.
func byMinion(c *Case) Reason {
	m := c.minion()
	if m == nil {
		return Reason{}
	}
	if r := c.notTaken(m); r.Code != "" {
		return r
	}
	switch {
	case m.Made != 0:
		return c.undelivered(m)
	case m.Started != 0:
		return c.stale(m, say(JobRunning, "it has been running the job since ", clock(m.Started), " (",
			c.since(m.Started), ")", detail(m.Detail), "; salt ", c.ID, " saltutil.kill_job ", c.JID, " ends it"))
	case m.Queued != 0:
		return c.stale(m, say(JobQueued, "the job has been waiting behind ", count(m.Behind, "other"),
			" on the minion since ", clock(m.Queued), " (", c.since(m.Queued), "); see process_count_max"))
	case m.Received != 0:
		return c.stale(m, say(JobReceived, "the minion has had the job since ", clock(m.Received),
			" and has not begun it"))
	}
	return Reason{}
}

// notTaken tells of publications that a minion did not make a job of.
func (c *Case) notTaken(m *Minion) Reason {
	at, more := c.at(m.Received), detail(m.Detail)
	switch m.Outcome {
	case NotMatched:
		return say(JobNotMatched, "the job came ", at, ", and its target does not mean the minion there", more)
	case MatchFailed:
		return say(JobUnmatched, "the job came ", at, " and was not run: the minion's Dispatcher died of it twice "+
			"before it could tell whether the target means the minion there", more)
	case SeenBefore:
		return say(JobSeen, "the job came ", at, ", and the minion has had one of this jid before", more)
	case TooOld:
		return say(JobTooOld, "the job came ", at, " and was refused: its jid is older than those that the minion "+
			"remembers, and nothing shows that it is no recorded one", more)
	case Stopping:
		return say(JobStopping, "the job came ", at, " when the minion was about to end", more)
	case Malformed:
		return say(JobMalformed, "the job came ", at, " and is none", more)
	case OutcomeNotReady:
		return say(JobNotReady, "the minion was not ready for what came before ", clock(m.Received), ", and dropped it",
			more)
	case Unopened:
		return say(JobUnopened, "the minion could not open what came at that time", more)
	case NoReturn:
		return say(JobNoReturn, "the job ended ", c.at(m.Made), " and answers nobody, on purpose", more)
	case Dropped:
		return say(ReturnDropped, "the minion gave up its return ", c.at(m.Tried), more,
			"; see return_spool_max_bytes and return_spool_max_age")
	}
	return Reason{}
}

// undelivered tells of a return that is made and has not come.
func (c *Case) undelivered(m *Minion) Reason {
	text := fmt.Sprintf("the job ended %s", c.at(m.Made))
	switch m.Outcome {
	case Done, OutcomeNone, Unkept, ReturnAside:
	default:
		text += " (" + strings.ReplaceAll(string(m.Outcome), "_", " ") + ")"
	}
	code := JobSpooled
	switch {
	case m.Outcome == Unkept:
		code = ReturnUnkept
		text += "; the minion had no room to keep its return" + detail(m.Detail) +
			"; the reason waits in its place on the minion's disk"
	case m.Outcome == ReturnAside:
		code = ReturnSpoilt
		text += "; the minion's ReturnSender died of its return twice" + detail(m.Detail) +
			"; the reason waits in its place"
	case m.Spooled == 0:
		code = SpoolFailed
		text += "; its return could not be put on the minion's disk and is kept in memory"
	default:
		text += "; its return waits on the minion's disk"
	}
	if m.Size > 0 && m.Outcome != Unkept && m.Outcome != ReturnAside {
		text += fmt.Sprintf(", %d bytes", m.Size)
	}
	if m.Attempts > 0 {
		text += fmt.Sprintf(", %s to deliver it", count(m.Attempts, "attempt"))
	}
	if m.Error != "" {
		text += ", the last failed " + c.at(m.Tried) + ": " + m.Error
	}
	return c.stale(m, Reason{code, text})
}

// stale says what weakens a minion's word: it is old, and the minion does not answer now.
func (c *Case) stale(m *Minion, r Reason) Reason {
	if c.Answer != nil {
		return r
	}
	r.Text += "; it said so " + c.at(m.Now)
	weak := func(code Code) {
		if m.Made == 0 { // of a return that is made the minion's word stands
			r.Code = code
		}
	}
	switch {
	case c.LinkNow == LinkDown:
		weak(ConnectionLost)
		r.Text += ", and its connection was lost " + c.at(c.Peer.changed())
	case c.Asked == Silent && c.LinkNow != LinkUp:
		weak(UnknownCause)
		r.Text += ", and it did not answer when asked just now; whether it is connected is not known"
	case c.Asked == Silent:
		weak(NoAnswer)
		r.Text += ", and it did not answer when asked just now: its process is stopped or overloaded, or the " +
			"network drops what is sent"
	}
	return r
}

// offSince is by how much a clock must be off to be worth a word.
const offSince = 2 * time.Second

func (c *Case) clockText() string {
	p := &c.Peer
	offset := time.Duration(p.Offset) * time.Microsecond
	if !p.Timed || offset.Abs() < offSince {
		return ""
	}
	way := "behind"
	if offset < 0 {
		way = "ahead"
	}
	return fmt.Sprintf(". Its clock is off by %d s (%s)", int64(offset.Abs().Round(time.Second)/time.Second), way)
}

func say(code Code, words ...string) Reason { return Reason{code, strings.Join(words, "")} }

// at is a moment in a sentence: "at 12:03:04 UTC, 12s ago".
func (c *Case) at(s Stamp) string {
	if s == 0 {
		return "at a time that is not known"
	}
	return "at " + clock(s) + ", " + c.since(s) + " ago"
}

func (c *Case) since(s Stamp) string { return span(c.Now.Sub(s)) }

func clock(s Stamp) string {
	if s == 0 {
		return "a time that is not known"
	}
	return s.Time().Format("15:04:05 UTC")
}

// span is a duration as people say it.
func span(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < 48*time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func detail(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}
