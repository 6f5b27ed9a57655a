package payload

import "slices"

// UnmarshalBinPick reads a map by the bin rule, but only the entries under the given keys. It skips the others without
// allocating memory for them, and checks only their lengths. The error wraps ErrMalformed.
func UnmarshalBinPick(b []byte, keys ...any) (*Map, error) {
	d := decoder{b: b, bin: true, left: maxValues, deepest: maxDepth}
	n, err := d.mapHeader()
	if err != nil {
		return nil, err
	}
	out := NewMap(len(keys))
	for range n {
		k, err := d.key(1)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(keys, k) {
			if err := d.skip(); err != nil {
				return nil, err
			}
			continue
		}
		v, err := d.value(1)
		if err != nil {
			return nil, err
		}
		out.Set(k, v)
	}
	if len(d.b) > 0 {
		return nil, malformed("bytes after the value")
	}
	return out, nil
}

// mapHeader reads the number of entries of a map.
func (d *decoder) mapHeader() (int64, error) {
	if len(d.b) == 0 {
		return 0, errTruncated
	}
	c := d.b[0]
	d.b = d.b[1:]
	switch {
	case c >= 0x80 && c < 0x90:
		return int64(c & 0x0f), nil
	case c == 0xde || c == 0xdf:
		n, err := d.number(leadWidth(c))
		return int64(n), err
	}
	return 0, malformed("not a map")
}

// skip skips one value with everything inside it. Each round consumes a byte, so b limits the number of rounds.
func (d *decoder) skip() error {
	for waiting := int64(1); waiting > 0; waiting-- {
		if len(d.b) == 0 {
			return errTruncated
		}
		c := d.b[0]
		d.b = d.b[1:]
		bytes, values, err := d.extent(c)
		if err != nil {
			return err
		}
		if _, err := d.take(bytes); err != nil {
			return err
		}
		waiting += values
	}
	return nil
}

// extent returns how many bytes follow a lead byte, and how many values follow those.
func (d *decoder) extent(c byte) (bytes, values int64, err error) {
	switch {
	case c < 0x80, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3:
		return 0, 0, nil
	case c < 0x90:
		return 0, 2 * int64(c&0x0f), nil
	case c < 0xa0:
		return 0, int64(c & 0x0f), nil
	case c < 0xc0:
		return int64(c & 0x1f), 0, nil
	case c == 0xc1:
		return 0, 0, malformed("lead byte 0xc1")
	case c >= 0xd4 && c <= 0xd8: // ext, including its type byte
		return 1<<(c-0xd4) + 1, 0, nil
	}
	n, err := d.number(leadWidth(c))
	switch c {
	case 0xc4, 0xc5, 0xc6, 0xd9, 0xda, 0xdb:
		return int64(n), 0, err
	case 0xc7, 0xc8, 0xc9:
		return int64(n) + 1, 0, err
	case 0xdc, 0xdd:
		return 0, int64(n), err
	case 0xde, 0xdf:
		return 0, 2 * int64(n), err
	}
	return 0, 0, err // a number
}
