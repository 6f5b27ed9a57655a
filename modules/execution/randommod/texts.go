package randommod

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"math/big"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/modules/text/unixcrypt"
)

// The characters of Python's module string.
const (
	lowercase   = "abcdefghijklmnopqrstuvwxyz"
	uppercase   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits      = "0123456789"
	punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	whitespace  = " \t\n\r\v\f"
)

// maxText is the longest text that is made. Unlike Salt, which goes on for hours.
const maxText = 16 << 20

func getStr(c *loader.Call, a loader.Args) (any, error) {
	chars, ok := a.Get("chars").(string)
	if v := a.Get("chars"); !ok && loader.Truthy(v) {
		return nil, cannot(c, "expected string or bytes-like object, got '"+pytext.Type(v)+"'")
	}
	if a.Bool("printable") {
		chars = digits + lowercase + uppercase + punctuation + whitespace
	}
	if chars == "" {
		for _, class := range []struct{ name, chars string }{{"lowercase", lowercase}, {"uppercase", uppercase}, {"digits", digits},
			{"punctuation", punctuation}, {"whitespace", whitespace}} {
			if a.Bool(class.name) {
				chars += class.chars
			}
		}
	}
	length, err := a.Int("length")
	if err != nil {
		return nil, cannot(c, loader.Message(err))
	}
	text, why := password(int(min(length, maxText+1)), chars)
	if why != "" {
		return nil, cannot(c, why)
	}
	return text, nil
}

// cannot is the error of secure_password, which logs each.
func cannot(c *loader.Call, why string) error {
	c.Log(slog.LevelError, "Failed to generate secure passsword")
	return loader.ExecErr("%s", why)
}

// password makes a text of characters of ASCII, each as likely as the others. Unlike Salt, which would seek for one of
// ASCII without end where there is none.
func password(length int, chars string) (text, why string) {
	var from []byte
	for i := range len(chars) {
		if chars[i] < 0x80 && !strings.ContainsRune(string(from), rune(chars[i])) {
			from = append(from, chars[i])
		}
	}
	switch {
	case length <= 0:
		return "", ""
	case chars == "":
		return "", "unterminated character set at position 0"
	case len(from) == 0:
		return "", "none of the characters is one of ASCII"
	case length > maxText:
		return "", "the text would be too long"
	}
	out := make([]byte, length)
	for i := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(from))))
		if err != nil {
			return "", err.Error()
		}
		out[i] = from[n.Int64()]
	}
	return string(out), ""
}

func runHash(_ *loader.Call, a loader.Args) (any, error) {
	name, ok := a.Get("algorithm").(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "attribute name must be string, not '" + pytext.Type(a.Get("algorithm")) + "'"}
	}
	if name == "shake_128" || name == "shake_256" {
		return nil, &loader.ArgumentError{Message: "hexdigest() missing required argument 'length' (pos 1)"}
	}
	h, err := plainfile.NewHash(name)
	if err != nil {
		return nil, loader.Raise("salt.exceptions.SaltException", "You must specify a valid algorithm.")
	}
	switch x := a.Get("value").(type) {
	case string:
		h.Write([]byte(x))
	case []byte:
		h.Write(x)
	default:
		return nil, &loader.ArgumentError{Message: "object supporting the buffer API required"}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// strEncode knows base64 alone: of a text the reference makes bytes first, and bytes have no other encoder.
func strEncode(_ *loader.Call, a loader.Args) (any, error) {
	var data []byte
	switch x := a.Get("value").(type) {
	case string:
		data = []byte(x)
	case []byte:
		data = x
	}
	if data == nil || a.Get("encoder") != "base64" {
		return nil, loader.InvocErr("Value must be an encode-able string")
	}
	return base64.StdEncoding.EncodeToString(data), nil
}

// methods are the hashes of passwords by their names. Unlike Salt: DES ("crypt") is not among them.
var methods = []struct {
	name, ident, cost string
	salt              int // characters
}{{"sha512", "6", "", 16}, {"sha256", "5", "", 16}, {"blowfish", "2b", "12$", 22}, {"md5", "1", "", 8}}

func shadowHash(c *loader.Call, a loader.Args) (any, error) {
	secret, ok := a.Get("password").(string)
	if v := a.Get("password"); v != nil && !ok {
		return nil, &loader.ArgumentError{Message: "crypt() argument 1 must be str, not " + pytext.Type(v)}
	} else if v == nil {
		secret, _ = password(20, lowercase+uppercase+digits+punctuation)
	}
	algorithm := a.Get("algorithm")
	if algorithm == nil {
		algorithm = methods[0].name
	}
	var known []any
	for _, m := range methods {
		known = append(known, m.name)
		if algorithm != m.name {
			continue
		}
		salt := a.Get("crypt_salt")
		if salt == nil {
			random, _ := password(m.salt, unixcrypt.Digits)
			salt = m.cost + random
		}
		if strings.ContainsRune(secret+pytext.Str(salt), 0) {
			return nil, loader.Raise("ValueError", "embedded null character")
		}
		hash, err := unixcrypt.Crypt(secret, "$"+m.ident+"$"+pytext.Str(salt))
		if err != nil {
			return nil, loader.ExecErr("%s", err)
		}
		return hash, nil
	}
	return nil, loader.InvocErr("Cannot hash using '%s' hash algorithm. Natively supported algorithms are: %s. If passlib is installed (False), the "+
		"supported algorithms are: ['sha512', 'sha256', 'blowfish', 'md5', 'crypt'].", pytext.Str(algorithm), pytext.Repr(known))
}
