package config

import (
	"fmt"
	"log/slog"
	"strings"
)

// misspelt reports unknown options of files and environment that look like a typing error.
func (c *Common) misspelt(known []string) []Notice {
	names := make(map[string]bool, len(known))
	for _, name := range known {
		names[name] = true
	}
	var out []Notice
	for k := range c.File.All() {
		key, ok := k.(string)
		if !ok || names[key] {
			continue
		}
		if like := resembles(key, known); like != "" {
			out = append(out, Notice{slog.LevelWarn, fmt.Sprintf("Config option '%s' is not known: did you mean "+
				"'%s'? (%s)", key, like, c.Origin(key))})
		}
	}
	return out
}

// resembles is the known option that is most similar to a key, or "" if there is none or the key itself is known. A
// short key must be closer than a long one. Operators also keep data of their own in these files: a known key with a
// suffix (grains_extra, timeout2) is theirs.
func resembles(key string, known []string) string {
	most := 0
	switch n := len(key); {
	case n >= 9:
		most = 2
	case n >= 5:
		most = 1
	}
	best := ""
	for _, name := range known {
		if name == key {
			return ""
		}
		if extended(key, name) || extended(name, key) || len(name)-len(key) > most || len(key)-len(name) > most {
			continue
		}
		if d := editDistance(strings.ToLower(key), name); d <= most {
			best, most = name, d-1
		}
	}
	return best
}

// extended tells whether a key is another key followed by a word or a number.
func extended(key, name string) bool {
	rest, ok := strings.CutPrefix(key, name)
	return ok && rest != "" && (rest[0] == '_' || rest[0] == '.' || rest[0] == '-' || rest[0] >= '0' && rest[0] <= '9')
}

// editDistance counts how many letters to insert, delete, replace or swap with their neighbour turn one text into the
// other.
func editDistance(a, b string) int {
	two, one, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(one[j]+1, now[j-1]+1, one[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], two[j-2]+1)
			}
		}
		two, one, now = one, now, two
	}
	return one[len(b)]
}

// Resembling is the known option that is most similar to a key, or "" if there is none or the key itself is known.
func Resembling(key string) string {
	var known []string
	if err := eachStanding(func(name, _ string) bool { known = append(known, name); return true }); err != nil {
		return ""
	}
	return resembles(key, known)
}
