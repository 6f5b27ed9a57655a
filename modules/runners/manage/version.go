package manage

import (
	"cmp"
	"strconv"
	"strings"

	"brine/modules/text/pattern"
)

// versionForm reads "3008.3", "v2019.2.0rc1", "3006.1+123.gabcdef".
var versionForm = pattern.New(`^v?(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?`)

// compareVersions orders two version texts: -1, 0 or 1. A pre-release comes before its release; what cannot be
// read compares as text.
func compareVersions(a, b string) int {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	if !okX || !okY {
		return strings.Compare(a, b)
	}
	for i := range max(len(x.numbers), len(y.numbers)) {
		if c := cmp.Compare(x.at(i), y.at(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(x.pre, y.pre)
}

type version struct {
	numbers []int
	pre     int // 0 for a release, negative for what comes before it
}

func (v version) at(i int) int {
	if i < len(v.numbers) {
		return v.numbers[i]
	}
	return 0
}

func parseVersion(text string) (version, bool) {
	m := versionForm.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	var v version
	for part := range strings.SplitSeq(m[1], ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return version{}, false
		}
		v.numbers = append(v.numbers, n)
	}
	if m[2] != "" {
		const perKind = 1000
		n, _ := strconv.Atoi(m[3])
		v.pre = n - map[string]int{"a": 3 * perKind, "b": 2 * perKind, "rc": perKind}[m[2]]
	}
	return v, true
}
