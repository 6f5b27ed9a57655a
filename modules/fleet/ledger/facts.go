package ledger

import "time"

// Stamp is a moment in microseconds since 1970, by the clock of the side that noted it. 0 is not known.
type Stamp int64

// At is the stamp of a time.
func At(t time.Time) Stamp {
	if t.IsZero() {
		return 0
	}
	return Stamp(t.UnixMicro())
}

// Time is the moment as a time in UTC; the zero time when it is not known.
func (s Stamp) Time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(s)).UTC()
}

// Sub is the time that has passed since an earlier stamp.
func (s Stamp) Sub(before Stamp) time.Duration { return time.Duration(s-before) * time.Microsecond }

// Job are the facts of a job as a whole, by the master's clock.
type Job struct {
	JID, Fun, Tgt, TgtType, User string

	Lane, Worker string // who handled the request that published it
	Request      Stamp  // the request came in; 0: the master or a minion began the job without one
	Work         Stamp  // the worker took it in hand
	Matched      Stamp  // the target was matched on the master
	Announced    Stamp  // its event was fired, its load given to the store
	Sealed, Sent Stamp  // the publication was sealed, and handed to the publish socket
	Replied      Stamp  // the answer left for the command line
	Stored       Stamp  // the load is on disk
	Failed       string // why the publication was not sent
	Asks         string // jid that this job asks about (saltutil.find_job)
	Bound        bool   // it was sent to Minions alone, whoever else its target means

	Minions []string // whom the target meant: sorted, not to be changed
	Missing []string // ids of the target that the master does not know
	Client  *Client  // nil: the command line has told nothing
}

// Client are the facts of the command line that published a job, by its own clock, which is the master's: it runs
// on the same machine.
type Client struct {
	PID     int64
	Started Stamp // the tool began
	Sent    Stamp // the request was sent
	Replied Stamp // the answer was there
	Ended   Stamp // it stopped waiting
	Why     string
	Seen    map[string]Stamp // return of a minion → when it came
	Batch   []string         // whom the job is sent to in turns, as a batch; sorted
}

// Row are the facts of one minion of a job, by the master's clock.
type Row struct {
	ID     string
	Worker string // that took the return

	Returned Stamp  // the return came in
	Fired    Stamp  // its event was fired
	Stored   Stamp  // it is on disk
	Lost     string // why it is not
	Retcode  int64

	Again   int64  // returns after the first
	Refused string // why a return was refused, the last one
	RefusedAt,
	FoundAt Stamp // when a find_job about the job was answered, the last one
	Running bool // what it said

	Minion *Minion // what the minion said; nil: nothing (Salt's minions say nothing)

	fresh bool // it has facts that are not stored
}

// Unstored tells of a return that came and could not be stored yet.
func (r *Row) Unstored() bool {
	return r.Returned != 0 && r.Stored == 0 && r.Lost != "" && r.Lost != NotKept
}

// NotKept is in Row.Lost of a return that is not to be stored.
const NotKept = "the job is not cached"

// Minion is what a brine minion says of one job. All stamps are by its own clock.
type Minion struct {
	Received Stamp // the publication was opened
	Queued   Stamp // it was put behind process_count_max
	Behind   int64 // that many jobs were before it then
	Started  Stamp // its function began
	Ended    Stamp // its function has ended
	Made     Stamp // the return was made
	Spooled  Stamp // the return is on the minion's disk
	Tried    Stamp // the last attempt to deliver it failed
	Acked    Stamp // the master has acknowledged it
	Attempts int64 // to deliver it, this one included
	Size     int64 // of the return in bytes

	Outcome Outcome // how the job ended, or why it was not taken
	Detail  string  // more about that: a signal, a panic, a target
	Error   string  // why the last attempt to deliver the return failed

	Now    Stamp // when this was said
	Offset int64 // to add to its stamps for the master's clock, in microseconds
}

// Outcome is how a job ended on a minion, or why the minion did not take it.
type Outcome string

// Outcomes.
const (
	OutcomeNone     Outcome = ""            // it has not ended
	Done            Outcome = "done"        // the function returned
	Killed          Outcome = "killed"      // a signal ended the job
	Panicked        Outcome = "panicked"    // the actor of the job died
	OutOfMemory     Outcome = "oom"         // the kernel ended its process for want of memory
	Died            Outcome = "died"        // its process ended by itself
	Restarted       Outcome = "restarted"   // the minion's process ended while it ran
	Stopped         Outcome = "stopped"     // the minion was stopped while it ran
	QueueFull       Outcome = "queue_full"  // the job queue had no room
	SetAside        Outcome = "set_aside"   // the Dispatcher died of it twice
	BlackedOut      Outcome = "blackout"    // the minion is in blackout
	NotMatched      Outcome = "not_matched" // the target does not mean this minion
	SeenBefore      Outcome = "seen_before" // a job of this jid was taken before
	TooOld          Outcome = "too_old"     // the jid is older than those that are remembered
	Stopping        Outcome = "stopping"    // the minion was about to end
	Malformed       Outcome = "malformed"   // the publication lacks a field
	NoReturn        Outcome = "no_return"   // the job answers nobody, on purpose
	TooBig          Outcome = "too_large"   // the return was larger than a message may be
	Unpackable      Outcome = "unpackable"  // the return could not be packed
	Unkept          Outcome = "unkept"      // there was no room for the return, and the reason takes its place
	Dropped         Outcome = "dropped"     // the return was given up
	Unknown         Outcome = "unknown"     // the minion knows nothing of the job
	OutcomeNotReady Outcome = "not_ready"   // publications were dropped that waited for a sign-in, or for the pillar
	Unopened        Outcome = "unopened"    // publications could not be opened

	// MatchFailed: the Dispatcher died of the job twice before it could tell whether the target means this minion.
	MatchFailed Outcome = "match_failed"
	// ReturnAside: the ReturnSender died of the return twice, and the reason takes its place.
	ReturnAside Outcome = "return_set_aside"
)
