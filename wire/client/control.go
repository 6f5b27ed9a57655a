package client

import (
	"context"
	"fmt"
	"strings"

	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// GetToken returns the master's data about a token: start, expire, name, eauth, token and more. An unknown or expired
// token is ErrAuthentication.
func (c *Client) GetToken(ctx context.Context, token string) (*payload.Map, error) {
	return c.askToken(ctx, payload.M("cmd", payload.CmdGetToken, "token", token))
}

// MkToken requests a new token. credentials are eauth and the fields that it needs, usually username and password, and
// optionally token_expire. Refused credentials are ErrAuthentication.
func (c *Client) MkToken(ctx context.Context, credentials *payload.Map) (*payload.Map, error) {
	load := payload.M("cmd", nil)
	load.Update(credentials)
	return c.askToken(ctx, load.Set("cmd", payload.CmdMkToken))
}

func (c *Client) askToken(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	reply, err := c.Request(ctx, load, c.opt.Timeout)
	if err != nil {
		return nil, err
	}
	if !python.Truth(reply) {
		return nil, fmt.Errorf("%s: %w", payload.Command(load), ErrAuthentication)
	}
	return readMap(payload.Command(load), reply)
}

// Call is a call of a runner or a wheel function.
type Call struct {
	Fun   string
	Arg   []any        // positional arguments
	KWArg *payload.Map // keyword arguments

	// Credentials are token, or eauth with its fields. nil or empty: the user and the key of the key file.
	Credentials *payload.Map
}

// Started is a running runner: its result is the event Tag + "/ret".
type Started struct{ Tag, JID string }

// Runner starts a runner on the master and does not wait for its end. An unknown function also starts, and fails
// afterwards.
func (c *Client) Runner(ctx context.Context, call Call) (Started, error) {
	m, err := c.callMap(ctx, payload.CmdRunner, call)
	if err != nil {
		return Started{}, err
	}
	return Started{Tag: m.Str("tag"), JID: m.Str("jid")}, nil
}

// RunRunner starts a runner and waits for its result, its last event. The deadline of ctx is the only limit (salt-run
// waits 300 s).
func (c *Client) RunRunner(ctx context.Context, call Call) (Started, *payload.Return, error) {
	stream, err := c.listen(ctx, func(tag string) bool { return strings.HasPrefix(tag, event.PrefixRun) })
	if err != nil {
		return Started{}, nil, err
	}
	defer stream.close()
	started, err := c.Runner(ctx, call)
	if err != nil {
		return Started{}, nil, err
	}
	for {
		for _, body := range stream.take() {
			if event.Tag(body) == started.Tag+"/ret" {
				_, data, err := event.Unpack(body)
				return started, payload.NewReturn(data), err
			}
		}
		select {
		case <-stream.more:
		case <-ctx.Done():
			return started, nil, fmt.Errorf("wait for runner %s: %w", started.JID, context.Cause(ctx))
		}
	}
}

// Wheel calls a wheel function and waits for its end. The return holds fun, jid, tag, user, return and success.
func (c *Client) Wheel(ctx context.Context, call Call) (*payload.Return, error) {
	m, err := c.callMap(ctx, payload.CmdWheel, call)
	if err != nil {
		return nil, err
	}
	if !m.Has("data") {
		return nil, malformed("wheel answered without data")
	}
	return payload.NewReturn(m.Map("data")), nil
}

func (c *Client) callMap(ctx context.Context, cmd string, call Call) (*payload.Map, error) {
	reply, err := c.Request(ctx, c.callLoad(cmd, call), c.opt.Timeout)
	if err != nil {
		return nil, err
	}
	return readMap(cmd, reply)
}

// callLoad builds the load of both commands. The arguments of a wheel function are in the load itself, those of a
// runner one level down under kwarg. Both lists are always there: if one is missing, a master treats every field of the
// load as an argument.
func (c *Client) callLoad(cmd string, call Call) *payload.Map {
	arg, kwarg := call.Arg, call.KWArg
	if arg == nil {
		arg = []any{}
	}
	if kwarg == nil {
		kwarg = payload.NewMap(0)
	}
	load := payload.M("cmd", cmd, "fun", call.Fun)
	if cmd == payload.CmdRunner {
		load.Set("kwarg", payload.M("kwarg", kwarg, "arg", arg))
	} else {
		load.Set("kwarg", kwarg).Set("arg", arg)
	}
	if call.Credentials.Len() > 0 {
		load.Update(payload.NewCredentials(call.Credentials).Shown())
		return load
	}
	return load.Set("key", c.Key()).Set("user", c.opt.User)
}

func readMap(cmd string, reply any) (*payload.Map, error) {
	if err := refusal(reply); err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	m, ok := reply.(*payload.Map)
	if !ok {
		return nil, malformed("%s answered with %T", cmd, reply)
	}
	return m, nil
}

// Fire puts an event on the master's bus.
func (c *Client) Fire(ctx context.Context, tag string, data *payload.Map) error {
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		return fmt.Errorf("fire %s: %w", tag, err)
	}
	if err := c.opt.Bus.Push(ctx, body); err != nil {
		return fmt.Errorf("fire %s: %w", tag, err)
	}
	return nil
}

// Events opens a stream of all events of the master's bus. Read the bodies with wire/event.
func (c *Client) Events(ctx context.Context) (Events, error) {
	events, err := c.opt.Bus.Subscribe(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	return events, nil
}
