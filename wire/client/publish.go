package client

import (
	"context"
	"fmt"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// Job is what a publish request asks for. Tgt and TgtType are sent as they are: node groups and ranges are
// resolved before.
type Job struct {
	Tgt     any    // text, or a list of ids for TgtType "list"
	TgtType string // "" is glob
	Fun     any    // text, or a list of text for several functions at once
	Arg     []any  // keyword arguments are one map with __kwarg__ in it
	Ret     string // returners, comma separated
	JID     string // "" lets the master choose

	// Kwargs are the extras of the load: delimiter, metadata, module_executors, and the credentials
	// eauth, username, password or token. nil or empty: none. Who sends a job for somebody else makes them by
	// payload.ExtrasFor.
	Kwargs *payload.Map

	// Others tells whose returns somebody else waits for, where several jobs have one jid. It is asked from another
	// goroutine. nil: nobody's.
	Others func(id string) bool

	Timeout          time.Duration // 0: as in Options
	GatherJobTimeout time.Duration // 0: as in Options
}

// Published is the master's answer to a Job.
type Published struct {
	JID     string   // "" when nothing was published
	Minions []string // who is expected to return; empty: nothing matched, and nothing was published
	Missing []string // ids of a list target that the master does not know
	Note    string   // the master's remark when nothing was published
}

// Publish sends a job and returns as soon as the master has taken it. Errors: ErrNoMaster, ErrTimeout,
// ErrEmptyReply, ErrMalformed, and *RemoteError for all refusals.
func (c *Client) Publish(ctx context.Context, job Job) (Published, error) {
	if err := c.MasterHere(); err != nil {
		return Published{}, err
	}
	timeout := job.Timeout
	fill(&timeout, c.opt.Timeout)
	reply, err := c.Request(ctx, c.publishLoad(job, timeout), timeout)
	if err != nil {
		return Published{}, err
	}
	if !python.Truth(reply) && c.renewKey() {
		if reply, err = c.Request(ctx, c.publishLoad(job, timeout), timeout); err != nil {
			return Published{}, err
		}
	}
	return readPublished(reply)
}

// funFindJob asks minions whether they run a job.
const funFindJob = "saltutil.find_job"

// returners are those of a job. Unlike Salt: not for the questions of the client itself.
func (c *Client) returners(job Job) string {
	if job.Fun == funFindJob {
		return job.Ret
	}
	return WithReturner(job.Ret, c.opt.ExtJobCache)
}

// WithReturner adds a returner to the comma-separated ones of a job; "" adds none.
func WithReturner(ret, more string) string {
	if ret != "" && more != "" {
		return ret + "," + more
	}
	return ret + more
}

// publishLoad builds the load in Salt's order (salt/client/__init__.py, _prep_pub). Unlike Salt: a job for somebody who
// shows credentials goes without the key of this client's own user, which a master might take for his.
func (c *Client) publishLoad(job Job, timeout time.Duration) *payload.Map {
	tgtType := job.TgtType
	fill(&tgtType, "glob")
	arg := job.Arg
	if arg == nil {
		arg = []any{}
	}
	load := payload.M("cmd", payload.CmdPublish, "tgt", job.Tgt, "fun", job.Fun, "arg", arg)
	if who := payload.NewCredentials(job.Kwargs); !who.HasToken() && !who.HasEauth() {
		load.Set("key", c.Key())
	}
	load.Update(payload.M("tgt_type", tgtType, "ret", c.returners(job), "jid", job.JID))
	if job.Kwargs.Len() > 0 {
		load.Set("kwargs", job.Kwargs)
	}
	load.Set("user", c.opt.User)
	if c.opt.OrderMasters {
		load.Set("to", int64(timeout/time.Second))
	}
	return load
}

func readPublished(reply any) (Published, error) {
	if err := refusal(reply); err != nil {
		return Published{}, fmt.Errorf("publish: %w", err)
	}
	m, ok := reply.(*payload.Map)
	if !ok || !m.Has("load") {
		return Published{}, malformed("publish answered with %T", reply)
	}
	load := m.Map("load")
	note := load.Str("error")
	if !load.Has("jid") && note != "" {
		return Published{}, fmt.Errorf("publish: %w", &RemoteError{Message: note})
	}
	return Published{
		JID: load.Str("jid"), Note: note,
		Minions: payload.Texts(load.List("minions")), Missing: payload.Texts(load.List("missing")),
	}, nil
}

// refusal reads the forms in which a master says no: nothing, a text, or an error in a map.
func refusal(reply any) error {
	if !python.Truth(reply) {
		return ErrEmptyReply
	}
	switch v := reply.(type) {
	case string:
		return &RemoteError{Message: v}
	case *payload.Map:
		switch e := v.Value("error").(type) {
		case nil:
			return nil
		case string:
			return &RemoteError{Message: e}
		case *payload.Map:
			return &RemoteError{Name: e.Str("name"), Message: e.Str("message")}
		default:
			return malformed("error of type %T", e)
		}
	}
	return nil
}
