package python

import "fmt"

// Base64Error is Python's binascii.Error.
type Base64Error struct{ Message string }

func (e *Base64Error) Error() string { return e.Message }

// DecodeBase64 is Python's base64.b64decode: what is no digit is passed over, and what stands behind the padding is not
// read. The error is a *Base64Error.
func DecodeBase64(text []byte) ([]byte, error) {
	out := make([]byte, 0, len(text)/4*3+2)
	place, pads, left := 0, 0, byte(0)
	for _, c := range text {
		if c == '=' {
			if pads++; place >= 2 && place+pads >= 4 {
				return out, nil
			}
			continue
		}
		v, ok := base64Digit(c)
		if !ok {
			continue
		}
		pads = 0
		switch place {
		case 0:
			left = v
		case 1:
			out, left = append(out, left<<2|v>>4), v&0xf
		case 2:
			out, left = append(out, left<<4|v>>2), v&3
		case 3:
			out = append(out, left<<6|v)
		}
		place = (place + 1) % 4
	}
	switch place {
	case 0:
		return out, nil
	case 1:
		return nil, &Base64Error{fmt.Sprintf("Invalid base64-encoded string: number of data characters (%d) cannot "+
			"be 1 more than a multiple of 4", len(out)/3*4+1)}
	}
	return nil, &Base64Error{"Incorrect padding"}
}

func base64Digit(c byte) (byte, bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A', true
	case c >= 'a' && c <= 'z':
		return c - 'a' + 26, true
	case c >= '0' && c <= '9':
		return c - '0' + 52, true
	case c == '+':
		return 62, true
	case c == '/':
		return 63, true
	}
	return 0, false
}
