package tornado

import (
	"net/http"
	"strings"

	"brine/modules/netapi"
	"brine/wire/event"
	"brine/wire/payload"
)

// hookTag is the beginning of the tags of webhooks.
const hookTag = "salt/netapi/hook"

// postHook fires an event on the bus.
func (c *call) postHook() error {
	if !c.conf.WebhookDisableAuth {
		if ok, err := c.authenticated(); !ok {
			return err
		}
	}
	if !c.hasBody {
		return status(http.StatusInternalServerError) // as in Salt
	}
	tag := hookTag
	if strings.HasPrefix(c.r.URL.Path, "/hook/") {
		tag += "/" + c.arg
	}
	if event.CheckGuestTag(tag) != nil {
		return status(http.StatusBadRequest)
	}
	query, err := arguments(c.intake.Pair, c.r.URL.RawQuery)
	if err != nil {
		return err
	}
	err = c.api.Fire(c.ctx, tag, payload.M("post", c.body, "get", query, "headers", c.headers()))
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, payload.M("success", true))
}

// headers returns the headers of the request, by name.
func (c *call) headers() *payload.Map {
	return netapi.HookHeaders(payload.M("Host", c.r.Host), c.r.Header, ",", c.token())
}
