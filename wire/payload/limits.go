package payload

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what a peer may say, in bytes: more than any Salt has ever sent, and little enough to be stored, logged and
// kept as the key of a map. What is longer is refused before any of that. Unlike Salt: it has no such limits.
const (
	// MaxID is the longest id of a minion. It names a file below pki_dir.
	MaxID = 255
	// MaxJID is the longest job id: 20 digits, the process id that unique_jid adds, or what an operator gave to --jid.
	MaxJID = 255
	// MaxTag is the longest tag of an event. Those of the inotify beacon end with a path of up to 4096.
	MaxTag = 8192
	// MaxNonce is the longest nonce; Salt's are 32 hexadecimal digits.
	MaxNonce = 255
	// MaxPublicKey is the longest public key as text: one of 16384 bits takes 2.8 KB.
	MaxPublicKey = 16384
	// MaxSecret is the longest number of RSA: a token of a minion, a signature. That is a key of 32768 bits.
	MaxSecret = 4096
	// MaxToken is the longest token of external authentication: the hexadecimal digits of a SHA-512.
	MaxToken = 128
	// MaxEnv is the longest name of an environment, which may be that of a branch.
	MaxEnv = 1024
	// MaxUser is the longest name of a user. Those of LDAP may be whole distinguished names.
	MaxUser = 1024
	// MaxPassword is the longest password, which may be a ticket of some other service.
	MaxPassword = 65536
	// MaxFunction is the longest name of a function.
	MaxFunction = 255
	// MaxPattern is the longest regular expression, or expression of grains or pillars, in a target.
	MaxPattern = 1 << 18
	// MaxReturners is the longest list of returners that a job names, with commas.
	MaxReturners = 1024
	// MaxCommand is the longest command of a load.
	MaxCommand = 64
	// MaxAlgorithm is the longest name of an algorithm.
	MaxAlgorithm = 64
	// maxShown is how much of a text from outside a log record or an error shows.
	maxShown = 128
)

// ValidID tells whether id may name a minion: text that names a direct child of a directory, on one line.
// Unlike Salt: an id with a control character, one that ends a line or turns the direction of writing, or of more than
// 255 bytes, is none. Source: salt/utils/verify.py, valid_id.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxID && id != "." && id != ".." && strings.IndexFunc(id, notInID) < 0
}

func notInID(r rune) bool {
	return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Show is a text from outside for a log record or an error: as it is when it is short and plain, else quoted, and cut
// when it is long.
func Show(text string) string {
	if len(text) > maxShown {
		end := maxShown
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		return strconv.Quote(text[:end]) + "... (" + strconv.Itoa(len(text)) + " bytes)"
	}
	if plain(text) {
		return text
	}
	return strconv.Quote(text)
}

func plain(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}
