package yaml

import "strings"

// tagPrefix is the meaning of "!!".
const tagPrefix = "tag:yaml.org,2002:"

// Tags of YAML 1.1.
const (
	tagNull    = tagPrefix + "null"
	tagBool    = tagPrefix + "bool"
	tagInt     = tagPrefix + "int"
	tagFloat   = tagPrefix + "float"
	tagStr     = tagPrefix + "str"
	tagTime    = tagPrefix + "timestamp"
	tagBinary  = tagPrefix + "binary"
	tagUnicode = tagPrefix + "python/unicode"
	tagMerge   = tagPrefix + "merge"
	tagValue   = tagPrefix + "value"
	tagSeq     = tagPrefix + "seq"
	tagMap     = tagPrefix + "map"
	tagSet     = tagPrefix + "set"
	tagOmap    = tagPrefix + "omap"
	tagPairs   = tagPrefix + "pairs"

	tagEncrypted = "!encrypted" // from Salt's serializer: plain text
)

func isCollectionTag(tag string) bool {
	switch tag {
	case tagSeq, tagMap, tagSet, tagOmap, tagPairs:
		return true
	}
	return false
}

// resolve returns the tag of a plain scalar. It is PyYAML's list of implicit resolvers: chosen by the first character,
// and tried in the order bool, float, int, merge, null, timestamp, value.
func resolve(s string) string {
	if s == "" {
		return tagNull
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
		return resolveNumber(s)
	case c == '~' && s == "~":
		return tagNull
	case c == '<' && s == "<<":
		return tagMerge
	case c == '=' && s == "=":
		return tagValue
	}
	switch s {
	case "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
		"true", "True", "TRUE", "false", "False", "FALSE":
		return tagBool
	case "null", "Null", "NULL":
		return tagNull
	}
	return tagStr
}

func resolveNumber(s string) string {
	switch {
	case isFloat(s):
		return tagFloat
	case isInt(s):
		return tagInt
	case isTimestamp(s):
		return tagTime
	}
	return tagStr
}

// isFloat matches
//
//	[-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?
//	\.[0-9][0-9_]*([eE][-+][0-9]+)?
//	[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*
//	[-+]?\.(inf|Inf|INF)   \.(nan|NaN|NAN)
func isFloat(s string) bool {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return true
	}
	if !isDigit(at0(s)) && s[0] == '.' {
		if rest := s[1:]; isDigit(at0(rest)) {
			return exponentOrEnd(skip(rest, digitOrUnderscore))
		}
	}
	s = unsigned(s)
	switch s {
	case ".inf", ".Inf", ".INF":
		return true
	}
	if !isDigit(at0(s)) {
		return false
	}
	s = skip(s, digitOrUnderscore)
	if at0(s) == '.' {
		return exponentOrEnd(skip(s[1:], digitOrUnderscore))
	}
	s, some := skipSixties(s)
	return some && at0(s) == '.' && skip(s[1:], digitOrUnderscore) == ""
}

// isInt matches, after an optional sign,
//
//	0b[0-1_]+   0[0-7_]+   0|[1-9][0-9_]*   0x[0-9a-fA-F_]+   [1-9][0-9_]*(:[0-5]?[0-9])+
func isInt(s string) bool {
	s = unsigned(s)
	switch {
	case s == "0":
		return true
	case strings.HasPrefix(s, "0b"):
		return len(s) > 2 && skip(s[2:], func(c byte) bool { return c == '0' || c == '1' || c == '_' }) == ""
	case strings.HasPrefix(s, "0x"):
		return len(s) > 2 && skip(s[2:], hexOrUnderscore) == ""
	case strings.HasPrefix(s, "0"):
		return skip(s[1:], func(c byte) bool { return c >= '0' && c <= '7' || c == '_' }) == ""
	case !isDigit(at0(s)):
		return false
	}
	s = skip(s, digitOrUnderscore)
	if s == "" {
		return true
	}
	s, some := skipSixties(s)
	return some && s == ""
}

// isTimestamp matches the date and date-time forms of YAML 1.1.
func isTimestamp(s string) bool {
	if !digits(&s, 4, 4) || !char(&s, "-") {
		return false
	}
	day := s
	if digits(&day, 2, 2) && char(&day, "-") && digits(&day, 2, 2) && day == "" {
		return true
	}
	if !digits(&s, 1, 2) || !char(&s, "-") || !digits(&s, 1, 2) {
		return false
	}
	if !char(&s, "Tt") {
		rest := strings.TrimLeft(s, " \t")
		if rest == s {
			return false
		}
		s = rest
	}
	if !digits(&s, 1, 2) || !char(&s, ":") || !digits(&s, 2, 2) || !char(&s, ":") || !digits(&s, 2, 2) {
		return false
	}
	if char(&s, ".") {
		s = skip(s, isDigit)
	}
	return isZone(s)
}

// isZone matches an optional zone: blanks, then Z or an offset.
func isZone(s string) bool {
	if s == "" {
		return true
	}
	s = strings.TrimLeft(s, " \t")
	if s == "Z" {
		return true
	}
	if !char(&s, "-+") || !digits(&s, 1, 2) {
		return false
	}
	return s == "" || char(&s, ":") && digits(&s, 2, 2) && s == ""
}

// digits removes up to high digits from s, and tells whether there were at least low.
func digits(s *string, low, high int) bool {
	n := 0
	for n < high && n < len(*s) && isDigit((*s)[n]) {
		n++
	}
	*s = (*s)[n:]
	return n >= low
}

// char removes one character of set from s.
func char(s *string, set string) bool {
	if *s == "" || !strings.Contains(set, (*s)[:1]) {
		return false
	}
	*s = (*s)[1:]
	return true
}

func isDigit(c byte) bool           { return c >= '0' && c <= '9' }
func digitOrUnderscore(c byte) bool { return isDigit(c) || c == '_' }
func hexOrUnderscore(c byte) bool {
	return digitOrUnderscore(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// at0 is the first byte of s, 0 if s is empty.
func at0(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

func unsigned(s string) string {
	if c := at0(s); c == '+' || c == '-' {
		return s[1:]
	}
	return s
}

func skip(s string, while func(byte) bool) string {
	for s != "" && while(s[0]) {
		s = s[1:]
	}
	return s
}

// exponentOrEnd matches ([eE][-+][0-9]+)?$
func exponentOrEnd(s string) bool {
	if s == "" {
		return true
	}
	if !char(&s, "eE") || !char(&s, "-+") || s == "" {
		return false
	}
	return skip(s, isDigit) == ""
}

// skipSixties removes (:[0-5]?[0-9])+ from s, and tells whether there was at least one.
func skipSixties(s string) (rest string, some bool) {
	for at0(s) == ':' {
		part := s[1:]
		n := len(part) - len(skip(part, isDigit))
		switch {
		case n == 0:
			return s, some
		case n == 1:
			s = part[1:]
		case n >= 2 && part[0] <= '5':
			s = part[2:]
		default:
			s = part[1:]
		}
		some = true
	}
	return s, some
}
