package fileclient

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"brine/wire/disk/wholefile"
)

// IsCached is the path of a file in one of the caches, "" when it is in none.
func (c *Client) IsCached(url, env string) string {
	path, in := url, ""
	if strings.HasPrefix(url, scheme) {
		if path, in = Parse(url); in != "" {
			env = in
		}
	}
	name := strings.TrimLeft(path, "|/")
	if !filepath.IsLocal(env) || strings.Contains(name, "\x00") {
		return ""
	}
	mark := ""
	if IsEscaped(path) {
		mark = "|"
	}
	for _, dir := range []string{c.cached("files", env), c.cached("localfiles")} {
		if !filepath.IsLocal(name) {
			break
		}
		if at := filepath.Join(dir, name); there(at) {
			return mark + at
		}
	}
	if at := c.extern(path, env); there(at) {
		return at
	}
	return ""
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// CacheDest is where a URL would be in the cache.
func (c *Client) CacheDest(url, env string) (string, error) {
	u := parseURL(url)
	switch u.scheme {
	case "":
		return url, nil
	case "salt":
		path, in := Parse(url)
		if in != "" {
			env = in
		}
		rel, ok := slot(env, path)
		if !ok {
			return "", leads(url + " of " + env)
		}
		return c.cached("files", rel), nil
	}
	return c.extern(url, env), nil
}

// CacheLocal copies a file of this machine into the cache of such files, and returns the path.
func (c *Client) CacheLocal(path string) (string, error) {
	rel := strings.TrimLeft(filepath.Clean(path), "/")
	if !filepath.IsLocal(rel) {
		return "", leads(path)
	}
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := inCache(c.cached("localfiles"), rel)
	if err != nil {
		return "", fmt.Errorf("cache %s: %w", path, err)
	}
	_, err = io.Copy(out, in)
	if err := out.finish(err); err != nil {
		return "", errors.Join(fmt.Errorf("cache %s", path), err)
	}
	return c.cached("localfiles", rel), nil
}

// External is where a URL other than salt:// is kept in the cache; a salt:// URL by its path, as Salt does with
// templates.
func (c *Client) External(url, env string) (string, error) {
	at := c.extern(url, env)
	if at == invalidPath {
		return "", leads(url + " of " + env)
	}
	return at, nil
}

// WriteFile writes a whole file that only its owner reads, as Salt's templates are; ok is false when its folder is not
// there, and is not to be made.
func (c *Client) WriteFile(path string, data []byte, dirs bool) (ok bool, err error) {
	if ok, err := parent(path, dirs); !ok {
		return false, err
	}
	return true, wholefile.Write(path, data, wholefile.Options{})
}
