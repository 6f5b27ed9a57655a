package netapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"brine/wire/payload"
)

// hidden stands in the place of what proves a session.
const hidden = "********"

// HookHeaders adds the headers of a request to those that an event of a webhook tells. They go by name, for the order
// in which they came is not known; sep stands between several of one name. Unlike Salt: secret, the id or token by
// which the request was let in, is not told, for whoever sees events would have it; "" is none.
func HookHeaders(told *payload.Map, header http.Header, sep, secret string) *payload.Map {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		text := strings.Join(header[name], sep)
		if secret != "" {
			text = strings.ReplaceAll(text, secret, hidden)
		}
		told.Set(name, text)
	}
	return told
}
