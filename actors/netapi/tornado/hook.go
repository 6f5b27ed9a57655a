package tornado

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"brine/wire/event"
	"brine/wire/payload"
)

// hookTag is what the tags of webhooks begin with.
const hookTag = "salt/netapi/hook"

// hidden stands in the place of the token. Unlike Salt: whoever sees events does not see who may ask for all others.
const hidden = "********"

// postHook puts an event on the bus.
func (c *call) postHook() error {
	if !c.conf.WebhookDisableAuth {
		if ok, err := c.authenticated(); !ok {
			return err
		}
	}
	if !c.hasBody {
		return status(http.StatusInternalServerError) // as Salt
	}
	tag := hookTag
	if strings.HasPrefix(c.r.URL.Path, "/hook/") {
		tag += "/" + c.arg
	}
	query, err := arguments(c.r.URL.RawQuery)
	if err != nil {
		return err
	}
	err = c.api.Fire(c.ctx, tag, payload.M("post", c.body, "get", query, "headers", c.headers()))
	if errors.Is(err, event.ErrBadTag) {
		return status(http.StatusBadRequest)
	}
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, payload.M("success", true))
}

// headers are those of the request, by name.
func (c *call) headers() *payload.Map {
	m := payload.M("Host", c.r.Host)
	token := c.token()
	for _, name := range slices.Sorted(maps.Keys(c.r.Header)) {
		text := strings.Join(c.r.Header[name], ",")
		if token != "" {
			text = strings.ReplaceAll(text, token, hidden)
		}
		m.Set(name, text)
	}
	return m
}
