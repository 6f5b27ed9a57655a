package pytime

import (
	"strings"
	"testing"
	"time"
)

// TestStrftime: the answers are those of Python 3.11 on Debian 12.
func TestStrftime(t *testing.T) {
	zone := time.FixedZone("X", 0)
	for _, tt := range []struct {
		at   time.Time
		want string // "field text|..."
	}{
		{time.Date(2026, 1, 3, 7, 5, 9, 1234000, zone),
			`a Sat|A Saturday|b Jan|B January|c Sat Jan  3 07:05:09 2026|C 20|d 03|D 01/03/26|e  3|F 2026-01-03|g 26|` +
				`G 2026|h Jan|H 07|I 07|j 003|k  7|l  7|m 01|M 05|N %N|p AM|P am|q %q|r 07:05:09 AM|R 07:05|S 09|T 07:05:09|u 6|U 00|V 01|w 6|W 00|x 01/03/26|X 07:05:09|` +
				`y 26|Y 2026|z |Z |% %|f 001234|i %i|-d 3|_d  3|05d 00003|^a SAT|#Z |Ey 26|Od 03|10Y 0000002026|:z %:z|#p am|J %J`},
		{time.Date(2024, 12, 30, 17, 55, 0, 0, zone),
			`a Mon|c Mon Dec 30 17:55:00 2024|e 30|g 25|G 2025|I 05|j 365|k 17|l  5|p PM|P pm|r 05:55:00 PM|u 1|U 52|V 01|` +
				`W 53|f 000000|-H 17`},
	} {
		for pair := range strings.SplitSeq(tt.want, "|") {
			name, want, _ := strings.Cut(pair, " ")
			if got := Strftime(tt.at, "%"+name); got != want {
				t.Errorf("%%%s: %q, want %q", name, got, want)
			}
		}
	}
	for format, want := range map[string]string{"": "", "%": "%", "a%": "a%", "é%Y": "é1970", "%n%t": "\n\t",
		"%%d": "%d", "%s": "0", "%-": "%-"} {
		if got := Strftime(time.Unix(0, 0).UTC(), format); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
}

func TestStrptime(t *testing.T) {
	for _, tt := range []struct{ text, format, want string }{
		{"b_20240229T0130.tgz", "b_%Y%m%dT%H%M.tgz", "2024-02-29T01:30:00Z"},
		{"b_20230229T0130.tgz", "b_%Y%m%dT%H%M.tgz", ""},
		{"x", "%Y", ""},
		{"5 jan 69 11:02:03 PM", "%d %b %y %I:%M:%S %p", "1969-01-05T23:02:03Z"},
		{"2024-060 12.5%", "%Y-%j %H.%f%%", "2024-02-29T12:00:00.5Z"},
		{"Monday, March 04 2024", "%A, %B %d %Y", "2024-03-04T00:00:00Z"},
	} {
		got, ok, err := Strptime(tt.text, tt.format)
		if shown := got.Format("2006-01-02T15:04:05.999999999Z"); err != nil || ok != (tt.want != "") ||
			ok && shown != tt.want {
			t.Errorf("%q by %q: %s %v %v, want %q", tt.text, tt.format, shown, ok, err, tt.want)
		}
	}
	if _, _, err := Strptime("x", "%Q"); err == nil {
		t.Error("a bad directive was taken")
	}
}
