package core

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/wire/payload"
)

// localeInfo tells language, encoding and time zone as Python sees them: it sets the C locale to C.UTF-8 on its
// own, and takes that for American English.
func (h *machine) localeInfo() *payload.Map {
	language, encoding := pythonLocale(h.currentLocale())
	zone, _ := time.Now().Zone()
	return payload.M("locale_info", payload.M("defaultlanguage", language, "defaultencoding", encoding,
		"detectedencoding", "utf-8", "timezone", zone))
}

// currentLocale is the LC_CTYPE locale a Python process of this environment ends up with.
func (h *machine) currentLocale() string {
	name := firstOf(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"), "C")
	if !h.localeInstalled(name) {
		name = "C"
	}
	if (name == "C" || name == "POSIX") && os.Getenv("LC_ALL") == "" {
		return "C.UTF-8"
	}
	return name
}

func (h *machine) localeInstalled(name string) bool {
	lang, codeset, _ := strings.Cut(name, ".")
	normal := strings.ReplaceAll(strings.ToLower(codeset), "-", "")
	if lang == "C" || lang == "POSIX" {
		return true
	}
	for _, dir := range []string{name, lang + "." + normal} {
		if h.IsDir(filepath.Join("usr/lib/locale", dir)) {
			return true
		}
	}
	return bytes.Contains([]byte(h.Read("usr/lib/locale/locale-archive")), []byte(lang+"."+normal+"\x00"))
}

// pythonLocale is locale.getlocale(): language and encoding, nil for the plain C locale.
func pythonLocale(name string) (language, encoding any) {
	name, _, _ = strings.Cut(name, "@")
	lang, codeset, has := strings.Cut(name, ".")
	switch {
	case (lang == "C" || lang == "POSIX") && !has:
		return nil, nil
	case lang == "C":
		lang = "en_US"
	}
	switch normal := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(codeset)); {
	case normal == "utf8":
		return lang, "UTF-8"
	case !has:
		return lang, "ISO8859-1"
	case strings.HasPrefix(normal, "iso8859"):
		return lang, "ISO8859-" + strings.TrimPrefix(normal, "iso8859")
	}
	return lang, codeset
}
