package tornado

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"brine/modules/netapi"
	"brine/wire/payload"
	"brine/wire/python"
)

// Texts of Salt in the place of what a chunk has to say.
const (
	textNoClient   = "400 Invalid Client: Client not found in salt clients"
	textOnlyAsync  = "We don't serve your kind here"
	textNobody     = "No minions matched the target. No command was sent, no jid was assigned."
	textNotAllowed = "Failed to authenticate"
	textLate       = "Timeout waiting for runner to execute"
	textUnexpected = "Unexpected exception while handling request: "
)

// funGrains is the function of /minions.
const funGrains = "grains.items"

func (c *call) postRoot() error {
	if ok, err := c.authenticated(); !ok {
		return err
	}
	return c.postRun()
}

// postRun runs a lowstate. Unlike Salt: a request without one is answered.
func (c *call) postRun() error {
	if c.token() == "" && !c.cookieMay() { // what is posted brings a password
		return status(http.StatusForbidden)
	}
	low, err := c.lowstate()
	if err != nil {
		return err
	}
	return c.run(low)
}

// lowstate is the list of chunks of the body: one that is no list is a list of it.
func (c *call) lowstate() ([]any, error) {
	if !c.hasBody || c.body == nil {
		return nil, status(http.StatusBadRequest)
	}
	list, ok := c.body.([]any)
	if !ok {
		list = []any{c.body}
	}
	return list, nil
}

func (c *call) getMinions() error {
	if ok, err := c.authenticated(); !ok {
		return err
	}
	tgt := c.arg
	if tgt == "" {
		tgt = "*"
	}
	return c.run([]any{payload.M("client", netapi.Local, "tgt", tgt, "fun", funGrains)})
}

// postMinions starts jobs and does not wait for them.
func (c *call) postMinions() error {
	if ok, err := c.authenticated(); !ok {
		return err
	}
	list, err := c.lowstate()
	if err != nil {
		return err
	}
	for i, v := range list {
		low, ok := v.(*payload.Map)
		switch {
		case !ok:
			return status(http.StatusBadRequest)
		case !low.Has("client"):
			list[i] = low.Clone().Set("client", netapi.LocalAsync)
		case low.Value("client") != netapi.LocalAsync:
			c.text(http.StatusBadRequest, textOnlyAsync)
			return nil
		}
	}
	return c.run(list)
}

func (c *call) getJobs() error {
	if ok, err := c.authenticated(); !ok {
		return err
	}
	low := payload.M("fun", "jobs.list_jobs", "client", netapi.Runner)
	if c.arg != "" {
		low = payload.M("fun", "jobs.list_job", "jid", c.arg, "client", netapi.Runner)
	}
	return c.run([]any{low})
}

// run runs chunks one after the other. Unlike Salt: nothing runs when one of them asks for a client that there is not.
func (c *call) run(list []any) error {
	for _, v := range list {
		low, ok := v.(*payload.Map)
		if name, _ := low.Value("client").(string); !ok || !slices.Contains(clients(), name) {
			c.text(http.StatusBadRequest, textNoClient)
			return nil
		}
	}
	results := make([]any, 0, len(list))
	for _, v := range list {
		result, err := c.chunk(v.(*payload.Map))
		if err != nil {
			return err
		}
		results = append(results, result)
		if result == textNotAllowed {
			break
		}
	}
	return c.send(http.StatusOK, payload.M("return", results))
}

// chunk runs one chunk. What goes wrong is its result; only a client that has gone and a master that is away are
// errors.
func (c *call) chunk(low *payload.Map) (any, error) {
	if token := c.token(); token != "" && !low.Has("token") {
		low = low.Clone().Set("token", token)
	}
	if !low.Has("token") && !(low.Has("username") && low.Has("password") && low.Has("eauth")) {
		return textNotAllowed, nil
	}
	name := low.Str("client")
	if missing := lacks(name, low); missing != "" {
		return textUnexpected + missing, nil
	}
	low, err := netapi.Chunk(low, "", "")
	if err != nil {
		return textNotAllowed, nil // a token that cannot be one
	}
	if name == netapi.Local {
		low.Delete("full_return") // it means nothing here
	}
	if name == netapi.Runner && low.Has("timeout") {
		low = ofFunction(low, "timeout")
	}
	v, err := c.api.Unlisted(c.ctx, low, c.opt.Gather)
	switch {
	case err != nil:
		return c.failed(name, low, err)
	case v != nil:
		return v, nil
	case name == netapi.Local:
		return textNobody, nil
	}
	return v, nil
}

// ofFunction makes a key of a runner's chunk one of its function: rest_tornado waits for runners as long as it takes,
// and what is called timeout is none of its business (salt/netapi/rest_tornado/saltnado.py, _disbatch_runner).
func ofFunction(low *payload.Map, key string) *payload.Map {
	kw := payload.NewMap(1)
	switch m := low.Value("kwarg").(type) {
	case *payload.Map:
		kw = m.Clone()
	case nil:
	default:
		return low // which is refused
	}
	kw.Set(key, low.Value(key))
	low = low.Clone().Set("kwarg", kw)
	low.Delete(key)
	return low
}

// lacks is what Python says of a chunk without what a job has to have; "" when it has.
func lacks(client string, low *payload.Map) string {
	hasTgt, hasFun := low.Has("tgt"), low.Has("fun")
	switch {
	case client != netapi.Local && client != netapi.LocalAsync, hasTgt && hasFun:
		return ""
	case client == netapi.Local && !hasTgt:
		return "'tgt'"
	case hasTgt || hasFun:
		return "run_job takes at least 2 arguments (1 given)"
	}
	return "run_job takes at least 2 arguments (0 given)"
}

// failed is the result of a chunk that went wrong.
func (c *call) failed(client string, low *payload.Map, err error) (any, error) {
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	runner := client == netapi.Runner || client == netapi.RunnerAsync
	if errors.Is(err, netapi.ErrUnexpected) && runner && low.Has("fun") {
		return textUnexpected + "'" + python.Str(low.Value("fun")) + "' is not available.", nil
	}
	var known *netapi.Error
	if !errors.As(err, &known) {
		c.log.Error("a chunk failed", "from", c.remote(), "client", client, "err", err)
		return textUnexpected + "An unexpected error occurred", nil
	}
	switch known.Status {
	case http.StatusUnauthorized:
		if runner && strings.HasPrefix(known.Message, `Authentication failure of type "token"`) {
			return textUnexpected + known.Message, nil
		}
		return textNotAllowed, nil
	case http.StatusGatewayTimeout:
		return textLate, nil
	case http.StatusServiceUnavailable:
		return nil, known
	}
	return textUnexpected + known.Message, nil
}
