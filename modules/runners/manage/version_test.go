package manage

import "testing"

func TestCompareVersions(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"3008.3", "3008.3", 0}, {"3006.28", "3008.3", -1}, {"3008.10", "3008.3", 1}, {"3008", "3008.0", 0},
		{"3009.0rc1", "3009.0", -1}, {"3009.0rc1", "3009.0rc2", -1}, {"3009.0b5", "3009.0rc1", -1},
		{"v2019.2.0", "3000", -1}, {"3008.3+12.gabc", "3008.3", 0}, {"odd", "3008", 1},
	} {
		if got := compareVersions(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: got %d", tt.a, tt.b, got)
		}
	}
}
