package netapi

import "net/url"

// secretDigits is how long session ids and eauth tokens are at least; jids are shorter.
const secretDigits = 32

// LogPath is the path of an address for a log: escaped, and with a dash in the place of what may be a session id or an
// eauth token. Some addresses have those in them.
func LogPath(path string) string {
	shown, run := make([]byte, 0, len(path)), 0
	for i := range len(path) + 1 {
		if i < len(path) && digit(path[i]) >= 0 {
			run++
		} else {
			if run >= secretDigits {
				shown = append(shown[:len(shown)-run], '-')
			}
			run = 0
		}
		if i < len(path) {
			shown = append(shown, path[i])
		}
	}
	return (&url.URL{Path: string(shown)}).EscapedPath()
}
