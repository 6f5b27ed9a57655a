package gitfs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
)

var (
	scpLike   = regexp.MustCompile(`^([^@:/]+)@([^:/]+):(.+)$`)
	protoPart = regexp.MustCompile(`^[^:/]+://`)
	userPart  = regexp.MustCompile(`//[^/\s]*@`)
	plainPath = regexp.MustCompile(`^(?:[A-Za-z0-9\-._~!$&'();=:@,/]|%[0-9A-Fa-f]{2})*$`)
)

// urlSigns are those of Salt's URLValidator, and the one that stands for others.
const urlSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%"

// schemes are those that there are; Salt's ftp and sftp no version of git's libraries has.
var schemes = []string{"http", "https", "ssh", "file"}

// stripProto takes salt:// and the like from a mountpoint.
func stripProto(s string) string { return protoPart.ReplaceAllString(s, "") }

// redactURL is a URL for a log: without user and password.
func redactURL(s string) string { return userPart.ReplaceAllString(s, "//***@") }

// redact takes what is secret out of the text of an error.
func (r *remote) redact(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	secrets := []string{r.auth.password, r.auth.passphrase}
	if u, bad := url.Parse(r.url); bad == nil && u.User != nil {
		if p, ok := u.User.Password(); ok {
			secrets = append(secrets, p, url.QueryEscape(p), url.PathEscape(p))
		}
		secrets = append(secrets, u.User.String())
	}
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return errors.New(redactURL(text))
}

// validURL refuses what is no URL of a repository. No transport helper (ext::), no option in the place of a host, and
// no other program is ever reached by one.
func validURL(s string) error {
	e, err := endpoint(s)
	if err != nil {
		return err
	}
	if strings.HasPrefix(e.Host, "-") || strings.HasPrefix(e.User, "-") || strings.ContainsAny(e.Path, "\x00\n\r") {
		return errors.New("bad url data")
	}
	if e.Protocol != "file" && e.Host == "" || e.Path == "" {
		return errors.New("bad url data: host or path is missing")
	}
	return nil
}

// endpoint takes a URL apart.
func endpoint(s string) (*transport.Endpoint, error) {
	if m := scpLike.FindStringSubmatch(s); m != nil && !strings.Contains(s, "://") && plainPath.MatchString(m[3]) {
		return &transport.Endpoint{Protocol: "ssh", User: m[1], Host: m[2], Path: m[3]}, nil
	}
	if strings.Trim(s, urlSigns) != "" {
		return nil, errors.New("bad url data: there are signs that no URL has")
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("bad url data")
	}
	known := false
	for _, scheme := range schemes {
		known = known || strings.EqualFold(u.Scheme, scheme)
	}
	if !known || u.Opaque != "" {
		return nil, fmt.Errorf("bad url data: the scheme must be one of %s", strings.Join(schemes, ", "))
	}
	if !plainPath.MatchString(u.EscapedPath()) {
		return nil, errors.New("bad url data: the path has signs that no path of a URL has")
	}
	if u.Scheme == "file" {
		return &transport.Endpoint{Protocol: "file", Path: u.Path}, nil
	}
	return transport.NewEndpoint(s)
}

// check refuses credentials that cannot be used, or would cross the net in the open.
func (a *auth) check(raw, role string) error {
	e, err := endpoint(raw)
	if err != nil {
		return err
	}
	var missing []string
	switch {
	case a.user == "" && a.password == "" && a.privkey == "" && a.pubkey == "" && a.passphrase == "":
		return nil
	case e.Protocol == "ssh":
		if a.privkey == "" {
			missing = append(missing, "privkey")
		}
		for _, path := range []string{a.privkey, a.pubkey} {
			if _, err := os.Stat(path); path != "" && err != nil {
				return fmt.Errorf("SSH key (%s) could not be found, path may be incorrect", path)
			}
		}
	case e.Protocol != "file":
		if a.user == "" {
			missing = append(missing, "user")
		}
		if a.password == "" {
			missing = append(missing, "password")
		}
		if missing == nil && e.Protocol == "http" && !a.insecure {
			// Salt's words
			return fmt.Errorf("Authentication is disabled by default on http remotes. Either set %s_insecure_auth "+
				"to True, set a per-remote "+
				"option named 'insecure_auth' to True, or use https or ssh-based authentication", role)
		}
	}
	if missing != nil {
		return fmt.Errorf("incomplete authentication information: missing parameters: %s", strings.Join(missing, ", "))
	}
	return nil
}

// key is the name of the folder of a remote: what is given as name, or its id, as a hash.
func (r *remote) key() string {
	what := "id\x00" + r.id
	if r.name != "" {
		what = "name\x00" + r.name
	}
	sum := sha256.Sum256([]byte(r.role + "\x00" + what))
	return hex.EncodeToString(sum[:16])
}
