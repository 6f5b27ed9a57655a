package payload

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits for texts of peers, in bytes: more than any Salt has ever sent, and little enough to store, log and use as a
// map key. A longer text is refused before that. Unlike Salt: it has no such limits.
const (
	// MaxID is the longest id of a minion. It names a file below pki_dir.
	MaxID = 255
	// MaxJID is the longest job id: 20 digits, the process id that unique_jid adds, or what an operator gave to --jid.
	MaxJID = 255
	// MaxTag is the longest tag of an event. Tags of the inotify beacon end with a path of up to 4096 bytes.
	MaxTag = 8192
	// MaxNonce is the longest nonce; Salt's are 32 hexadecimal digits.
	MaxNonce = 255
	// MaxPublicKey is the longest public key as text: a key of 16384 bits takes 2.8 KB.
	MaxPublicKey = 16384
	// MaxSecret is the longest result of RSA, such as a minion's token or a signature: that of a key of 32768 bits.
	MaxSecret = 4096
	// MaxToken is the longest token of external authentication: the hexadecimal digits of a SHA-512.
	MaxToken = 128
	// MaxEnv is the longest name of an environment, which may be a branch name.
	MaxEnv = 1024
	// MaxUser is the longest name of a user. LDAP may use whole distinguished names.
	MaxUser = 1024
	// MaxPassword is the longest password, which may be a ticket of another service.
	MaxPassword = 65536
	// MaxFunction is the longest name of a function.
	MaxFunction = 255
	// MaxPattern is the longest regular expression, or grain or pillar expression, in a target.
	MaxPattern = 1 << 18
	// MaxReturners is the longest list of returners in a job, with commas.
	MaxReturners = 1024
	// MaxCommand is the longest command of a load.
	MaxCommand = 64
	// MaxAlgorithm is the longest name of an algorithm.
	MaxAlgorithm = 64
	// maxShown is how many bytes of a text from outside appear in a log record or an error.
	maxShown = 128
)

// ValidID tells whether id may name a minion: it must be a text on one line that names a direct child of a directory.
// Unlike Salt: an id of more than 255 bytes, or with a control character, a line separator or a character that changes
// the writing direction, is invalid. Source: salt/utils/verify.py, valid_id.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxID && id != "." && id != ".." && strings.IndexFunc(id, notInID) < 0
}

func notInID(r rune) bool {
	return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Show prepares a text from outside for a log record or an error: a short, printable text stays as it is, any other is
// quoted, and a long one is cut.
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
