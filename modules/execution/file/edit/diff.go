package edit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// context is how many lines a diff shows before and behind a difference.
const context = 3

var hunk = regexp.MustCompile(`^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@\n$`)

// moved is a diff of parts of two texts that begin so many lines behind the beginning.
func moved(diff []string, by int) string {
	var out strings.Builder
	for _, line := range diff {
		if m := hunk.FindStringSubmatch(line); m != nil {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[3])
			line = fmt.Sprintf("@@ -%d%s +%d%s @@\n", from+by, m[2], to+by, m[4])
		}
		out.WriteString(line)
	}
	return out.String()
}
