package fileclient

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const scheme = "salt://"

// maxName is how long a name of a URL may be before its hash takes its place in the cache.
const maxName = 255

// Parse takes a salt:// URL apart: the path, and the environment if it says one. Anything else is a path as it is.
// Answers to salt/utils/url.py.
func Parse(url string) (path, env string) {
	rest, ok := strings.CutPrefix(url, scheme)
	if !ok {
		return url, ""
	}
	path, env = rest, ""
	if before, _, ok := strings.Cut(rest, "?env="); ok {
		path = before
	} else if before, after, ok := strings.Cut(rest, "?saltenv="); ok {
		path, env = before, after
	}
	return strings.TrimLeft(path, "/"), env
}

// SplitEnv takes the environment out of a salt:// URL.
func SplitEnv(url string) (rest, env string) {
	if !strings.HasPrefix(url, scheme) {
		return url, ""
	}
	path, env := Parse(url)
	return scheme + path, env
}

// serverPath is the path of a salt:// URL; ok is false for anything else.
func serverPath(url string) (string, bool) {
	if !strings.HasPrefix(url, scheme) {
		return "", false
	}
	path, _ := Parse(url)
	return path, true
}

// IsEscaped tells whether a URL begins its path with "|": then a question mark in it is its own.
func IsEscaped(url string) bool {
	path, _ := Parse(url)
	return strings.HasPrefix(path, "|")
}

// fileURL is what Python's urlparse makes of a URL, as far as it counts here.
type fileURL struct{ scheme, netloc, path, query string }

func parseURL(text string) fileURL {
	var u fileURL
	rest := text
	if at := strings.IndexByte(text, ':'); at > 0 && isScheme(text[:at]) {
		u.scheme, rest = strings.ToLower(text[:at]), text[at+1:]
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(after, "/?#")
		if end < 0 {
			end = len(after)
		}
		u.netloc, rest = after[:end], after[end:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	u.path, u.query, _ = strings.Cut(rest, "?")
	return u
}

func isScheme(s string) bool {
	for i, r := range s {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+.-", r)) {
			return false
		}
	}
	return s != ""
}

// extern is where a URL other than salt:// is kept in the cache. A path that leads out of its folder is no path, and
// the text says so, as with Salt.
func (c *Client) extern(text, env string) string {
	u := parseURL(text)
	host := u.netloc[strings.LastIndexByte(u.netloc, '@')+1:]
	if parsed, err := url.Parse("//" + host); err == nil && parsed.Port() != "" && parsed.Port() != "0" {
		host = strings.ReplaceAll(host, ":", "")
	}
	name := u.path
	if u.query != "" {
		name += "-" + u.query
	}
	root := c.cached("extrn_files", env, host)
	if rel, err := filepath.Rel(root, filepath.Join(root, name)); err != nil || !filepath.IsLocal(rel) ||
		!filepath.IsLocal(filepath.Join(env, host, "x")) || strings.Contains(name, "\x00") {
		return invalidPath
	}
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return filepath.Join(root, name)
}

// invalidPath is Salt's text in place of a path.
const invalidPath = "Invalid path"

// base is the last part of a URL, by which a file is named in a folder.
func base(url string) string {
	u := parseURL(url)
	if u.query != "" || len(u.path) > 1 && !strings.HasSuffix(u.path, "/") {
		return url[strings.LastIndexByte(url, '/')+1:]
	}
	return "index.html"
}

// slot is where a file of an environment is kept below files/; ok is false where that is not inside.
func slot(env, name string) (rel string, ok bool) {
	name = strings.TrimLeft(name, "|/")
	rel = path.Join(env, name)
	ok = filepath.IsLocal(env) && filepath.IsLocal(name) && path.Clean(name) != "." && path.Clean(env) != "." &&
		!strings.Contains(rel, "\x00")
	return rel, ok
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
