package fileclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Fetch says how a URL other than salt:// is fetched.
type Fetch struct {
	SourceHash string // a file of the cache that has it is not fetched again
	Insecure   bool   // certificates are not checked (verify_ssl=False)
	ETag       bool   // a file of the cache is fetched again only if the server has another one
}

// connectTimeout bounds the way to a server, fetchTimeout a whole file (Salt's http_connect_timeout and
// http_request_timeout).
const (
	connectTimeout = 20 * time.Second
	fetchTimeout   = time.Hour
)

// CacheFile puts a file into the cache, and returns its path; false when the file server has none. A file of this
// machine stays where it is.
func (c *Client) CacheFile(ctx context.Context, url, env string, how Fetch) (any, error) {
	return c.GetURL(ctx, url, Want{Env: env, MakeDirs: true}, how)
}

// GetURL fetches any URL, and returns the path of the file; false when the file server has none, "" when its folder is
// not to be made.
func (c *Client) GetURL(ctx context.Context, text string, w Want, how Fetch) (any, error) {
	u := parseURL(text)
	switch {
	case u.scheme == "salt":
		path, found, err := c.GetFile(ctx, text, w)
		if !found {
			return false, err
		}
		return path, err
	case u.scheme == "file" || u.scheme == "":
		return localPath(u)
	case u.scheme != "http" && u.scheme != "https":
		return nil, loader.Raise("salt.exceptions.MinionError", "brine cannot fetch %s yet: only salt, http, https "+
			"and file", payload.Show(u.scheme+"://"))
	}
	dest := w.Dest
	if info, err := os.Stat(dest); dest != "" && (strings.HasSuffix(dest, "/") || err == nil && info.IsDir()) {
		dest = filepath.Join(dest, base(text))
	}
	if dest != "" {
		if ok, err := parent(dest, w.MakeDirs); !ok {
			return "", err
		}
		return dest, c.once(ctx, "url "+dest+" "+text, func(ctx context.Context) error {
			return c.download(ctx, text, dest, how, func() (*sink, error) { return atPlace(dest) })
		})
	}
	if dest = c.extern(text, w.Env); dest == invalidPath {
		return dest, nil
	}
	if sum := how.SourceHash[strings.LastIndexByte(how.SourceHash, '=')+1:]; sum != "" && c.has(dest, sum) {
		return dest, nil
	}
	rel, err := filepath.Rel(c.cached("extrn_files"), dest)
	if err != nil {
		return nil, err
	}
	return dest, c.once(ctx, "url "+dest+" "+text, func(ctx context.Context) error {
		return c.download(ctx, text, dest, how, func() (*sink, error) { return inCache(c.cached("extrn_files"), rel) })
	})
}

// has tells whether a file has a hash; its length says which kind.
func (c *Client) has(path, sum string) bool {
	for kind, newHash := range hashers {
		if 2*newHash().Size() == len(sum) {
			got, err := hashOf(path, kind)
			return err == nil && got == sum
		}
	}
	return false
}

// localPath is the file of a file:// URL, or of a path.
func localPath(u fileURL) (string, error) {
	path := strings.TrimRight(filepath.Join(u.netloc, u.path), "/")
	if u.netloc == "" {
		path = strings.TrimRight(u.path, "/")
	}
	if !filepath.IsAbs(path) {
		return "", loader.ExecErr("Path '%s' is not absolute", path)
	}
	return path, nil
}

// Content is what a URL holds: a text, or bytes where it is none; false when the file server has no such file. It goes
// through the cache only for salt://.
func (c *Client) Content(ctx context.Context, text, env string) (any, error) {
	switch u := parseURL(text); u.scheme {
	case "http", "https":
		resp, err := c.ask(ctx, text, Fetch{}, "")
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		return textOrBytes(data), err
	default:
		v, err := c.GetURL(ctx, text, Want{Env: env}, Fetch{})
		path, ok := v.(string)
		if err != nil || !ok {
			return v, err
		}
		data, err := os.ReadFile(path)
		return textOrBytes(data), err
	}
}

func textOrBytes(data []byte) any {
	if utf8.Valid(data) {
		return string(data)
	}
	return payload.Bytes(data)
}

// download brings what a URL holds to its place, and notes the ETag beside it where that is wanted.
func (c *Client) download(ctx context.Context, text, dest string, how Fetch, open func() (*sink, error)) error {
	tag := ""
	if how.ETag && isFile(dest) {
		if noted, err := os.ReadFile(dest + ".etag"); err == nil {
			tag = strings.TrimSpace(string(noted))
		}
	}
	resp, err := c.ask(ctx, text, how, tag)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		return nil
	}
	out, err := open()
	if err != nil {
		return err
	}
	n, err := io.Copy(out, resp.Body)
	if err == nil && resp.ContentLength >= 0 && n != resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err := out.finish(err); err != nil {
		return fmt.Errorf("fetch %s: %w", Redact(text), err)
	}
	if tag := resp.Header.Get("ETag"); how.ETag && tag != "" {
		return os.WriteFile(dest+".etag", []byte(tag), 0o600)
	}
	return nil
}

// ask asks a web server, and returns its good answer.
func (c *Client) ask(ctx context.Context, text string, how Fetch, tag string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	u, err := url.Parse(text)
	var req *http.Request
	if err == nil {
		req, err = http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	}
	if err != nil {
		cancel()
		return nil, badURL(err, u)
	}
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	web := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: how.Insecure}, DisableCompression: true,
		DisableKeepAlives: true, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: fetchTimeout}
	resp, err := (&http.Client{Transport: web}).Do(req)
	if err != nil {
		cancel()
		return nil, badURL(err, u)
	}
	if ok := resp.StatusCode == http.StatusOK || tag != "" && resp.StatusCode == http.StatusNotModified; !ok {
		defer cancel()
		err := fmt.Errorf("HTTP %d: %s", resp.StatusCode, http.StatusText(resp.StatusCode))
		return nil, errors.Join(badURL(err, u), resp.Body.Close())
	}
	resp.Body = &body{resp.Body, cancel}
	return resp, nil
}

// body is the content of an answer; when it is closed the time for it ends.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

// badURL is Salt's error of a URL that could not be read. No password is in it.
func badURL(err error, u *url.URL) error {
	path := ""
	if u != nil {
		path = u.Path
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		err = fmt.Errorf("[Errno %d] %s", int(no), capital(no.Error()))
	}
	return loader.Raise("salt.exceptions.MinionError", "Error: %s reading %s", err, path)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Redact takes user and password out of a URL, for logs and errors.
func Redact(text string) string {
	u := parseURL(text)
	at := strings.LastIndexByte(u.netloc, '@')
	if at < 0 || u.scheme != "http" && u.scheme != "https" {
		return text
	}
	return strings.Replace(text, u.netloc[:at], "<redacted>", 1)
}
