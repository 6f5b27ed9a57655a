package door

import (
	"log/slog"
	"strconv"
	"unicode/utf8"

	"brine/config"
)

// groupsDeep is how deep groups of attributes may lie in each other.
const groupsDeep = 4

// shortened is an attribute of bounded length, without passwords.
func shortened(a slog.Attr, depth int) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		group := v.Group()
		if depth >= groupsDeep {
			group = nil
		}
		short := make([]slog.Attr, 0, min(len(group), maxAttrs))
		for _, one := range group[:min(len(group), maxAttrs)] {
			short = append(short, shortened(one, depth+1))
		}
		return slog.Attr{Key: cut(a.Key, maxAttr), Value: slog.GroupValue(short...)}
	case slog.KindString, slog.KindAny:
		text := v.String()
		if shown := config.MaskText(cut(text, mostOf(a.Key))); shown != text {
			return slog.String(cut(a.Key, maxAttr), shown)
		}
	}
	return slog.Attr{Key: cut(a.Key, maxAttr), Value: v}
}

// mostOf is how long a value may be. Stacks are this program's own words.
func mostOf(key string) int {
	switch key {
	case "stack", "goroutines", "dump":
		return maxDump
	}
	return maxAttr
}

// size is how many bytes an attribute comes to.
func size(a slog.Attr) int {
	n := len(a.Key) + 2
	if a.Value.Kind() != slog.KindGroup {
		return n + len(a.Value.String())
	}
	for _, one := range a.Value.Group() {
		n += size(one)
	}
	return n
}

// cut is a text of so many bytes at most, and a word about what is missing.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "... (" + strconv.Itoa(len(text)) + " bytes)"
}
