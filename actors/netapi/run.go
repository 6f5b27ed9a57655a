package netapi

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"brine/modules/matchers"
	"brine/modules/netapi"
	"brine/modules/text/args"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/python"
)

// Run runs one chunk of a lowstate as an actor.
func (s *Server) Run(ctx context.Context, low *payload.Map) (any, error) {
	if err := s.MasterHere(); err != nil {
		return nil, err
	}
	conf := s.Config()
	rules := netapi.Rules{Enabled: conf.EnableClients, RawShell: conf.AllowRawShell}
	name, err := rules.Check(low)
	if err != nil {
		return nil, err
	}
	run := s.clients()[name]
	v, err := s.calls.run(ctx, func(ctx context.Context, note func(string)) (any, error) {
		note(name + " " + python.Str(low.Value("fun")))
		return run(ctx, low, note)
	})
	return v, s.told(err)
}

// clients are what runs a chunk, by the names of modules/netapi. note shows what is waited for.
func (s *Server) clients() map[string]func(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
	return map[string]func(context.Context, *payload.Map, func(string)) (any, error){
		netapi.Local: s.local, netapi.LocalAsync: s.localAsync, netapi.LocalBatch: s.localBatch,
		netapi.LocalSubset: s.localSubset, netapi.Runner: s.runner, netapi.RunnerAsync: s.runnerAsync,
		netapi.Wheel: s.wheel, netapi.WheelAsync: s.wheelAsync, netapi.SSH: s.ssh,
	}
}

// job is the job that a chunk asks for. Without target or function there is none. Of the chunk it takes over by name
// what a user may say of a job (payload.ExtrasFor): this daemon can speak with the key of the master's user, who may
// say more.
func (s *Server) job(low *payload.Map) (client.Job, error) {
	tgt, has := low.Get("tgt")
	fun, hasFun := low.Get("fun")
	if !has || !hasFun {
		return client.Job{}, netapi.ErrUnexpected
	}
	kw, _ := low.Value("kwarg").(*payload.Map) // anything else is ignored
	job := client.Job{Tgt: tgt, Fun: fun, Arg: args.Condition(low.List("arg"), kw), Ret: low.Str("ret"),
		JID: low.Str("jid"), Kwargs: payload.ExtrasFor(low)}
	if job.TgtType = low.Str("tgt_type"); job.TgtType == "" {
		job.TgtType = low.Str("expr_form")
	}
	var err error
	if job.Timeout, err = seconds(low, "timeout"); err != nil {
		return job, err
	}
	if job.GatherJobTimeout, err = seconds(low, "gather_job_timeout"); err != nil {
		return job, err
	}
	return job, s.aim(&job)
}

// maxWait bounds waits that clients ask for.
const maxWait = 24 * time.Hour

// seconds reads a wait; 0 when there is none.
func seconds(low *payload.Map, key string) (time.Duration, error) {
	var n float64
	switch v := low.Value(key).(type) {
	case nil:
		return 0, nil
	case int64:
		n = float64(v)
	case float64:
		n = v
	case string:
		if v == "" {
			return 0, nil
		}
		var err error
		if n, err = strconv.ParseFloat(v, 64); err != nil {
			return 0, netapi.BadRequest(fmt.Sprintf("%s is no number of seconds: %q", key, v))
		}
	default:
		return 0, netapi.BadRequest(key + " is no number of seconds")
	}
	if !(n > 0) {
		return 0, nil
	}
	return min(time.Duration(min(n, maxWait.Seconds())*float64(time.Second)), maxWait), nil
}

// aim puts what a node group stands for in its place: the master does not know that type of target.
func (s *Server) aim(job *client.Job) error {
	if job.TgtType != "nodegroup" {
		return nil
	}
	name, _ := job.Tgt.(string)
	groups := s.now.Load().nodegroups
	if !groups.Has(name) {
		// the path of the configuration is no client's business
		return netapi.BadRequest(fmt.Sprintf("Node group %s unavailable", name))
	}
	words, err := matchers.Nodegroup(name, groups)
	if err != nil {
		return netapi.BadRequest(err.Error())
	}
	job.Tgt, job.TgtType = payload.AnyList(words), "compound"
	return nil
}

// localAsync publishes a job: {jid, minions}, {} when it means nobody.
func (s *Server) localAsync(ctx context.Context, low *payload.Map, _ func(string)) (any, error) {
	job, err := s.job(low)
	if err != nil {
		return nil, err
	}
	pub, err := s.opt.Client.Publish(ctx, job)
	if err != nil {
		return nil, err
	}
	if s.nobody(pub) {
		return payload.NewMap(0), nil
	}
	return payload.M("jid", pub.JID, "minions", payload.AnyList(pub.Minions)), nil
}

func (s *Server) nobody(pub client.Published) bool {
	return pub.JID == "" || pub.JID == "0" || len(pub.Minions) == 0 && !s.opt.Master.OrderMasters
}

// local publishes a job and waits for its returns: minion to return in the order of their arrival, false for those of
// whom there is none.
func (s *Server) local(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
	job, err := s.job(low)
	if err != nil {
		return nil, err
	}
	return s.gather(ctx, job, low.Value("full_return"), note)
}

// textNoReturn stands in the place of a return of a minion that the master does not know (salt/client/__init__.py).
const textNoReturn = "Minion did not return. [No response]\nThe minions may not have all finished running and any " +
	"remaining minions will return " +
	"upon completion. To look up the return data for this job later, run the following command:\n\nsalt-run " +
	"jobs.lookup_jid "

// gather runs a job to its end.
func (s *Server) gather(ctx context.Context, job client.Job, full any, note func(string)) (*payload.Map, error) {
	run, err := s.opt.Client.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	if s.nobody(run.Published) {
		run.Close()
		return payload.NewMap(0), nil
	}
	note("job " + run.JID + " " + python.Str(job.Fun))
	out := payload.NewMap(len(run.Minions))
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, err
		}
		out.Set(ret.ID, result(ret, run.JID, python.Truth(full)))
	}
	return out, nil
}

// result is what an answer says of one minion.
func result(ret client.Return, jid string, full bool) any {
	switch {
	case ret.Silence == client.Unknown && full:
		return payload.M("out", "no_return", "ret", textNoReturn+jid, "retcode", int64(1))
	case ret.Silence == client.Unknown:
		return textNoReturn + jid
	case ret.Silence != client.Answered:
		return false
	case !full:
		return ret.Value
	}
	m := payload.M("ret", ret.Value)
	ret.Data.Pass(m, payload.FieldOut, payload.FieldRetcode, payload.FieldJID)
	return m
}
