package unixcrypt

import (
	"errors"
	"strings"
	"testing"
)

// TestCrypt: the hashes are those of libxcrypt 4.4 on Debian 12.
func TestCrypt(t *testing.T) {
	for _, tt := range []struct{ password, setting, want string }{
		{"My5alT", "$6$abc$def",
			"$6$abc$6cKY6wkRGEbwlGmqAfKVDucHwI67vWFzuzj/j1ttgDQ4sXpo81FN//M4ScCODW.Etfq.Vus/i/8splkex2ZlB1"},
		{"My5alT", "$6$rounds=5000$abc",
			"$6$rounds=5000$abc$6cKY6wkRGEbwlGmqAfKVDucHwI67vWFzuzj/j1ttgDQ4sXpo81FN//M4ScCODW.Etfq.Vus/i/8splkex2ZlB1"},
		{"My5alT", "$5$rounds=1001$abcdefghijklmnopqrst",
			"$5$rounds=1001$abcdefghijklmnop$8iEA2nxKQGA05lAjo4/lXKBd/zRvQV56xvoBC4FHSI/"},
		{"My5alT", "$1$abcdefghijkl", "$1$abcdefgh$.OW028UyVuW2rQe/vGoBv1"},
		{"My5alT", "$2b$05$abcdefghijklmnopqrstuv", "$2b$05$abcdefghijklmnopqrstuufR2W.VusKH/iChFi/8EiyCso.gsr0kO"},
		{strings.Repeat("x", 100), "$2b$05$abcdefghijklmnopqrstuu",
			"$2b$05$abcdefghijklmnopqrstuujf8SX2ahXLwp9w/B.Y5XdysS6yR576q"},
		{"", "$6$abc", "$6$abc$mJP3a6FyA8uCnzRtlnNypPwjnvpi5TP9qOrInzrfDmwxUQG38PkpCPdqfTb8JQfAngapMxeim4AZ..hSdRRzD."},
		{"x", "$6$rounds=10$abc", Failed}, {"x", "$6$rounds=01000$x", Failed}, {"x", "$6$rounds=1000", Failed}, {"x",
			"$6$a:b", Failed},
		{"x", "$2b$5$abcdefghijklmnopqrstuu", Failed}, {"x", "$2b$03$abcdefghijklmnopqrstuu", Failed}, {"x",
			"$2b$05$abc", Failed}, {"x", "ab", Failed}, {"x", "", Failed},
		{strings.Repeat("x", 513), "$6$abc", Failed},
	} {
		if got, err := Crypt(tt.password, tt.setting); got != tt.want || err != nil {
			t.Errorf("%q with %s: %s, %v", tt.password, tt.setting, got, err)
		}
	}
	for _, setting := range []string{"$6$rounds=999999999$a", "$2b$31$abcdefghijklmnopqrstuu"} {
		if _, err := Crypt("x", setting); !errors.Is(err, ErrWork) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
