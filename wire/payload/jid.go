package payload

import "time"

const jidLen = 20 // digits: YYYYMMDDHHMMSS and microseconds

// NewJID makes the job id of a moment: 20 digits in UTC (salt/utils/jid.py, gen_jid).
func NewJID(t time.Time) string {
	s := t.UTC().Format("20060102150405.000000")
	return s[:14] + s[15:]
}

// IsJID reports whether s has the form of a job id: 20 digits, or those, an underscore and the process id
// that the option unique_jid adds. Unlike Salt: signs and spaces are no digits.
func IsJID(s string) bool {
	if len(s) != jidLen && (len(s) <= jidLen+1 || s[jidLen] != '_') {
		return false
	}
	for i := range jidLen {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
