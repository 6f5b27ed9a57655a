package tornado

import (
	"crypto/sha1"
	"encoding/hex"
	"html"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"brine/modules/netapi"
	"brine/modules/outputters"
	"brine/wire/python/fnmatch"
)

// Types of answers.
const (
	typeHTML   = "text/html; charset=UTF-8"
	typeStream = "text/event-stream"
)

// negotiate finds the type of the answer: the first in the Accept header that can be served; qualities do not matter.
// Unlike Salt: browsers may have their stream of events, for which they ask by its type.
func (c *call) negotiate() error {
	values := c.r.Header.Values("Accept")
	if len(values) == 0 {
		values = []string{"*/*"}
	}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		wanted := mediaOf(part)
		for _, offered := range []string{netapi.TypeJSON, netapi.TypeYAML} {
			if fnmatch.Match(wanted, offered) {
				c.media = offered
				return nil
			}
		}
		if wanted == typeStream && c.r.URL.Path == "/events" {
			c.media = netapi.TypeJSON
			return nil
		}
	}
	return status(http.StatusNotAcceptable)
}

// mediaOf is the type in a header value, without parameters. What is no type counts as text, as in Python.
func mediaOf(value string) string {
	if strings.TrimSpace(value) == "" {
		return ""
	}
	name, _, err := mime.ParseMediaType(value)
	if err != nil {
		name, _, _ = strings.Cut(value, ";")
		name = strings.ToLower(strings.TrimSpace(name))
	}
	if strings.Count(name, "/") != 1 {
		return "text/plain"
	}
	return name
}

// send answers a value. A GET has a tag by which a client tells whether it has the answer already.
func (c *call) send(code int, v any) error {
	var body []byte
	if c.media == netapi.TypeYAML {
		body = []byte(outputters.DumpYAML(v, outputters.FlowLeaves, 2))
	} else {
		var err error
		if body, err = netapi.JSON(v); err != nil {
			return err
		}
	}
	if code == http.StatusOK && c.r.Method == http.MethodGet {
		sum := sha1.Sum(body)
		tag := `"` + hex.EncodeToString(sum[:]) + `"`
		c.head.Set("Etag", tag)
		if knows(c.r.Header.Get("If-None-Match"), tag) {
			c.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	c.write(code, c.media, body)
	return nil
}

// knows tells whether a tag stands in a list of them.
func knows(list, tag string) bool {
	if strings.TrimSpace(list) == "*" {
		return true
	}
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimPrefix(strings.TrimSpace(part), "W/") == tag {
			return true
		}
	}
	return false
}

func (c *call) write(code int, kind string, body []byte) {
	c.head.Set("Content-Type", kind)
	c.head.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(code)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // a client that has gone is net/http's matter
	}
}

// text answers an error in words.
func (c *call) text(code int, text string) { c.write(code, typeHTML, []byte(text)) }

// page answers an error as a page that says no more than the status.
func (c *call) page(code int) {
	for _, name := range []string{"Etag", "Www-Authenticate"} {
		c.head.Del(name)
	}
	line := html.EscapeString(strconv.Itoa(code) + ": " + http.StatusText(code))
	c.text(code, "<html><title>"+line+"</title><body>"+line+"</body></html>")
}
