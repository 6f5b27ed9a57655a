package payload

import (
	"os"
	"strconv"
	"time"
)

const jidLen = 20 // digits: YYYYMMDDHHMMSS and microseconds

// NewJID makes the job id of a time: 20 digits in UTC (salt/utils/jid.py, gen_jid).
func NewJID(t time.Time) string {
	s := t.UTC().Format("20060102150405.000000")
	return s[:14] + s[15:]
}

// NewUniqueJID is NewJID. If unique is set, it adds the id of this process (option unique_jid), so that two processes
// make different job ids at the same moment.
func NewUniqueJID(t time.Time, unique bool) string {
	if !unique {
		return NewJID(t)
	}
	return NewJID(t) + "_" + strconv.Itoa(os.Getpid())
}

// maxPID is the longest process id in a job id, in digits.
const maxPID = 20

// IsJID reports whether s has the form of a job id: 20 digits, or 20 digits, an underscore and the process id that the
// option unique_jid adds. Unlike Salt: signs and spaces do not count as digits, and only a process id may follow the
// underscore, because a job id becomes a part of a tag.
func IsJID(s string) bool {
	if len(s) == jidLen {
		return digits(s)
	}
	return len(s) > jidLen+1 && len(s) <= jidLen+1+maxPID && s[jidLen] == '_' && digits(s[:jidLen]) &&
		digits(s[jidLen+1:])
}

// BeginsWithJID reports whether s begins with the 20 digits of a job id. A tool that waits for a job accepts every tag
// that begins with the job's id.
func BeginsWithJID(s string) bool { return len(s) >= jidLen && digits(s[:jidLen]) }

// JIDBase is the part of a job id that holds its time.
func JIDBase(jid string) string {
	if BeginsWithJID(jid) {
		return jid[:jidLen]
	}
	return jid
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// JIDTime is the time in a job id. ok is false if jid is not a job id or holds no valid time.
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
