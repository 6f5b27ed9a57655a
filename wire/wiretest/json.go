package wiretest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// parseJSON reads JSON into payload values: objects become ordered maps, and whole numbers become integers. An object
// whose only key starts with a dollar sign becomes the value that it stands for.
func parseJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return parseObject(d)
	case json.Delim('['):
		return parseList(d)
	}
	switch tok := tok.(type) {
	case json.Number:
		return parseNumber(tok.String())
	case string:
		if args, ok := strings.CutPrefix(tok, "datetime.datetime("); ok {
			return pythonTime(strings.TrimSuffix(args, ")"))
		}
	}
	return tok, nil
}

// pythonTime reads Python's text of a date and time, which the recorder wrote. Seconds and microseconds are left out if
// they are zero.
func pythonTime(args string) (any, error) {
	var n [7]int
	for i, s := range strings.Split(args, ", ") {
		v, err := strconv.Atoi(s)
		if err != nil || i >= len(n) {
			return nil, fmt.Errorf("datetime of %q", args)
		}
		n[i] = v
	}
	return payload.Time{Time: time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1000, time.UTC)}, nil
}

func parseNumber(s string) (any, error) {
	if strings.ContainsAny(s, ".eE") {
		return json.Number(s).Float64()
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("number %q", s)
	}
	return payload.Canon(n), nil
}

func parseList(d *json.Decoder) (any, error) {
	out := []any{}
	for d.More() {
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.Token()
	return out, err
}

func parseObject(d *json.Decoder) (any, error) {
	m := payload.NewMap(0)
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		m.Set(k, v)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if m.Len() == 1 {
		if k, ok := m.Keys()[0].(string); ok && strings.HasPrefix(k, "$") {
			return special(k, m.Value(k))
		}
	}
	return m, nil
}

// special makes the value of a tagged object.
func special(tag string, v any) (any, error) {
	text, _ := v.(string)
	list, _ := v.([]any)
	switch tag {
	case "$b64":
		return base64.StdEncoding.DecodeString(text)
	case "$map":
		return pairs(list)
	case "$int":
		return bigInt(text)
	case "$datetime":
		t, err := time.Parse("20060102T15:04:05.000000", text)
		return payload.Time{Time: t}, err
	case "$date":
		t, err := time.Parse(time.DateOnly, text)
		return payload.Time{Time: t}, err
	case "$tuple", "$set":
		return v, nil
	case "$const":
		data, err := payload.MarshalBin(list)
		return payload.Ext{Type: 79, Data: data}, err
	case "$repeat":
		return repeat(list)
	}
	return nil, fmt.Errorf("unknown tag %s", tag)
}

func pairs(list []any) (any, error) {
	m := payload.NewMap(len(list))
	for _, p := range list {
		kv, ok := p.([]any)
		if !ok || len(kv) != 2 {
			return nil, fmt.Errorf("$map: not a pair: %v", p)
		}
		m.Set(kv[0], kv[1])
	}
	return m, nil
}

func bigInt(s string) (any, error) {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("$int %q", s)
	}
	return payload.Canon(n), nil
}

func repeat(list []any) (any, error) {
	if len(list) == 2 {
		s, ok := list[0].(string)
		if n, isInt := list[1].(int64); ok && isInt {
			return strings.Repeat(s, int(n)), nil
		}
	}
	return nil, fmt.Errorf("$repeat %v", list)
}

func unbase64(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatalf("vectors: %v", err)
	}
	return b
}
