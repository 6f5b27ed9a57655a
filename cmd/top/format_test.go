package top

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTexts(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"span", span(0), "0s"},
		{"span negative", span(-time.Hour), "0s"},
		{"span seconds", span(59999 * time.Millisecond), "59s"},
		{"span minutes", span(200 * time.Second), "3m20s"},
		{"span tens of minutes", span(11 * time.Minute), "11m"},
		{"span hours", span(192 * time.Minute), "3h12m"},
		{"span tens of hours", span(23*time.Hour + 59*time.Minute), "23h"},
		{"span days", span(12*24*time.Hour + 3*time.Hour), "12d3h"},
		{"span long", span(240 * 24 * time.Hour), "240d"},
		{"since never", since(time.Time{}, time.Now()), "-"},
		{"short", short(850), "850ns"},
		{"short µs", short(2048), "2.0µs"},
		{"short tens of µs", short(131 * time.Microsecond), "131µs"},
		{"short ms", short(2100 * time.Microsecond), "2.1ms"},
		{"short tens of ms", short(34 * time.Millisecond), "34ms"},
		{"short s", short(1234 * time.Millisecond), "1.2s"},
		{"short minutes", short(200 * time.Second), "3m20s"},
		{"count", count(9999), "9999"},
		{"count k", count(12345), "12.3k"},
		{"count tens of k", count(123456), "123k"},
		{"count almost M", count(999_999), "1.0M"},
		{"count M", count(uint64(1_234_567)), "1.2M"},
		{"rate none", perSecond(0.01), "0"},
		{"rate small", perSecond(0.3), "0.3"},
		{"rate", perSecond(1204.4), "1204"},
		{"rate big", perSecond(12345), "12.3k"},
		{"percent", percent(0.375), "38%"},
		{"percent none", percent(0), "0%"},
		{"percent small", percent(0.004), "0.4%"},
		{"percent all", percent(1), "100%"},
		{"bar none", bar(0, 8), ""},
		{"bar little", bar(0.0001, 8), "▏"},
		{"bar half", bar(0.5, 3), "█▌"},
		{"bar all", bar(2, 3), "███"},
		{"spark", spark([]float64{0, 1, 4, 8}, 6), "   ▁▄█"},
		{"spark cut", spark([]float64{9, 1, 1}, 2), "██"},
		{"spark nothing", spark([]float64{0, 0}, 2), "  "},
		{"bytes", Bytes(512), "512 B"},
		{"bytes kB", Bytes(12_345), "12.3 kB"},
		{"bytes MB", Bytes(129_400_000), "129 MB"},
		{"bytes GB", Bytes(2_000_000_000_000), "2000 GB"},
		{"clean", clean("a\x1b[31mb\nc\td"), "a [31mb c d"},
		{"clean as it is", clean("grün, 日本"), "grün, 日本"},
		{"fit cut", fit("abcdef", 4, false), "abc…"},
		{"fit left", fit("ab", 4, false), "ab  "},
		{"fit right", fit("ab", 4, true), "  ab"},
		{"fit nowhere", fit("ab", 0, true), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

// TestCellsKeepTheirWidth: the text in a cell is never wider than its column, for any number.
func TestCellsKeepTheirWidth(t *testing.T) {
	for d := time.Nanosecond; d < 300*24*time.Hour; d = d*5/4 + 1 {
		if n := utf8.RuneCountInString(short(d)); n > 6 {
			t.Errorf("short(%d): %q", d, short(d))
		}
		if len(span(d)) > 6 {
			t.Errorf("span(%d): %q", d, span(d))
		}
		if len(count(int64(d))) > 5 || len(perSecond(float64(d)/1e3)) > 5 {
			t.Errorf("%d: %q, %q", d, count(int64(d)), perSecond(float64(d)/1e3))
		}
	}
	for i := range 1001 {
		if share := float64(i) / 1000; len(percent(share)) > 5 || utf8.RuneCountInString(bar(share, 8)) > 8 {
			t.Errorf("%v: %q, %q", share, percent(share), bar(share, 8))
		}
	}
	if strings.Contains(clean(strings.Repeat("x\x9b1m", 3)), "\x9b") {
		t.Error("a control character is left")
	}
}
