package tornado

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"brine/modules/netapi"
	"brine/wire/payload"
)

const typeForm = "application/x-www-form-urlencoded"

// readBody reads and parses the body of the request, if there is one.
func (c *call) readBody() (err error) {
	if c.r.ContentLength == 0 {
		return nil
	}
	c.intake, err = c.bodies.Take(c.w, c.r, c.remote(), netapi.Limits{Longest: c.conf.MaxRequestBodySize})
	var known *netapi.Error
	switch {
	case errors.As(err, &known):
		c.head.Set("Connection", "close") // the rest of the body stays unread
		return status(known.Status)
	case err != nil:
		return err
	case c.intake.Text() == "":
		return nil
	}
	c.hasBody = true
	c.body, err = c.understand()
	if errors.As(err, &known) {
		return status(known.Status)
	}
	return err
}

// understand parses a body by its type. A text body must be JSON.
func (c *call) understand() (any, error) {
	switch kind := mediaOf(c.r.Header.Get("Content-Type")); kind {
	case typeForm:
		return c.form()
	case netapi.TypeJSON, "text/plain":
		if c.r.Header.Get("Content-Type") == "" {
			break
		}
		return c.intake.JSON()
	case netapi.TypeYAML, "text/yaml":
		b, err := c.intake.Read(netapi.TypeYAML)
		return b.Data, err
	}
	return nil, status(http.StatusNotAcceptable)
}

// form reads the fields of a form, after those of the query, as in Salt. A name that occurs once has a text,
// otherwise a list of texts. Blanks around them do not count.
func (c *call) form() (any, error) {
	fields, err := arguments(c.intake.Pair, c.r.URL.RawQuery, c.intake.Text())
	if err != nil {
		return nil, err
	}
	return fields, nil
}

// arguments reads name=value pairs from texts. It calls afford before each pair.
func arguments(afford func() error, texts ...string) (*payload.Map, error) {
	lists := payload.NewMap(4)
	for _, text := range texts {
		for pair := range strings.SplitSeq(text, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if pair == "" {
				continue
			}
			if err := afford(); err != nil {
				return nil, err
			}
			key, err := unquote(name)
			if err != nil {
				return nil, err
			}
			if value, err = unquote(value); err != nil {
				return nil, err
			}
			lists.Set(key, append(lists.List(key), strings.TrimSpace(value)))
		}
	}
	fields := payload.NewMap(lists.Len())
	for k, v := range lists.All() {
		if list := v.([]any); len(list) == 1 {
			v = list[0]
		}
		fields.Set(k, v)
	}
	return fields, nil
}

// unquote reads + as a blank and %XX as a byte. Invalid codes stay as they are. Invalid UTF-8 is a 400.
func unquote(s string) (string, error) {
	text, err := url.QueryUnescape(s)
	if err != nil {
		text = strings.ReplaceAll(s, "+", " ")
	}
	if !utf8.ValidString(text) {
		return "", status(http.StatusBadRequest)
	}
	return text, nil
}
