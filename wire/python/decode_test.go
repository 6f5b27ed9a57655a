package python

import "testing"

// TestUTF8Error has the words of Python 3.11.
func TestUTF8Error(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"a\u00e9\u20ac\U0001f600", ""},
		{"\xff", "byte 0xff in position 0: invalid start byte"},
		{"\x61\x80", "byte 0x80 in position 1: invalid start byte"},
		{"\x61\xc3", "byte 0xc3 in position 1: unexpected end of data"},
		{"\x61\xc3\x28", "byte 0xc3 in position 1: invalid continuation byte"},
		{"\xe2\x82", "bytes in position 0-1: unexpected end of data"},
		{"\xe2\x82\x28", "bytes in position 0-1: invalid continuation byte"},
		{"\xe2\x28", "byte 0xe2 in position 0: invalid continuation byte"},
		{"\xf0\x9f\x98", "bytes in position 0-2: unexpected end of data"},
		{"\xf0\x9f\x98\x28", "bytes in position 0-2: invalid continuation byte"},
		{"\xf0\x9f\x28", "bytes in position 0-1: invalid continuation byte"},
		{"\xc0\x80", "byte 0xc0 in position 0: invalid start byte"},
		{"\xed\xa0\x80", "byte 0xed in position 0: invalid continuation byte"},
		{"\xf4\x90\x80\x80", "byte 0xf4 in position 0: invalid continuation byte"},
		{"\xe0\x80\x80", "byte 0xe0 in position 0: invalid continuation byte"},
		{"\xf0\x80\x80\x80", "byte 0xf0 in position 0: invalid continuation byte"},
		{"\xc3\xa9\xf5", "byte 0xf5 in position 2: invalid start byte"},
		{"\xed\xa0", "byte 0xed in position 0: invalid continuation byte"},
		{"\xe2", "byte 0xe2 in position 0: unexpected end of data"},
	} {
		want := tt.want
		if want != "" {
			want = "'utf-8' codec can't decode " + want
		}
		if got := UTF8Error([]byte(tt.raw)); got != want {
			t.Errorf("%q: got %q, want %q", tt.raw, got, want)
		}
	}
}
