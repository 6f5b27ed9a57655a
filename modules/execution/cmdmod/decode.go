package cmdmod

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/wire/python"
)

// decode makes text of output in the encoding the caller named, UTF-8 without. What is no text is replaced and
// logged.
func (cmd *command) decode(b []byte, name string) (string, error) {
	text, clean, err := decodeAs(b, cmd.opt.Encoding)
	if err != nil {
		return "", err
	}
	if !clean {
		word, _ := firstWord(cmd.shown)
		cmd.call.Log(slog.LevelError, fmt.Sprintf("Failed to decode %s from command %s, non-decodable characters "+
			"have been replaced", name, word))
	}
	return text, nil
}

func decodeAs(b []byte, encoding string) (text string, clean bool, err error) {
	switch strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(encoding)) {
	case "", "utf8", "u8", "cp65001":
		if utf8.Valid(b) {
			return string(b), true, nil
		}
		return python.DecodeUTF8(b), false, nil
	case "latin1", "iso88591", "l1", "88591", "cp819":
		return widen(b), true, nil
	case "ascii", "usascii", "646":
		text, clean = narrow(b)
		return text, clean, nil
	}
	return "", false, loader.Raise("LookupError", "unknown encoding: %s", encoding)
}

func widen(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		out.WriteRune(rune(c))
	}
	return out.String()
}

func narrow(b []byte) (string, bool) {
	var out strings.Builder
	clean := true
	for _, c := range b {
		if c < utf8.RuneSelf {
			out.WriteByte(c)
			continue
		}
		out.WriteRune(utf8.RuneError)
		clean = false
	}
	return out.String(), clean
}
