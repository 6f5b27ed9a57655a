package client

import (
	"context"
	"fmt"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// Job is the content of a publish request. Tgt and TgtType are sent unchanged: the caller must resolve node groups and
// ranges.
type Job struct {
	Tgt     any    // text, or a list of ids for TgtType "list"
	TgtType string // "" is glob
	Fun     any    // text, or a list of text for several functions at once
	Arg     []any  // a map with __kwarg__ holds the keyword arguments
	Ret     string // returners, comma separated
	JID     string // "": the master chooses one

	// Kwargs are the extras of the load: delimiter, metadata, module_executors, and the credentials eauth, username,
	// password or token. nil or empty: none. A caller that sends a job for another user makes them by
	// payload.ExtrasFor.
	Kwargs *payload.Map

	// Others tells whether another Run waits for the return of a minion, if several jobs have one jid. Another
	// goroutine calls it. nil: no other Run does.
	Others func(id string) bool

	Timeout          time.Duration // 0: as in Options
	GatherJobTimeout time.Duration // 0: as in Options
}

// Published is the master's answer to a Job.
type Published struct {
	JID     string   // "" if nothing was published
	Minions []string // minions that are expected to return; empty: no minion matched, and nothing was published
	Missing []string // ids of a list target that the master does not know
	Note    string   // the master's remark if nothing was published
}

// Publish sends a job and returns when the master has accepted it. Errors: ErrNoMaster, ErrTimeout, ErrEmptyReply,
// ErrMalformed, and *RemoteError for all refusals.
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

// funFindJob asks minions whether they are running a job.
const funFindJob = "saltutil.find_job"

// returners are the returners of a job. Unlike Salt: find_job, which the client itself sends, gets no additional one.
func (c *Client) returners(job Job) string {
	if job.Fun == funFindJob {
		return job.Ret
	}
	return WithReturner(job.Ret, c.opt.ExtJobCache)
}

// WithReturner adds a returner to the comma-separated returners of a job; "" adds none.
func WithReturner(ret, more string) string {
	if ret != "" && more != "" {
		return ret + "," + more
	}
	return ret + more
}

// publishLoad builds the load in Salt's order (salt/client/__init__.py, _prep_pub). Unlike Salt: a job with another
// user's credentials does not contain the key of this client's own user, which a master might take for the other
// user's.
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

// refusal recognizes the forms of a master's refusal: an empty reply, a text, or an error in a map.
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
