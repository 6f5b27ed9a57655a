package hashutil

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"os"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// toBytes is salt.utils.stringutils.to_bytes.
func toBytes(v any) ([]byte, error) {
	switch x := v.(type) {
	case string:
		return []byte(x), nil
	case []byte:
		return x, nil
	}
	return nil, &loader.ArgumentError{Message: "expected str, bytes, or bytearray not <class '" + python.Type(v) +
		"'>"}
}

// fromBytes is a text where the bytes are one in UTF-8.
func fromBytes(data []byte) any {
	if python.UTF8Error(data) != "" {
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
	return "", loader.ExecErr("Hash func '%s' is not supported.", python.Str(v))
}

// hashable refuses what no dict of Python has as a key.
func hashable(v any) error {
	switch v.(type) {
	case []any, *payload.Map:
		return &loader.ArgumentError{Message: "unhashable type: '" + python.Type(v) + "'"}
	}
	return nil
}

// summed are the arguments of a sum.
type (
	summedText struct {
		Text     any `arg:"instr"`
		Checksum any `arg:"checksum=md5"`
	}
	summedFile struct {
		File     any `arg:"infile"`
		Checksum any `arg:"checksum=md5"`
	}
)

func digest(_ *loader.Call, a summedText) (any, error) {
	if err := hashable(a.Checksum); err != nil {
		return nil, err
	}
	form, err := supported(a.Checksum)
	if err != nil {
		return nil, err
	}
	data, err := toBytes(a.Text)
	if err != nil {
		return nil, err
	}
	return sum(form, data)
}

func digestFile(c *loader.Call, a summedFile) (any, error) {
	there, err := c.Call("file.file_exists", []any{a.File}, nil)
	if err != nil {
		return nil, err
	}
	name, ok := a.File.(string)
	if !ok || there != true {
		return nil, loader.ExecErr("File path '%s' not found.", python.Str(a.File))
	}
	if err := hashable(a.Checksum); err != nil {
		return nil, err
	}
	f, err := plainfile.Open(name)
	if err != nil {
		return nil, err
	}
	f.Close()
	form, err := supported(a.Checksum)
	if err != nil {
		return nil, err
	}
	return plainfile.Hash(c.Ctx, name, form)
}

type (
	signedText struct {
		Text   any `arg:"string"`
		Secret any `arg:"shared_secret"`
	}
	challenge struct {
		signedText
		HMAC any `arg:"challenge_hmac"`
	}
)

func hmacCompute(_ *loader.Call, a signedText) (any, error) {
	mac, err := macOf(sha256.New, a)
	if err != nil {
		return nil, err
	}
	return hex.EncodeToString(mac), nil
}

func hmacSignature(_ *loader.Call, a challenge) (any, error) {
	want, wantErr := toBytes(a.HMAC)
	mac, err := macOf(sha256.New, a.signedText)
	if err != nil {
		return nil, err
	}
	if wantErr != nil {
		return nil, wantErr
	}
	return hmac.Equal([]byte(oneLine(mac)), want), nil
}

// macOf signs the text with the secret.
func macOf(with func() hash.Hash, a signedText) ([]byte, error) {
	msg, err := toBytes(a.Text)
	if err != nil {
		return nil, err
	}
	key, err := toBytes(a.Secret)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(with, key)
	mac.Write(msg)
	return mac.Sum(nil), nil
}

func githubSignature(_ *loader.Call, a challenge) (any, error) {
	text, ok := a.HMAC.(string)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'split'",
			python.Type(a.HMAC))
	}
	parts := strings.Split(text, "=")
	switch {
	case len(parts) == 1:
		return nil, loader.Raise("ValueError", "not enough values to unpack (expected 2, got 1)")
	case len(parts) > 2:
		return nil, loader.Raise("ValueError", "too many values to unpack (expected 2)")
	}
	if _, err := plainfile.NewHash(parts[0]); err != nil {
		return nil, loader.Raise("AttributeError", "module 'hashlib' has no attribute '%s'", parts[0])
	}
	switch key := a.Secret.(type) {
	case string, []byte:
	default:
		return nil, &loader.ArgumentError{Message: "key: expected bytes or bytearray, but got '" + python.Type(key) +
			"'"}
	}
	mac, err := macOf(func() hash.Hash {
		h, _ := plainfile.NewHash(parts[0]) // it was made before
		return h
	}, a.signedText)
	if err != nil {
		return nil, &loader.ArgumentError{Message: "object supporting the buffer API required"}
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
	raw, err := python.DecodeBase64(data)
	if err != nil {
		return nil, loader.Raise("binascii.Error", "%s", err)
	}
	return fromBytes(raw), nil
}

type encodedFile struct {
	File any `arg:"fname"`
}

func encodeFile(_ *loader.Call, a encodedFile) (any, error) {
	name, ok := a.File.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			python.Type(a.File)}
	}
	data, err := plainfile.Read(name, program.MaxOutput())
	if err != nil {
		return nil, err
	}
	return inLines(data), nil
}

// decodeFile writes a file. Unlike Salt, it writes none where the text is no base64.
type decodedFile struct {
	Text any `arg:"instr"`
	File any `arg:"outfile"`
}

func decodeFile(_ *loader.Call, a decodedFile) (any, error) {
	text, ok := a.Text.(string)
	if v := a.Text; v != nil && !ok {
		return nil, &loader.ArgumentError{Message: "initial_value must be str or None, not " + python.Type(v)}
	}
	name, ok := a.File.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " +
			python.Type(a.File)}
	}
	var out []byte
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 }) {
			return nil, loader.Raise("ValueError", "string argument should contain only ASCII characters")
		}
		raw, err := python.DecodeBase64([]byte(line))
		if err != nil {
			return nil, loader.Raise("binascii.Error", "%s", err)
		}
		out = append(out, raw...)
	}
	if err := os.WriteFile(name, out, 0o666); err != nil {
		return nil, err
	}
	return true, nil
}
