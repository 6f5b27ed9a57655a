package gitfs

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// gitRepos are the repositories of testdata as a git program takes them: with a folder refs and a configuration. Tests
// that need that program are skipped without it.
func gitRepos(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program to serve repositories")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/repos")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.git", "other.git"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "refs"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "config"), []byte("[core]\n\tbare = "+
			"true\n\trepositoryformatversion = 0\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// webServer is a git server behind HTTP, for a user with a password if one is given.
func webServer(t *testing.T, user, password string) http.Handler {
	t.Helper()
	backend, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip("git does not say where its programs are")
	}
	program := filepath.Join(strings.TrimSpace(string(backend)), "git-http-backend")
	if _, err := os.Stat(program); err != nil {
		t.Skip("there is no git-http-backend")
	}
	h := &cgi.Handler{Path: program, Env: []string{"GIT_PROJECT_ROOT=" + gitRepos(t), "GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if u, p, _ := req.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, req)
	})
}

// backendOf makes a backend of one remote with some parameters.
func backendOf(t *testing.T, url string, params ...any) (*Backend, error) {
	t.Helper()
	entry := any(url)
	if len(params) > 0 {
		list := []any{}
		for i := 0; i < len(params); i += 2 {
			list = append(list, payload.M(params[i], params[i+1]))
		}
		entry = payload.M(url, list)
	}
	return New(payload.M("gitfs_remotes", []any{entry}, "cachedir", t.TempDir()))
}

// whole tells whether a backend serves all of main.git.
func whole(t *testing.T, b *Backend) error {
	t.Helper()
	if _, err := b.Update(t.Context()); err != nil {
		return err
	}
	want := []string{"base", "deadbeef", "dev", "feature/x-1", "v1.0", "v2.0"}
	if got := b.Envs(); !slices.Equal(got, want) {
		return fmt.Errorf("environments %v", got)
	}
	if f, ok := b.Find("dev", "dev.txt", nil); !ok {
		return fmt.Errorf("no dev.txt")
	} else if text, err := os.ReadFile(f.Path); err != nil || string(text) != "only dev" {
		return fmt.Errorf("dev.txt: %q, %v", text, err)
	}
	return nil
}

// TestHTTP fetches from a real git server, with and without a password, and with a certificate that nobody has signed.
func TestHTTP(t *testing.T) {
	open := httptest.NewServer(webServer(t, "", ""))
	defer open.Close()
	b, err := backendOf(t, open.URL+"/main.git")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := whole(t, b); err != nil {
			t.Fatal(err)
		}
	}
	const user, password = "someone", "s3cret-w0rd"
	locked := httptest.NewServer(webServer(t, user, password))
	defer locked.Close()
	if _, err := backendOf(t, locked.URL+"/main.git", "user", user, "password", password); err == nil {
		t.Error("a password for http was taken without insecure_auth")
	}
	b, err = backendOf(t, locked.URL+"/main.git", "user", user, "password", password, "insecure_auth", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err != nil {
		t.Error(err)
	}
	b, err = backendOf(t, strings.Replace(locked.URL, "://", "://"+user+":"+password+"@", 1)+"/main.git")
	if err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err != nil {
		t.Error(err)
	}
	tls := httptest.NewTLSServer(webServer(t, "", ""))
	defer tls.Close()
	tls.Config.ErrorLog = nil
	if b, err = backendOf(t, tls.URL+"/main.git"); err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody has signed: %v", err)
	}
	if b, err = backendOf(t, tls.URL+"/main.git", "ssl_verify", false); err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfURLs: a password is in no error and no event, whatever the server does.
func TestSecretsOfURLs(t *testing.T) {
	const password = "s3cret/w0rd"
	for _, code := range []int{401, 403, 404, 500, 301} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/x?"+req.Header.Get("Authorization"))
			http.Error(w, req.URL.String()+" "+password, code)
		}))
		u := strings.Replace(s.URL, "://", "://someone:"+url.PathEscape(password)+"@", 1) + "/main.git"
		b, err := backendOf(t, u)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := b.Update(t.Context())
		s.Close()
		if err == nil {
			t.Fatalf("%d: no error", code)
		}
		text := err.Error() + fmt.Sprint(changes.Event())
		if done, err := b.Lock(""); err != nil {
			t.Error(err)
		} else {
			text += strings.Join(done, " ")
		}
		_, err = b.Update(t.Context())
		text += fmt.Sprint(err)
		for _, secret := range []string{password, url.PathEscape(password), url.QueryEscape(password), "someone"} {
			if strings.Contains(text, secret) {
				t.Errorf("%d: %s is in %s", code, secret, text)
			}
		}
	}
}

// sshServer lets one key in and serves repositories. It returns its address, and writes known_hosts into the home of
// the test.
func sshServer(t *testing.T) (addr, keyFile string) {
	t.Helper()
	repos, home := gitRepos(t), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	keyFile = filepath.Join(home, "key")
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions,
		error) {
		if mine, err := ssh.NewPublicKey(public); err != nil || string(key.Marshal()) != string(mine.Marshal()) {
			return nil, fmt.Errorf("no")
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serveSSH(conn, config, repos)
		}
	}()
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	line := knownhosts.Line([]string{knownhosts.Normalize(l.Addr().String())}, signer.PublicKey())
	if err := os.WriteFile(filepath.Join(home, ".ssh", "known_hosts"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String(), keyFile
}

// serveSSH runs git-upload-pack for who asks for it.
func serveSSH(conn net.Conn, config *ssh.ServerConfig, repos string) {
	defer conn.Close()
	_, chans, reqs, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(reqs)
	for c := range chans {
		ch, reqs, err := c.Accept()
		if err != nil {
			return
		}
		for r := range reqs {
			command := string(r.Payload[min(4, len(r.Payload)):])
			path, ok := strings.CutPrefix(command, "git-upload-pack '")
			_ = r.Reply(ok, nil)
			if !ok {
				continue
			}
			cmd := exec.Command("git", "-c", "safe.directory=*", "upload-pack",
				filepath.Join(repos, strings.TrimSuffix(path, "'")))
			cmd.Stdin, cmd.Stdout = ch, ch
			_ = cmd.Run()
			ch.Close()
			break
		}
	}
}

// TestSSH fetches with a key behind a passphrase, and believes no server that is not known.
func TestSSH(t *testing.T) {
	addr, key := sshServer(t)
	remote := "ssh://git@" + addr + "/main.git"
	b, err := backendOf(t, remote, "privkey", key, "passphrase", "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := whole(t, b); err != nil {
			t.Fatal(err)
		}
	}
	if b, err = backendOf(t, remote, "privkey", key, "passphrase", "wrong"); err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong passphrase: %v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "known_hosts"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err = backendOf(t, remote, "privkey", key, "passphrase", "open sesame"); err != nil {
		t.Fatal(err)
	}
	if err := whole(t, b); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("a server that nobody knows: %v", err)
	}
}

// TestSilence: servers that never answer are given up, and hold up no other remote.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("HOME", t.TempDir())
	repos, err := filepath.Abs("testdata/repos")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key")
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(os.Getenv("HOME"), ".ssh")
	if err := os.WriteFile(key, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(known, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(known, "known_hosts"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := New(payload.M("cachedir", t.TempDir(), "gitfs_remotes", []any{"http://" + l.Addr().String() + "/x.git",
		payload.M("ssh://git@"+l.Addr().String()+"/x.git", []any{payload.M("privkey", key)}),
		"file://" + repos + "/main.git"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range b.repos[:2] {
		r.timeout = 10 * time.Second // long enough for the one that answers, on a busy machine
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.Update(t.Context())
		done <- err
	}()
	for deadline := time.After(time.Minute); ; {
		if _, ok := b.Find("dev", "dev.txt", nil); ok {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("the update ended first: %v", err)
		case <-deadline:
			t.Fatal("the remote that answers was held up")
		case <-time.After(10 * time.Millisecond):
		}
	}
	select {
	case err := <-done:
		if err == nil || strings.Count(err.Error(), "given up") != 2 {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the silent ones were not given up")
	}
}
