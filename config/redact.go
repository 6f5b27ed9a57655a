package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"brine/wire/payload"
)

// Masked replaces a secret.
const Masked = "(masked)"

// Redacted is a copy of options that may be shown to others. It masks the value of every key that sounds like a secret,
// at any depth, and passwords inside texts. In doubt it masks: it also masks the path of a key file. Values without
// content (null, an empty text, true, false) stay.
func Redacted(opts *payload.Map) *payload.Map {
	out := payload.NewMap(opts.Len())
	for k, v := range opts.All() {
		if name, ok := k.(string); ok && secretKey(name) {
			out.Set(k, masked(v))
		} else {
			out.Set(k, redactedValue(v))
		}
	}
	return out
}

// Masker returns a function that masks all secret values of the options in any text, and everything that MaskText
// masks. It is for texts of others, such as the driver of a database. Values of up to three characters stay, because
// other words may contain them.
func Masker(opts *payload.Map) func(text string) string {
	found := map[string]bool{}
	collectSecrets(opts, Redacted(opts), found)
	secrets := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return func(text string) string {
		for _, s := range secrets {
			text = strings.ReplaceAll(text, s, Masked)
		}
		return MaskText(text)
	}
}

// collectSecrets records the texts of v that are masked in shown, the redacted form of v.
func collectSecrets(v, shown any, found map[string]bool) {
	hidden := shown == Masked
	at := func(other any) any {
		if hidden {
			return Masked
		}
		return other
	}
	switch x := v.(type) {
	case *payload.Map:
		other, _ := shown.(*payload.Map)
		for k, e := range x.All() {
			collectSecrets(e, at(other.Value(k)), found)
		}
	case []any:
		other, _ := shown.([]any)
		for i, e := range x {
			if i < len(other) || hidden {
				collectSecrets(e, at(elementOf(other, i)), found)
			}
		}
	case string:
		if hidden && len(x) > 3 {
			found[x] = true
		}
	}
}

// SecretOptions are the sorted names of the options in whose values Redacted masks something.
func SecretOptions(opts *payload.Map) (names []string) {
	for k, v := range Redacted(opts).All() {
		if name, ok := k.(string); ok && hides(v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func hides(v any) bool {
	switch x := v.(type) {
	case *payload.Map:
		for _, e := range x.All() {
			if hides(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(x, hides)
	case string:
		return strings.Contains(x, Masked)
	}
	return false
}

func elementOf(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func redactedValue(v any) any {
	switch x := v.(type) {
	case *payload.Map:
		return Redacted(x)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = redactedValue(e)
		}
		return out
	case []string:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = MaskText(e)
		}
		return out
	case string:
		return MaskText(x)
	case []byte:
		return MaskText(string(x))
	}
	return v
}

// masked is the visible form of a secret value.
func masked(v any) any {
	switch x := v.(type) {
	case nil, bool:
		return v
	case string:
		if x == "" {
			return x
		}
	case []any:
		if len(x) == 0 {
			return x
		}
	case *payload.Map:
		if x.Len() == 0 {
			return x
		}
	}
	return Masked
}

// plainKeys are options whose names sound like secrets but that contain none.
var plainKeys = []string{
	"eauth_tokens", "eauth_tokens.cache_driver", "eauth_tokens.cluster_id", "external_auth", "key_cache", "key_logfile",
	"keys.cache_driver", "master_sign_key_name", "pass_dir", "pass_gnupghome", "pass_to_ext_pillars",
	"pass_variable_prefix", "resource_pillar_key", "token_dir", "token_expire",
}

// secretWords are words in the names of secrets. Names are split into words at capitals, and at characters other than
// letters.
var secretWords = []string{
	"apikey", "authorization", "bearer", "cookie", "cred", "credential", "credentials", "creds", "jwt", "key", "keys",
	"otp", "pass", "pin", "private", "psk", "pw", "pwd", "webhook",
}

func secretKey(name string) bool {
	if slices.Contains(plainKeys, name) {
		return false
	}
	lower := strings.ToLower(name)
	if lower == "pillar" { // names inside a pillar do not show what is secret
		return true
	}
	for _, part := range []string{"passw", "passphrase", "secret", "token", "credential"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	words := wordsOf(name)
	if len(words) == 0 || slices.Contains(words, "pubkey") || slices.Contains(words, "pub") ||
		slices.Contains(words, "public") {
		return false
	}
	for _, w := range words {
		if slices.Contains(secretWords, w) || strings.HasSuffix(w, "key") || strings.HasSuffix(w, "pass") ||
			strings.HasSuffix(w, "pw") {
			return true
		}
	}
	return words[len(words)-1] == "auth"
}

// wordsOf splits a name into words, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
