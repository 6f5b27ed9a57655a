package masterlink

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/session"
	"brine/wire/client"
	"brine/wire/payload"

	"golang.org/x/term"
)

// eauthTypes are the kinds of external authentication that masters of 3008 have. All of them need the same
// fields from a client.
var eauthTypes = []string{"auto", "file", "ldap", "pam", "rest", "sharedsecret"}

// olderEauthTypes are kinds that only masters of 3006 and 3007 have.
var olderEauthTypes = []string{"django", "keystone", "mysql", "pki", "yubico"}

// ErrNoAuth means that the client does not know the kind of authentication in -a.
var ErrNoAuth = errors.New("authentication failed")

// askCredentials returns eauth and its fields, from the options or from the user at the terminal. With -T it
// also gets a token from the master, keeps it for later calls, and returns it.
func askCredentials(ctx context.Context, s *session.Session, c *client.Client) (*payload.Map, error) {
	name := s.Opt.Str("eauth")
	if !slices.Contains(eauthTypes, name) && !slices.Contains(olderEauthTypes, name) {
		fmt.Fprintf(s.Stdout, "The specified external authentication system \"%s\" is not available\n", name)
		fmt.Fprintf(s.Stdout, "Available eauth types: %s\n", strings.Join(eauthTypes, ", "))
		return nil, ErrNoAuth
	}
	cred := payload.NewMap(4)
	for _, field := range []string{"username", "password"} {
		value, err := askField(s, field)
		if err != nil {
			return nil, err
		}
		cred.Set(field, value)
	}
	if payload.NewCredentials(cred).Username() == "" {
		cred.Set("username", session.RunningUser())
	}
	cred.Set("eauth", name)
	if s.Opt.Bool("mktoken") {
		return cred, makeToken(ctx, s, c, cred)
	}
	return cred, nil
}

// askField returns the value of the named option, or asks the user for it.
func askField(s *session.Session, field string) (string, error) {
	if text, ok := s.Opt.Get(field).(string); ok {
		return text, nil
	}
	if strings.HasPrefix(field, "pass") {
		return askSecret(s, field+": ")
	}
	fmt.Fprintf(s.Stdout, "%s: ", field)
	return readLine(s)
}

// askSecret writes the prompt to stderr and reads a secret without echo. If stdin is no terminal, it reads a
// line of it.
func askSecret(s *session.Session, prompt string) (string, error) {
	fmt.Fprint(s.Stderr, prompt)
	f, ok := s.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return readLine(s)
	}
	secret, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(s.Stderr)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return string(secret), nil
}

// readLine reads one line of stdin and not a byte more.
func readLine(s *session.Session) (string, error) {
	line, err := bufio.NewReaderSize(oneByte{s.Stdin}, 16).ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || line == "") {
		return "", fmt.Errorf("read answer: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// oneByte reads single bytes, so that a buffer around it does not read ahead.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return o.r.Read(p[:1])
}

// makeToken gets a token for cred, adds it to cred and keeps it in the token file. If the master issues no
// token, it will also refuse the job and say why.
func makeToken(ctx context.Context, s *session.Session, c *client.Client, cred *payload.Map) error {
	token, err := c.MkToken(ctx, cred)
	if errors.Is(err, client.ErrAuthentication) {
		return nil
	}
	if err != nil {
		return ClientError(s, err)
	}
	name := payload.NewCredentials(token).Token()
	cred.Set("token", name)
	if err := ReplaceFile(s.Client.TokenFile, []byte(name)); err != nil {
		s.Log.Debug("token not kept", "err", err) // as in Salt, the token still serves this call
	}
	return nil
}

// rootKey is the first line of the master's own key file. ok is false if this user may not read it.
func rootKey(s *session.Session) (key string, ok bool) {
	raw, err := os.ReadFile(filepath.Join(s.Master.CacheDir, ".root_key"))
	if err != nil {
		return "", false
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return line, true
}

// JobCredentials returns the credentials for every job of a tool. With a token file, these are the master's own
// key if it is readable, or otherwise the token. Without a token file, they are the credentials of -a.
//
// Unlike Salt: a batch and --static also send the key. With the token alone they would fail even for root if
// the master has lost the token.
func JobCredentials(ctx context.Context, s *session.Session, c *client.Client) (*payload.Map, error) {
	if s.Client.Token != "" {
		if key, ok := rootKey(s); ok {
			return payload.M("key", key), nil
		}
		return payload.M("token", s.Client.Token), nil
	}
	if s.Opt.Str("eauth") == "" {
		return nil, nil
	}
	return askCredentials(ctx, s, c)
}
