package jobstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/wire/payload"
)

// Load announces a job, or more minions of a job that is known already.
type Load struct {
	JID     string
	Load    *payload.Map // the publish load without secrets; nil leaves the load of a known job alone
	Minions []string     // ids it was sent to; they are added to those of a known job
	Syndic  string       // id of the syndic that reports Minions, "" when they are this master's own
	NoCache bool         // returns of the job are not stored
	By      string       // the minion whose job it is; "" when somebody asked the master for it

	Announced bool // the files for Salt's tools are written already (Store.Announce)

	// Facts, when set, are a piece of what the master knows of a job (Store.Facts), and all that there is to be stored.
	// They go with the job; of a job that is not stored nothing is kept. LocalCache keeps none.
	Facts []byte
}

// Return is the answer of one minion.
type Return struct {
	JID, ID string
	By      string       // the minion that sent it: a job that nobody announced is its own
	Load    *payload.Map // as the minion sent it
	Facts   []byte       // a piece of what the master knows of it, kept with it (Store only); nil: none
}

// Extra is a return of a batch that was not stored.
type Extra struct {
	Index int // in the batch
	Why   Why
}

// Why tells why a return was not stored.
type Why int

// Reasons not to store a return.
const (
	Repeated  Why = iota + 1 // the minion has answered already, with the same result
	Differing                // the minion has answered already, with another result
	Uncached                 // the job is marked nocache
	Malformed                // jid or id cannot be stored
)

func (w Why) String() string {
	switch w {
	case Repeated:
		return "payload matches the cached return"
	case Differing:
		return "differing payload"
	case Uncached:
		return "the job is not cached"
	}
	return "malformed job id or minion id"
}

// Failure is a return, or a load, of a batch that could not be stored because of what it holds, or of what is stored of
// it already. It has kept nothing else from being stored.
type Failure struct {
	Index int // in the batch
	Err   error
}

// Result is what became of a commit that succeeded.
type Result struct {
	Extras []Extra   // returns that were not stored, and need not be
	Failed []Failure // returns that should have been stored
	Loads  []Failure // loads of the same kind
	Files  error     // the files for Salt's tools could not all be written; the jobs are stored all the same
}

// Err joins what has failed alone.
func (r Result) Err() error {
	var errs []error
	for _, f := range append(r.Loads, r.Failed...) {
		errs = append(errs, f.Err)
	}
	return errors.Join(errs...)
}

// Filter selects jobs.
type Filter struct {
	Count       int  // only that many of the latest jobs; 0: all
	SkipFindJob bool // leave out saltutil.find_job
}

// maxJID and maxID bound what may become a key. Real ones have 20 and at most 255 characters.
const (
	maxJID = 128
	maxID  = 512
)

// validJID says whether jid can be stored: a name of at least one character without NUL.
func validJID(jid string) bool {
	return jid != "" && len(jid) <= maxJID && !strings.Contains(jid, "\x00")
}

// validID says whether id can be stored and can name a directory.
func validID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= maxID && !strings.ContainsAny(id, "/\x00")
}

// record is what is kept of a return.
func record(load *payload.Map) *payload.Map {
	out := payload.NewMap(4)
	for _, key := range []string{"return", "retcode", "success", "out"} {
		if v, ok := load.Get(key); ok {
			out.Set(key, v)
		}
	}
	return out
}

// loadOfReturn makes the load of a job that nobody announced out of its first return, as Salt does. Unlike
// Salt: without the return itself, which is stored by itself.
func loadOfReturn(load *payload.Map) *payload.Map {
	ret := payload.NewReturn(load)
	out := ret.Rest()
	if inner, ok := ret.Value().(*payload.Map); ok && !ret.Has(payload.FieldFun) { // of a run on the master
		payload.NewReturn(inner).Pass(out, payload.FieldFun, payload.FieldUser)
	}
	return out
}

// union is the sorted set of two lists.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// withMinions adds the key Minions to a load, as get_load does.
func withMinions(load *payload.Map, minions []string) *payload.Map {
	return load.Clone().Set(fieldMinions, payload.AnyList(minions))
}

// fieldMinions is what a load has more when it comes from the store.
const fieldMinions = "Minions"

// MinionsOf are the minions of a load that GetLoad gave.
func MinionsOf(load *payload.Map) []string { return payload.Texts(load.Value(fieldMinions)) }

// EndTime is a time (UTC) as Salt writes it into the file endtime and shows it to people.
func EndTime(t time.Time) string { return t.UTC().Format("2006, Jan 02 15:04:05.000000") }

// keep applies a filter to jobs that come latest first, until the filter has enough.
type keep struct {
	Filter
	out *payload.Map
}

// add takes one job and says whether more are wanted.
func (k *keep) add(jid string, load *payload.Map) bool {
	if !k.SkipFindJob || payload.NewPublishRequest(load).Fun() != "saltutil.find_job" {
		k.out.Set(jid, load)
	}
	return k.Count == 0 || k.out.Len() < k.Count
}

// sorted returns the jobs that were kept, the earliest first.
func (k *keep) sorted() *payload.Map {
	jids := k.out.Keys()
	slices.SortFunc(jids, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	out := payload.NewMap(len(jids))
	for _, jid := range jids {
		out.Set(jid, k.out.Value(jid))
	}
	return out
}
