package yaml

import (
	"errors"
	"strings"
)

var (
	errNotASCII  = errors.New("failed to convert base64 data into ascii")
	errBadBase64 = errors.New("failed to decode base64 data: incorrect padding")
)

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// binary decodes !!binary with the leniency of Python's binascii: characters outside the alphabet are skipped,
// everything behind the padding is ignored. Salt appends missing padding by the length of the text as written.
func binary(s string) ([]byte, error) {
	if missing := len(s) % 4; missing > 0 {
		s += strings.Repeat("=", 4-missing)
	}
	out := make([]byte, 0, len(s)/4*3)
	var bits uint
	quad, pads := 0, 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return nil, errNotASCII
		}
		if c == '=' {
			pads++
			if quad >= 2 && quad+pads >= 4 {
				return out, nil
			}
			continue
		}
		v := strings.IndexByte(base64Alphabet, c)
		if v < 0 {
			continue
		}
		pads = 0
		bits = bits<<6 | uint(v)
		if quad = (quad + 1) % 4; quad != 1 {
			out = append(out, byte(bits>>(uint(3-quad+1)%4*2)))
		}
	}
	if quad != 0 {
		return nil, errBadBase64
	}
	return out, nil
}
