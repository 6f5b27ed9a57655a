package config

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Parts of the expressions below.
const (
	// secretNames match the ends of the names of secrets in texts; anything may precede them.
	secretNames = `(?:passw(?:or)?d|passphrase|passwd|pass|pwd|pw|psk|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|secret[_-]?key|` +
		`shared[_-]?key|signature|credentials?|jwt)`
	// is stands between a name and its value: in INI, YAML, JSON, Ruby, and in an address that is quoted in another
	// one.
	is = `\\?["']?\s*(?:=>|:=|=|:|%3d)\s*`
	// quoted is a value in quotation marks, which may contain doubled or escaped ones.
	quoted = `[bu]?(?:\\"(?:[^"\\]|\\[^"])*\\"|"(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*')`
	// headers contain only secrets; a scheme stays visible.
	headers = `(?:(?:proxy-)?authorization|(?:set-)?cookie)`
	scheme  = `(?:(?:bearer|basic|digest|negotiate|ntlm|token|apikey|aws4-hmac-sha256)\s+)?`
	// braced is an ODBC value in braces.
	braced = `\{(?:[^}]|\}\})*\}`
)

// secretTexts find secrets inside a text; an expression for a whole secret comes before those for its parts. They are
// compiled at first use, because most tools need none.
var secretTexts = sync.OnceValue(func() []secretText {
	all := []secretText{
		{expr: `(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`, leave: Masked},
		// Headers. The scheme of Authorization stays visible.
		{expr: `(?i)(\b` + headers + is + `"` + scheme + `)[^"\r\n]+`, leave: "${1}" + Masked},
		{expr: `(?i)(\b` + headers + is + `'` + scheme + `)[^'\r\n]+`, leave: "${1}" + Masked},
		{expr: `(?i)(\b` + headers + is + scheme + `)[^\s"'][^\r\n]*`, leave: "${1}" + Masked},
		{expr: `(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{6,}`, leave: "${1}" + Masked},
		// Addresses. A token may stand in the place of the user.
		{expr: `(?i)(https?://)[^\s/:@?#]{16,}((?::[^\s/]*)?@)`, leave: "${1}" + Masked + "${2}"},
		{expr: `([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)(?:[^\s/]+|\d*[^\s\d/@]\S*)@`, leave: "${1}" + Masked + "@"},
		{expr: `(?i)([?&;](?:key|sig|code|auth|sid|sessionid|session_id|x-amz-credential)=)[^\s&;#"']+`,
			leave: "${1}" + Masked},
		// Connection strings: of ADO and ODBC, of Go's MySQL, of Oracle, and addresses without a scheme.
		{expr: `(?i)((?:^|[;"'])\s*[a-z0-9_ .-]*` + secretNames + `\s*=\s*)(` + braced +
			`|"(?:[^"]|"")*"|'(?:[^'\\]|\\.|'')*'|[^;\n"']+)`, leave: "${1}" + Masked, within: ";"},
		{expr: `(?i)([\w.%+-]+:)[^\s@]+@((?:tcp|udp|unix)\()`, leave: "${1}" + Masked + "@${2}"},
		{expr: `(^|[\s"'=,(])([\w.%+-]+/)[^\s/@"']+@((?://)?[\w.-]+(?::\d+)?/\w)`,
			leave: "${1}${2}" + Masked + "@${3}"},
		{expr: `(^|[\s"'=,(])([\w.%+-]*:)[^\s/:@"']+@([A-Za-z0-9.-]+:\d{2,5}\b)`, leave: "${1}${2}" + Masked + "@${3}"},
		// Names with values, words of command lines and of other languages.
		{expr: `(?i)([a-z0-9_.-]*` + secretNames + is + `)(` + quoted + `|` + braced + `|[^\s,;&"']+)`,
			leave: "${1}" + Masked},
		{expr: `(?i)(<[a-z0-9:_.-]*` + secretNames + `(?:\s[^<>]*)?>)[^<]+`, leave: "${1}" + Masked},
		{expr: `((?:^|\s)(?:-u|--user|--proxy-user)[\s=]?\s*["']?[^\s:"'/]+:)[^\s"']+`, leave: "${1}" + Masked},
		{expr: `(\b(?:mysql\w*|mariadb\S*)\b[^;|&\n]*?\s-p|\bsshpass\s+-p\s*)[^\s-]\S*`, leave: "${1}" + Masked},
		{expr: `(?i)(--?(?:password|passphrase|secret|token|api-key)\s+)[^\s-]\S*`, leave: "${1}" + Masked},
		{expr: `(?i)(\blogin\s+\S+\s+password\s+)\S+`, leave: "${1}" + Masked},
		{expr: `(?i)(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)` + quoted, leave: "${1}" + Masked},
		{expr: `(?i)(\b(?:requirepass|masterauth)\s+)\S+`, leave: "${1}" + Masked},
		// Tokens with a known form.
		{expr: `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|\b(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|hv[bs]\.)[A-Za-z0-9_-]{16,}`, leave: Masked},
	}
	for i := range all {
		all[i].re = regexp.MustCompile(all[i].expr)
	}
	return all
})

// secretText finds a secret; leave replaces it.
type secretText struct {
	expr, leave string
	within      string // only in a text that contains this
	re          *regexp.Regexp
}

// hints: every text with something to mask contains one of them, and most texts contain none.
var hints = []string{"://", "pass", "pwd", "pw", "psk", "secret", "token", "key", "cred", "auth", "bearer", "basic",
	"cookie", "signature", "identified", "jwt", "eyj", "@", "-u", "--user", "-p", "sig=", "code=", "sid", "ghp_",
	"gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "hvs.", "hvb."}

// MaskText masks the passwords and tokens inside a text, in any notation: addresses, connection strings, headers,
// queries, command lines, pairs of name and value. Bundles, dumps, crash reports and the logs of daemons use it. In
// doubt it masks.
func MaskText(text string) string {
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
		return text
	}
	for _, s := range secretTexts() {
		if s.within == "" || strings.Contains(text, s.within) {
			text = s.re.ReplaceAllString(text, s.leave)
		}
	}
	return text
}
