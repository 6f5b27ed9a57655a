package netapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"brine/actors/netapi/aside"
	"brine/modules/loader"
	"brine/modules/netapi"
	"brine/modules/text/args"
	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// notArguments are fields of a chunk that no runner function gets (salt/runner.py, _reformat_low).
var notArguments = []any{"username", "password", "eauth", "token", "client", "user", "key", "fun", "arg", "kwarg"}

// credentials are those fields of a chunk that say who asks.
func credentials(low *payload.Map) *payload.Map { return payload.NewCredentials(low).Shown() }

// functionOf is the function of a chunk for a runner or the wheel.
func functionOf(client string, low *payload.Map) (string, error) {
	if !low.Has("fun") {
		return "", netapi.BadRequest(client + " takes at least 1 argument (0 given)")
	}
	fun, ok := low.Value("fun").(string)
	if !ok {
		return "", netapi.ErrUnexpected
	}
	return fun, nil
}

// runnerCall is the request that a chunk comes to. Keywords may stand in arg, in kwarg and beside them; the later
// counts. Those that the function does not know are dropped, and names that begin with __, which masters and their own
// tools use among themselves.
func (s *Server) runnerCall(ctx context.Context, name string, low *payload.Map, own ...any) (client.Call, error) {
	fun, err := functionOf(name, low)
	if err != nil {
		return client.Call{}, err
	}
	kwarg, isMap := low.Value("kwarg").(*payload.Map)
	if v := low.Value("kwarg"); v != nil && !isMap {
		return client.Call{}, netapi.ErrUnexpected
	}
	pos, kw := args.Split(low.List("arg"), nil)
	kw.Update(kwarg)
	rest := low.Clone()
	for _, field := range append(notArguments, own...) {
		rest.Delete(field)
	}
	kw.Update(rest)
	for _, k := range kw.Keys() {
		if name, text := k.(string); !text || strings.HasPrefix(name, "__") {
			kw.Delete(k)
		}
	}
	f, known := s.opt.Runners(fun)
	if !known || f == nil && s.theirs.surelyLack(fun) {
		return client.Call{}, netapi.ErrUnexpected
	}
	if f != nil && !f.KWArgs {
		for _, k := range kw.Keys() {
			if !takes(f, k) {
				kw.Delete(k)
			}
		}
	}
	return client.Call{Fun: fun, Arg: pos, KWArg: kw, Credentials: credentials(low)}, nil
}

// foreign tells whether only the master knows if it has a runner function.
func (s *Server) foreign(fun string) bool {
	f, _ := s.opt.Runners(fun)
	return f == nil
}

func takes(f *loader.Func, name any) bool {
	for _, p := range f.Params {
		if p.Name == name {
			return true
		}
	}
	return false
}

// runnerAsync starts a runner: {tag, jid}.
func (s *Server) runnerAsync(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
	call, err := s.runnerCall(ctx, netapi.RunnerAsync, low)
	if err != nil {
		return nil, err
	}
	started, err := s.opt.Client.Runner(ctx, call)
	if err != nil {
		return nil, err
	}
	note("runner " + started.JID + " " + payload.Show(call.Fun))
	if s.lacks(ctx, call.Fun) {
		return nil, netapi.ErrUnexpected
	}
	return payload.M("tag", started.Tag, "jid", started.JID), nil
}

// lacks tells whether the master has no such function, where that can be found out soon.
func (s *Server) lacks(ctx context.Context, fun string) bool {
	if !s.foreign(fun) {
		return false
	}
	soon, cancel := context.WithTimeout(ctx, lackedWithin)
	defer cancel()
	return s.theirs.lack(soon, fun)
}

// runner starts a runner and waits for its end, rest_timeout at most: its return, or with full_return its whole event.
func (s *Server) runner(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
	call, err := s.runnerCall(ctx, netapi.Runner, low, "timeout", "full_return")
	if err != nil {
		return nil, err
	}
	wait, err := seconds(low, "timeout")
	if err != nil {
		return nil, err
	}
	if wait == 0 {
		wait = s.Config().RestTimeout
	}
	late := &netapi.Error{Status: http.StatusGatewayTimeout}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, late)
	defer cancel()
	stream, err := s.opt.Client.Watch(ctx, event.PrefixRun)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // what it says does not matter any more
	started, err := s.opt.Client.Runner(ctx, call)
	if err != nil {
		return nil, err
	}
	note("runner " + started.JID + " " + payload.Show(call.Fun))
	if s.foreign(call.Fun) { // the master has taken who asks: only now it may be asked something on its own account
		var lacks context.CancelCauseFunc
		ctx, lacks = context.WithCancelCause(ctx)
		defer lacks(nil)
		aside.Go(s.opt.Logger, "functions of the master", lacks, func() {
			if s.theirs.lack(ctx, call.Fun) {
				lacks(netapi.ErrUnexpected)
			}
		})
	}
	for {
		body, err := stream.Next(ctx)
		if err != nil {
			return nil, err
		}
		if event.Tag(body) != started.Tag+"/ret" {
			continue
		}
		_, data, err := event.Unpack(body)
		switch {
		case err != nil:
			return nil, err
		case event.ByMinion(data):
			continue
		case data.Value("success") == false && s.lacks(ctx, call.Fun):
			// a master of 3006 says so before it has told its functions
			return nil, netapi.ErrUnexpected
		case python.Truth(low.Value("full_return")):
			return payload.M("data", data, "tag", started.Tag+"/ret"), nil
		}
		return payload.NewReturn(data).Value(), nil
	}
}

// wheelPatience is how long one try of a wheel request may take: it runs within the master's worker.
const wheelPatience = 60 * time.Second

// wheel runs a wheel function within the master: {tag, data}.
func (s *Server) wheel(ctx context.Context, low *payload.Map, _ func(string)) (any, error) {
	fun, err := functionOf(netapi.Wheel, low)
	if err != nil {
		return nil, err
	}
	return s.callWheel(ctx, payload.WheelFor(fun, low))
}

func (s *Server) callWheel(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	reply, err := s.opt.Client.Request(ctx, load, wheelPatience)
	if err != nil {
		return nil, err
	}
	m, ok := reply.(*payload.Map)
	switch {
	case !ok || m.Len() == 0:
		return nil, client.ErrMalformed
	case m.Has("error"):
		why := m.Map("error")
		return nil, &client.RemoteError{Name: why.Str("name"), Message: why.Str("message")}
	}
	return m, nil
}

// userOfNobody is whom the events of an asynchronous wheel call name, as in Salt.
const userOfNobody = "UNKNOWN"

// wheelAsync runs a wheel function as an actor that nobody waits for: {tag, jid}. A master of Salt fires the events of
// that jid itself; one of brine those of its own jid, so that these are fired here.
func (s *Server) wheelAsync(ctx context.Context, low *payload.Map, _ func(string)) (any, error) {
	fun, err := functionOf(netapi.WheelAsync, low)
	if err != nil {
		return nil, err
	}
	jid := payload.NewUniqueJID(time.Now(), s.opt.Master.UniqueJID)
	tag := event.PrefixWheel + jid
	load := payload.WheelFor(fun, low).Set("__jid__", jid).Set("__user__", userOfNobody).Set("__tag__", tag)
	err = s.calls.detach(ctx, func(ctx context.Context, note func(string)) (any, error) {
		note("wheel " + jid + " " + payload.Show(fun))
		got, err := s.callWheel(ctx, load)
		if err != nil {
			s.opt.Logger.Error("wheel call refused", "from", netapi.From(ctx), "fun", payload.Show(fun), "jid", jid,
				"err", err)
			return nil, err
		}
		if !s.opt.Ours() {
			return nil, nil
		}
		data := got.Map("data").Clone().Set("jid", jid).Set("tag", tag).Set("user", userOfNobody)
		began := payload.M("fun", data.Value("fun"), "jid", jid, "tag", tag, "user", userOfNobody)
		return nil, errors.Join(s.opt.Client.Fire(ctx, tag+"/new", began), s.opt.Client.Fire(ctx, tag+"/ret", data))
	})
	if err != nil {
		return nil, err
	}
	return payload.M("tag", tag, "jid", jid), nil
}
