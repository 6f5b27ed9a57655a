// Package event packs and reads the events of Salt's bus and names their tags. An event's body is
//
//	tag (UTF-8) | two newlines | msgpack map of the data, bin rule
//
// The frame around a body and the sockets belong to wire/ipc. Answers to salt/utils/event.py.
package event

import (
	"bytes"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"brine/wire/payload"
)

const (
	tagEnd     = "\n\n"
	stampField = "_stamp"

	// stampLayout is the form of 3008: UTC with microseconds and the zone. Older releases omit the zone.
	stampLayout = "2006-01-02T15:04:05.000000+00:00"
)

var (
	// ErrBadTag means that no event may have this tag, see CheckTag.
	ErrBadTag = errors.New("event: bad tag")
	// ErrMalformed means that a body is not an event.
	ErrMalformed = errors.New("event: malformed body")
)

// Stamp is the text of a time in the field _stamp.
func Stamp(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.Format(stampLayout)
	}
	hour, minute, second := t.Clock()
	b := []byte(stampLayout) // the digits replace those of the layout
	for _, n := range [...]struct{ at, digits, value int }{
		{0, 4, year}, {5, 2, int(month)}, {8, 2, day}, {11, 2, hour}, {14, 2, minute}, {17, 2, second},
		{20, 6, t.Nanosecond() / 1000},
	} {
		for i := n.at + n.digits - 1; i >= n.at; i-- {
			b[i] = '0' + byte(n.value%10)
			n.value /= 10
		}
	}
	return string(b)
}

// Pack makes the body of an event. If data has no _stamp, the body gets one of the current time at its end; data itself
// does not change. If the packed data exceeds maxSize bytes (option max_event_size, 0 for no limit), trim replaces big
// values.
func Pack(tag string, data *payload.Map, maxSize int) ([]byte, error) {
	if err := CheckTag(tag); err != nil {
		return nil, err
	}
	body := make([]byte, 0, len(tag)+len(tagEnd)+512)
	body = append(append(body, tag...), tagEnd...)
	head := len(tag) + len(tagEnd)
	stamp := ""
	if !data.Has(stampField) {
		stamp = Stamp(time.Now())
	}
	body, err := appendStamped(body, data, stamp)
	if err != nil {
		return nil, fmt.Errorf("pack event %s: %w", tag, err)
	}
	if maxSize <= 0 || len(body)-head+pythonBytes <= maxSize {
		return body, nil
	}
	body, err = trim(body[:head], stamped(data, stamp), maxSize)
	if err != nil {
		return nil, fmt.Errorf("trim event %s: %w", tag, err)
	}
	return body, nil
}

// stamped is data with a stamp at its end, or data itself if stamp is "".
func stamped(data *payload.Map, stamp string) *payload.Map {
	if stamp == "" {
		return data
	}
	return data.Clone().Set(stampField, stamp)
}

// appendStamped packs stamped(data, stamp), mostly without making that map: for up to 14 fields, the number of fields
// is in the low half of the first byte (msgpack's fixmap).
func appendStamped(body []byte, data *payload.Map, stamp string) ([]byte, error) {
	const fixmap, fixmapMost = 0x80, 15
	if stamp == "" || data.Len() >= fixmapMost {
		return payload.AppendBin(body, stamped(data, stamp))
	}
	at := len(body)
	var err error
	if data.Len() == 0 {
		body = append(body, fixmap)
	} else if body, err = payload.AppendBin(body, data); err != nil {
		return nil, err
	}
	body[at]++
	if body, err = payload.AppendBin(body, stampField); err != nil {
		return nil, err
	}
	return payload.AppendBin(body, stamp)
}

// Unpack reads the body of an event. The error is ErrMalformed, and may also wrap payload.ErrMalformed.
func Unpack(body []byte) (tag string, data *payload.Map, err error) {
	head, packed, found := bytes.Cut(body, []byte(tagEnd))
	if !found || len(head) == 0 || !utf8.Valid(head) {
		return "", nil, fmt.Errorf("%w: no tag", ErrMalformed)
	}
	data, err = payload.UnmarshalBinMap(packed)
	if err != nil {
		return "", nil, fmt.Errorf("%w: data of %s: %w", ErrMalformed, head, err)
	}
	return string(head), data, nil
}

// Tag returns the tag of a body without reading the data, or "" if there is none.
func Tag(body []byte) string {
	head, _, found := bytes.Cut(body, []byte(tagEnd))
	if !found {
		return ""
	}
	return string(head)
}
