package cherrypy

import (
	api "brine/actors/netapi"
	"brine/modules/netapi"
	"brine/wire/payload"
)

// welcome is the answer of GET to several addresses.
func welcome(_ *call, into *any) error {
	*into = payload.M("return", "Welcome", "clients", netapi.Clients())
	return nil
}

// postRoot runs a lowstate with the token of the session.
func (c *call) postRoot(into *any) error { return c.returns(into, "", c.token) }

// postRun runs a lowstate that contains its credentials.
func (c *call) postRun(into *any) error { return c.returns(into, "", "") }

func (c *call) returns(into *any, client, token string) error {
	list, err := c.lowstate(c.body.Data, client, token)
	if err == nil {
		*into = payload.M("return", list)
	}
	return err
}

// lowstate runs the chunks of a lowstate one after another. The first error ends it and is the answer.
func (c *call) lowstate(data any, client, token string) ([]any, error) {
	low, err := netapi.Lowstate(data)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, len(low))
	for _, element := range low {
		chunk, err := netapi.Chunk(element, client, token)
		if err != nil {
			return nil, err
		}
		v, err := c.api.Run(c.ctx, chunk)
		if err != nil {
			return nil, err
		}
		// the master's verdict about a wheel_async is not known yet
		c.proved = c.proved || chunk.Value("client") != netapi.WheelAsync
		if several, ok := v.(api.Several); ok {
			out = append(out, several...)
			continue
		}
		out = append(out, v)
	}
	return out, nil
}
