package cherrypy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"brine/wire/payload"
)

// hidden stands in the place of what proves a session.
const hidden = "********"

// headers are those of the request, as an event of the webhook tells them: by name, for the order in which they came is not known.
func (c *call) headers() *payload.Map {
	m := payload.M("Remote-Addr", c.remote(), "Host", c.r.Host)
	for _, name := range slices.Sorted(maps.Keys(c.r.Header)) {
		text := strings.Join(c.r.Header[name], ", ")
		if c.sessionID != "" {
			text = strings.ReplaceAll(text, c.sessionID, hidden)
		}
		m.Set(name, text)
	}
	if c.r.ContentLength > 0 {
		m.Set("Content-Length", strconv.FormatInt(c.r.ContentLength, 10))
	}
	return m
}
