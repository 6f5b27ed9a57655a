package payload

import (
	"os"
	"strconv"
	"time"
)

const jidLen = 20 // digits: YYYYMMDDHHMMSS and microseconds

// NewJID makes the job id of a moment: 20 digits in UTC (salt/utils/jid.py, gen_jid).
func NewJID(t time.Time) string {
	s := t.UTC().Format("20060102150405.000000")
	return s[:14] + s[15:]
}

// NewUniqueJID is NewJID; unique adds the id of this process, as the option unique_jid wants it, so that two processes
// that make job ids at the same moment make different ones.
func NewUniqueJID(t time.Time, unique bool) string {
	if !unique {
		return NewJID(t)
	}
	return NewJID(t) + "_" + strconv.Itoa(os.Getpid())
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

// JIDTime is the moment that a job id tells; not ok for one that is none, or tells no moment.
func JIDTime(jid string) (t time.Time, ok bool) {
	if !IsJID(jid) {
		return time.Time{}, false
	}
	t, err := time.Parse("20060102150405", jid[:14])
	if err != nil {
		return time.Time{}, false
	}
	us, err := strconv.Atoi(jid[14:jidLen])
	return t.Add(time.Duration(us) * time.Microsecond), err == nil
}
