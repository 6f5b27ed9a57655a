package tornado

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"brine/modules/netapi"
	"brine/wire/payload"
)

// Limits of bodies. A body that is sent slower than so many bytes a second ends the request.
const (
	largeBody   = 1 << 20
	largeBodies = 8 // at the same time, of an address half
	bodyGrace   = 20 * time.Second
	bodySpeed   = 16 << 10
)

const typeForm = "application/x-www-form-urlencoded"

// readBody reads and understands the body, where the request has one.
func (c *call) readBody() error {
	if c.r.ContentLength == 0 {
		return nil
	}
	raw, err := c.readAll()
	if err != nil || len(raw) == 0 {
		return err
	}
	c.hasBody = true
	c.body, err = c.understand(raw)
	return err
}

func (c *call) readAll() ([]byte, error) {
	most := c.conf.MaxRequestBodySize
	if c.r.ContentLength > most {
		return nil, status(http.StatusRequestEntityTooLarge)
	}
	n := c.r.ContentLength
	if n < 0 {
		n = most // it does not say
	}
	if n > largeBody {
		if !c.bodies.Enter(c.remote()) {
			return nil, status(http.StatusServiceUnavailable)
		}
		defer c.bodies.Leave(c.remote())
	}
	control := http.NewResponseController(c.w)
	if err := control.SetReadDeadline(time.Now().Add(bodyGrace + time.Duration(n/bodySpeed)*time.Second)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, most+1))
	switch {
	case err != nil:
		c.head.Set("Connection", "close")
		return nil, status(http.StatusRequestTimeout)
	case int64(len(raw)) > most:
		c.head.Set("Connection", "close")
		return nil, status(http.StatusRequestEntityTooLarge)
	}
	if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	return raw, nil
}

// understand reads a body by its type. Text has to be JSON.
func (c *call) understand(raw []byte) (any, error) {
	switch kind := mediaOf(c.r.Header.Get("Content-Type")); kind {
	case typeForm:
		return c.form(string(raw))
	case netapi.TypeJSON, "text/plain":
		if c.r.Header.Get("Content-Type") == "" {
			break
		}
		b, err := netapi.Read(netapi.TypeJSON, raw)
		return b.Data, err
	case netapi.TypeYAML, "text/yaml":
		b, err := netapi.Read(netapi.TypeYAML, raw)
		return b.Data, err
	}
	return nil, status(http.StatusNotAcceptable)
}

// form reads the fields of a form, and those of the address before them, as in Salt: a name that stands once has a text, else a list
// of texts. Blanks around them do not count.
func (c *call) form(raw string) (any, error) {
	fields, err := arguments(c.r.URL.RawQuery, raw)
	if err != nil {
		return nil, err
	}
	return fields, nil
}

// arguments reads name=value pairs of some texts.
func arguments(texts ...string) (*payload.Map, error) {
	lists := payload.NewMap(4)
	for _, text := range texts {
		for pair := range strings.SplitSeq(text, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if pair == "" {
				continue
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

// unquote reads + as a blank and %XX as a byte. What is no such code stays; what is no UTF-8 is a 400.
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
