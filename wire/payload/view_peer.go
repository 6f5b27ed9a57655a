package payload

import (
	"fmt"
	"strconv"
	"strings"
)

// PeerRequest is a minion's request to a master to run functions on other minions, or to run a runner: the load of
// minion_pub, minion_publish and minion_runner, and of pub_ret, which has a jid instead of most fields. Source:
// salt/daemons/masterapi.py, RemoteFuncs.
//
//	id        text    the minion
//	fun       text, or several with commas
//	arg       list    arguments; for several functions one member for each, a list or words in a text
//	tgt       as in a publish request
//	tgt_type  text    default: glob
//	ret       text    names of returners
//	no_parse  list    names of keywords whose values stay text
//	tmo, timeout      seconds that the minion waits, a number or a text
//	form      text    full: all fields of the returns
//	jid       text    of a job that the minion published
type PeerRequest struct{ view }

// NewPeerRequest is the view of a load.
func NewPeerRequest(load *Map) PeerRequest { return PeerRequest{view{load}} }

// Publishes tells whether a load has all fields of a publication.
func (p PeerRequest) Publishes() bool {
	return p.lacks(FieldFun, FieldArg, FieldTgt, FieldRet, FieldID) == ""
}

// Runs is the function of a request for a runner; "" if the load is not such a request.
func (p PeerRequest) Runs() string {
	if !p.Has(FieldArg) {
		return ""
	}
	return p.load.Str(FieldFun)
}

// Split turns several functions in one text, and their arguments, into lists.
func (p PeerRequest) Split() {
	fun := p.load.Str(FieldFun)
	if !strings.Contains(fun, ",") {
		return
	}
	var funs, args []any
	for name := range strings.SplitSeq(fun, ",") {
		funs = append(funs, name)
	}
	for _, arg := range p.Args() {
		own := []any{}
		if words, ok := arg.(string); ok {
			for word := range strings.FieldsSeq(words) {
				own = append(own, word)
			}
		} else if list, ok := arg.([]any); ok {
			own = list
		}
		args = append(args, own)
	}
	p.load.Set(FieldFun, funs).Set(FieldArg, args)
}

// Request is the same load as a publish request.
func (p PeerRequest) Request() PublishRequest { return PublishRequest(p) }

// Args are the arguments; nil if they are not a list.
func (p PeerRequest) Args() []any { return p.load.List(FieldArg) }

// NoParse are the names of the keywords whose values stay text.
func (p PeerRequest) NoParse() []string { return Texts(p.Field("no_parse")) }

// Tgt is the target, unchanged.
func (p PeerRequest) Tgt() any { return p.load.Value(FieldTgt) }

// TgtType is the kind of target; glob if it is not a text.
func (p PeerRequest) TgtType() string {
	if kind := p.load.Str(FieldTgtType); kind != "" {
		return kind
	}
	return "glob"
}

// Full tells whether the request asks for all fields of the returns.
func (p PeerRequest) Full() bool { return p.load.Str("form") == "full" }

// JID is the job whose returns are requested; "" if it is not a text.
func (p PeerRequest) JID() string { return p.load.Str(FieldJID) }

// Seconds is how long the minion waits for returns; 0 if it does not say.
func (p PeerRequest) Seconds() (wait float64) {
	for _, k := range []string{"tmo", "timeout"} {
		if n, err := strconv.ParseFloat(fmt.Sprint(p.Field(k)), 64); err == nil && n > 0 {
			wait = n
		}
	}
	return wait
}

// SyndicReturns are the returns of one job that a syndic has collected: the load of _syndic_return, or a member of its
// list. Source: salt/minion.py, SyndicManager; salt/master.py, AESFuncs._syndic_return.
//
//	jid     text  job id
//	return  map   ids and their returns without jid and id, or their functions' results
//	load    map   the publish load of the job, if the master does not know it
//	fun, fun_args, out, sig, master_id: for all returns that lack them
type SyndicReturns struct{ view }

// NewSyndicReturns is the view of a load.
func NewSyndicReturns(load *Map) SyndicReturns { return SyndicReturns{view{load}} }

// List is the load as a list: the members of its list, or the load itself.
func (s SyndicReturns) List() (all []SyndicReturns) {
	loads, several := s.Field(fieldLoad).([]any)
	if !several {
		return []SyndicReturns{s}
	}
	for _, l := range loads {
		if load, ok := l.(*Map); ok {
			all = append(all, SyndicReturns{view{load}})
		}
	}
	return all
}

// JID is the job id.
func (s SyndicReturns) JID() string { return s.load.Str(FieldJID) }

// Returns are the returns by minion id; nil if they are not a map.
func (s SyndicReturns) Returns() *Map { return s.load.Map(fieldReturn) }

// Job is the publish load of the job, and whether it is in the load.
func (s SyndicReturns) Job() (PublishRequest, bool) {
	job := s.load.Map(fieldLoad)
	return PublishRequest{view{job}}, job != nil
}

// ofAll are fields that the returns of one job may share.
var ofAll = []string{FieldMasterID, FieldFun, FieldFunArgs, FieldOut, "sig"}

// Return makes the return of one minion from the value under its id.
func (s SyndicReturns) Return(id string, v any) *Return {
	one := M(FieldJID, s.JID(), FieldID, id)
	if fields, ok := v.(*Map); ok {
		one.Update(fields)
	} else {
		one.Set(fieldReturn, v)
	}
	one.Set(FieldJID, s.JID()).Set(FieldID, id)
	for _, k := range ofAll {
		if v, ok := s.load.Get(k); ok && !one.Has(k) {
			one.Set(k, v)
		}
	}
	return NewReturn(one)
}
