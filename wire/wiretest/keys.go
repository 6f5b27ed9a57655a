package wiretest

import "brine/wire/payload"

// KeyPair is an RSA test key in PEM.
type KeyPair struct{ Private, Public string }

// Keys returns the RSA keys by name: "master", "minion" (of id "m1"), "other", "sign".
func (f *File) Keys() map[string]KeyPair {
	f.t.Helper()
	keys := f.Doc.Map("keys")
	if keys.Len() == 0 {
		if f.rsa == nil {
			f.rsa = Load(f.t, "rsa").Doc.Map("keys")
		}
		keys = f.rsa
	}
	out := make(map[string]KeyPair)
	for name, v := range keys.All() {
		if m, ok := v.(*payload.Map); ok {
			out[name.(string)] = KeyPair{Private: m.Str("private_pem"), Public: m.Str("public_pem")}
		}
	}
	return out
}

// SharedKeys returns the key strings that all minions of a release shared, in the order of use.
func (f *File) SharedKeys(release string) []string {
	return keyStrings(f.Doc, "aes_session_keys", release)
}

// SessionKeys returns the key strings of single minions (protocol version 3).
func (f *File) SessionKeys(release string) []string {
	return keyStrings(f.Doc, "session_keys", release)
}

// keyStrings reads one list for all releases, or one list for each.
func keyStrings(doc *payload.Map, field, release string) []string {
	list, ok := doc.Value(field).([]any)
	if !ok {
		list = doc.Map(field).List(release)
	}
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Token is the constant minion token of protocol version 3 files; nil in other files.
func (f *File) Token() []byte {
	f.t.Helper()
	return Hex(f.t, f.Doc, "tok_hex")
}

// keyOf returns the key string that a request, reply or publication names by kind and index; "" if it names none, for
// example because it was deliberately made with a wrong key.
func (f *File) keyOf(m *payload.Map, release string) string {
	keys := f.SharedKeys(release)
	i, ok := m.Int("aes_key_index")
	if !ok {
		if m.Str("key") == "session" {
			keys = f.SessionKeys(release)
		}
		i, ok = m.Int("key_index")
	}
	if !ok || int(i) >= len(keys) {
		return ""
	}
	return keys[i]
}
