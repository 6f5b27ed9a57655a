package loader

import (
	"bytes"
	"encoding/json"
	"fmt"

	"brine/wire/payload"
)

// decodeJSON reads one JSON value into payload values, with the order of its keys.
func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return decodeValue(dec)
}

func decodeValue(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("decode json: %w", err)
	}
	switch t := tok.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n, nil
		}
		return t.Float64()
	case json.Delim:
		if t == '[' {
			return decodeList(dec)
		}
		return decodeMap(dec)
	}
	return tok, nil
}

func decodeList(dec *json.Decoder) (any, error) {
	out := []any{}
	for dec.More() {
		v, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := dec.Token()
	return out, err
}

func decodeMap(dec *json.Decoder) (any, error) {
	out := payload.NewMap(0)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("decode json: %w", err)
		}
		v, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		out.Set(key, v)
	}
	_, err := dec.Token()
	return out, err
}
