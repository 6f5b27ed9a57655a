package git

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Login is a user and a password of one host, for HTTPS.
type Login struct {
	host       string // as git names it: "example.com:8443"
	user, pass any    // nil: not given
}

// LoginOf takes what is given beside a URL. The URL comes back without a user and a password that it has itself; they
// are taken where none are given. A URL that is no HTTPS takes none.
func LoginOf(address string, user, pass any) (plain string, login *Login, err error) {
	u, perr := url.Parse(address)
	given := user != nil || pass != nil
	switch {
	case given && (perr != nil || !strings.EqualFold(u.Scheme, "https")):
		return "", nil, loader.Raise("ValueError", "Basic Auth only supported for HTTPS")
	case perr != nil || !strings.EqualFold(u.Scheme, "https") && !strings.EqualFold(u.Scheme, "http"):
		return address, nil, nil
	}
	if own := u.User; own != nil && !given {
		secret, has := own.Password()
		if !has {
			return address, nil, nil // a name alone is no secret
		}
		user, pass, given = own.Username(), secret, true
	}
	if !given {
		return address, nil, nil
	}
	u.User = nil
	return u.String(), &Login{host: u.Host, user: user, pass: pass}, nil
}

// askpass answers git's questions for a user and a password, for one host alone: a redirection to another gets nothing.
const askpass = `#!/bin/sh
case "$1" in
*"://$BRINE_GIT_HOST'"*|*"@$BRINE_GIT_HOST'"*) ;;
*) exit 1 ;;
esac
case "$1" in
Username*) test -n "$BRINE_GIT_USER" && printf '%s\n' "$BRINE_GIT_USER" ;;
Password*) test -n "$BRINE_GIT_PASS" && printf '%s\n' "$BRINE_GIT_PASS" ;;
*) exit 1 ;;
esac
`

// offer has git ask a helper. The secrets are in its environment, which its user alone may read.
func (l *Login) offer(w *Work, env *payload.Map) (remove func(), err error) {
	dir, err := private(w.userName(), map[string]string{"askpass": askpass})
	if err != nil {
		return nil, err
	}
	env.Set("GIT_ASKPASS", filepath.Join(dir, "askpass")).Set("BRINE_GIT_HOST", l.host)
	for name, v := range map[string]any{"BRINE_GIT_USER": l.user, "BRINE_GIT_PASS": l.pass} {
		if v != nil {
			env.Set(name, python.Str(v))
		}
	}
	return func() { os.RemoveAll(dir) }, nil
}

// private makes a directory of scripts that its user alone may enter.
func private(user string, scripts map[string]string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "__salt.tmp.git."); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	paths := []string{}
	for name, text := range scripts {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o500); err != nil {
			return "", err
		}
		paths = append(paths, path)
	}
	return dir, give(user, append(paths, dir)...)
}

// give gives new files of this process to a user, the directory that they are in last.
func give(user string, paths ...string) error {
	if user == "" {
		return nil
	}
	account, err := program.LookupAccount(user, "")
	if err != nil || account.Credential == nil {
		return err
	}
	for _, path := range paths {
		if err := os.Lchown(path, int(account.Credential.Uid), -1); err != nil {
			return err
		}
	}
	return nil
}
