package apiplay

import (
	"slices"
	"strings"
)

// Ours removes from a brine answer the attributes that every brine answer has and no Salt answer: HttpOnly and
// SameSite of the session cookie. A cookie without them gets a mark, so that it equals no other.
func Ours(a Answer) Answer {
	a.Header = slices.Clone(a.Header)
	for i, h := range a.Header {
		if rest, ok := strings.CutPrefix(h, "Set-Cookie: session_id="); ok {
			parts := strings.Split(rest, "; ")
			n := len(parts)
			parts = slices.DeleteFunc(parts, func(p string) bool {
				return p == "HttpOnly" || strings.HasPrefix(p, "SameSite=")
			})
			a.Header[i] = "Set-Cookie: session_id=" + strings.Join(parts, "; ")
			if n-len(parts) != 2 {
				a.Header[i] += "; neither HttpOnly nor SameSite"
			}
		}
	}
	return a
}

// Theirs removes from a Salt answer a detail that brine omits everywhere on purpose: 3008 counts the method
// destroy of a class among the clients (spec/api.md, the second chapter 16).
func Theirs(a Answer) Answer {
	a.Body = strings.NewReplacer(`"clients": ["destroy", `, `"clients": [`, `clients:\n- destroy\n`,
		`clients:\n`).Replace(a.Body)
	return a
}
