package mod_random

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"math/big"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/text/unixcrypt"
	"brine/wire/python"
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

// drawn is a text to draw, and of which characters.
type drawn struct {
	Length      any  `arg:"length=20"`
	Chars       any  `arg:"chars=None"`
	Lowercase   bool `arg:"lowercase=True"`
	Uppercase   bool `arg:"uppercase=True"`
	Digits      bool `arg:"digits=True"`
	Punctuation bool `arg:"punctuation=True"`
	Whitespace  bool `arg:"whitespace=False"`
	Printable   bool `arg:"printable=False"`
}

func getStr(c *loader.Call, a drawn) (any, error) {
	chars, ok := a.Chars.(string)
	if v := a.Chars; !ok && python.Truth(v) {
		return nil, cannot(c, "expected string or bytes-like object, got '"+python.Type(v)+"'")
	}
	if a.Printable {
		chars = digits + lowercase + uppercase + punctuation + whitespace
	}
	if chars == "" {
		for _, class := range []struct {
			wanted bool
			chars  string
		}{{a.Lowercase, lowercase}, {a.Uppercase, uppercase}, {a.Digits, digits}, {a.Punctuation, punctuation},
			{a.Whitespace, whitespace}} {
			if class.wanted {
				chars += class.chars
			}
		}
	}
	length, err := loader.ToInt(a.Length)
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

// hashed is a text and the name of a hash.
type hashed struct {
	Value     any `arg:"value"`
	Algorithm any `arg:"algorithm=sha512"`
}

func runHash(_ *loader.Call, a hashed) (any, error) {
	name, ok := a.Algorithm.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "attribute name must be string, not '" +
			python.Type(a.Algorithm) + "'"}
	}
	if name == "shake_128" || name == "shake_256" {
		return nil, &loader.ArgumentError{Message: "hexdigest() missing required argument 'length' (pos 1)"}
	}
	h, err := plainfile.NewHash(name)
	if err != nil {
		return nil, loader.Raise("salt.exceptions.SaltException", "You must specify a valid algorithm.")
	}
	switch x := a.Value.(type) {
	case string:
		h.Write([]byte(x))
	case []byte:
		h.Write(x)
	default:
		return nil, &loader.ArgumentError{Message: "object supporting the buffer API required"}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// encoded is a text and the name of an encoder.
type encoded struct {
	Value   any `arg:"value"`
	Encoder any `arg:"encoder=base64"`
}

// strEncode knows base64 alone: of a text the reference makes bytes first, and bytes have no other encoder.
func strEncode(_ *loader.Call, a encoded) (any, error) {
	var data []byte
	switch x := a.Value.(type) {
	case string:
		data = []byte(x)
	case []byte:
		data = x
	}
	if data == nil || a.Encoder != "base64" {
		return nil, loader.InvocErr("Value must be an encode-able string")
	}
	return base64.StdEncoding.EncodeToString(data), nil
}

// methods are the hashes of passwords by their names. Unlike Salt: DES ("crypt") is not among them.
var methods = []struct {
	name, ident, cost string
	salt              int // characters
}{{"sha512", "6", "", 16}, {"sha256", "5", "", 16}, {"blowfish", "2b", "12$", 22}, {"md5", "1", "", 8}}

// shadowed is a password and how it is hashed.
type shadowed struct {
	Salt      any `arg:"crypt_salt=None"`
	Password  any `arg:"password=None"`
	Algorithm any `arg:"algorithm=sha512"`
}

func shadowHash(c *loader.Call, a shadowed) (any, error) {
	secret, ok := a.Password.(string)
	if v := a.Password; v != nil && !ok {
		return nil, &loader.ArgumentError{Message: "crypt() argument 1 must be str, not " + python.Type(v)}
	} else if v == nil {
		secret, _ = password(20, lowercase+uppercase+digits+punctuation)
	}
	algorithm := a.Algorithm
	if algorithm == nil {
		algorithm = methods[0].name
	}
	var known []any
	for _, m := range methods {
		known = append(known, m.name)
		if algorithm != m.name {
			continue
		}
		salt := a.Salt
		if salt == nil {
			random, _ := password(m.salt, unixcrypt.Digits)
			salt = m.cost + random
		}
		if strings.ContainsRune(secret+python.Str(salt), 0) {
			return nil, loader.Raise("ValueError", "embedded null character")
		}
		hash, err := unixcrypt.Crypt(secret, "$"+m.ident+"$"+python.Str(salt))
		if err != nil {
			return nil, loader.ExecErr("%s", err)
		}
		return hash, nil
	}
	return nil, loader.InvocErr("Cannot hash using '%s' hash algorithm. Natively supported algorithms are: %s. "+
		"If passlib is installed (False), the supported algorithms are: ['sha512', 'sha256', 'blowfish', 'md5', "+
		"'crypt'].",
		python.Str(algorithm), python.Repr(known))
}
