package hashutil

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"os"
	"strings"

	"brine/modules"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// toBytes is salt.utils.stringutils.to_bytes.
func toBytes(v any) ([]byte, error) {
	switch x := v.(type) {
	case string:
		return []byte(x), nil
	case []byte:
		return x, nil
	}
	return nil, &modules.ArgumentError{Message: "expected str, bytes, or bytearray not <class '" + pytext.Type(v) +
		"'>"}
}

// fromBytes is a text where the bytes are one in UTF-8.
func fromBytes(data []byte) any {
	if pytext.UTF8Error(data) != "" {
		return data
	}
	return string(data)
}

func sum(form string, data []byte) (any, error) {
	h, err := plainfile.NewHash(form)
	if err != nil {
		return nil, err
	}
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// supported is an argument checksum; a hash is chosen before its text is looked at.
func supported(v any) (string, error) {
	switch v {
	case "md5", "sha256", "sha512":
		return v.(string), nil
	}
	return "", modules.ExecErr("Hash func '%s' is not supported.", pytext.Str(v))
}

// hashable refuses what no dict of Python has as a key.
func hashable(v any) error {
	switch v.(type) {
	case []any, *payload.Map:
		return &modules.ArgumentError{Message: "unhashable type: '" + pytext.Type(v) + "'"}
	}
	return nil
}

func digest(_ *modules.Call, a modules.Args) (any, error) {
	if err := hashable(a.Get("checksum")); err != nil {
		return nil, err
	}
	form, err := supported(a.Get("checksum"))
	if err != nil {
		return nil, err
	}
	data, err := toBytes(a.Get("instr"))
	if err != nil {
		return nil, err
	}
	return sum(form, data)
}

func digestFile(c *modules.Call, a modules.Args) (any, error) {
	there, err := c.Call("file.file_exists", []any{a.Get("infile")}, nil)
	if err != nil {
		return nil, err
	}
	name, ok := a.Get("infile").(string)
	if !ok || there != true {
		return nil, modules.ExecErr("File path '%s' not found.", pytext.Str(a.Get("infile")))
	}
	if err := hashable(a.Get("checksum")); err != nil {
		return nil, err
	}
	f, err := plainfile.Open(name)
	if err != nil {
		return nil, err
	}
	f.Close()
	form, err := supported(a.Get("checksum"))
	if err != nil {
		return nil, err
	}
	return plainfile.Hash(c.Ctx, name, form)
}

func hmacCompute(_ *modules.Call, a modules.Args) (any, error) {
	mac, err := macOf(sha256.New, a)
	if err != nil {
		return nil, err
	}
	return hex.EncodeToString(mac), nil
}

func hmacSignature(_ *modules.Call, a modules.Args) (any, error) {
	challenge, challengeErr := toBytes(a.Get("challenge_hmac"))
	mac, err := macOf(sha256.New, a)
	if err != nil {
		return nil, err
	}
	if challengeErr != nil {
		return nil, challengeErr
	}
	return hmac.Equal([]byte(oneLine(mac)), challenge), nil
}

// macOf signs the text with the secret.
func macOf(with func() hash.Hash, a modules.Args) ([]byte, error) {
	msg, err := toBytes(a.Get("string"))
	if err != nil {
		return nil, err
	}
	key, err := toBytes(a.Get("shared_secret"))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(with, key)
	mac.Write(msg)
	return mac.Sum(nil), nil
}

func githubSignature(_ *modules.Call, a modules.Args) (any, error) {
	text, ok := a.Get("challenge_hmac").(string)
	if !ok {
		return nil, modules.Raise("AttributeError", "'%s' object has no attribute 'split'",
			pytext.Type(a.Get("challenge_hmac")))
	}
	parts := strings.Split(text, "=")
	switch {
	case len(parts) == 1:
		return nil, modules.Raise("ValueError", "not enough values to unpack (expected 2, got 1)")
	case len(parts) > 2:
		return nil, modules.Raise("ValueError", "too many values to unpack (expected 2)")
	}
	if _, err := plainfile.NewHash(parts[0]); err != nil {
		return nil, modules.Raise("AttributeError", "module 'hashlib' has no attribute '%s'", parts[0])
	}
	switch key := a.Get("shared_secret").(type) {
	case string, []byte:
	default:
		return nil, &modules.ArgumentError{Message: "key: expected bytes or bytearray, but got '" + pytext.Type(key) +
			"'"}
	}
	mac, err := macOf(func() hash.Hash {
		h, _ := plainfile.NewHash(parts[0]) // it was made before
		return h
	}, a)
	if err != nil {
		return nil, &modules.ArgumentError{Message: "object supporting the buffer API required"}
	}
	return hmac.Equal([]byte(hex.EncodeToString(mac)), []byte(parts[1])), nil
}

func oneLine(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// inLines is base64 in lines of 76 characters.
func inLines(data []byte) string {
	const row = 57
	var b strings.Builder
	for len(data) > 0 {
		n := min(row, len(data))
		b.WriteString(oneLine(data[:n]) + "\n")
		data = data[n:]
	}
	return b.String()
}

func decoded(data []byte) (any, error) {
	raw, err := pytext.DecodeBase64(data)
	if err != nil {
		return nil, modules.Raise("binascii.Error", "%s", err)
	}
	return fromBytes(raw), nil
}

func encodeFile(_ *modules.Call, a modules.Args) (any, error) {
	name, ok := a.Get("fname").(string)
	if !ok {
		return nil, &modules.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			pytext.Type(a.Get("fname"))}
	}
	data, err := plainfile.Read(name, program.MaxOutput())
	if err != nil {
		return nil, err
	}
	return inLines(data), nil
}

// decodeFile writes a file. Unlike Salt, it writes none where the text is no base64.
func decodeFile(_ *modules.Call, a modules.Args) (any, error) {
	text, ok := a.Get("instr").(string)
	if v := a.Get("instr"); v != nil && !ok {
		return nil, &modules.ArgumentError{Message: "initial_value must be str or None, not " + pytext.Type(v)}
	}
	name, ok := a.Get("outfile").(string)
	if !ok {
		return nil, &modules.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			pytext.Type(a.Get("outfile"))}
	}
	var out []byte
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 }) {
			return nil, modules.Raise("ValueError", "string argument should contain only ASCII characters")
		}
		raw, err := pytext.DecodeBase64([]byte(line))
		if err != nil {
			return nil, modules.Raise("binascii.Error", "%s", err)
		}
		out = append(out, raw...)
	}
	if err := os.WriteFile(name, out, 0o666); err != nil {
		return nil, err
	}
	return true, nil
}
