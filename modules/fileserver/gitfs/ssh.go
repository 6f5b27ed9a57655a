package gitfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshTime is how long a server may take until it has let us in.
const sshTime = 30 * time.Second

// overSSH is a remote behind ssh. All that is read and written ends with the context of the fetch: the connection is
// cut then.
type overSSH struct {
	conn    net.Conn
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	caps    *capability.List
	stop    func() bool
}

// dialSSH connects, checks the server's key by the files of known hosts, and starts the program that sends packs.
func dialSSH(ctx context.Context, e *transport.Endpoint, a auth, lim Limits) (_ source, err error) {
	port := e.Port
	if port <= 0 {
		port = 22
	}
	addr := net.JoinHostPort(e.Host, strconv.Itoa(port))
	config, closer, err := sshConfig(e, a, addr)
	if err != nil {
		return nil, err
	}
	defer closer()
	conn, err := (&net.Dialer{Timeout: sshTime}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &overSSH{conn: conn, stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := conn.SetDeadline(time.Now().Add(sshTime)); err != nil {
		return nil, err
	}
	c, chans, reqs, err := ssh.NewClientConn(conn, addr, config)
	if err != nil {
		return nil, err
	}
	s.client = ssh.NewClient(c, chans, reqs)
	if s.session, err = s.client.NewSession(); err != nil {
		return nil, err
	}
	if s.in, err = s.session.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = &bounded{ctx, out, lim.Pack + maxAdvertised}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return s, s.session.Start("git-upload-pack " + quoted(e.Path))
}

// quoted is a path as one word for the shell of the other side.
func quoted(path string) string {
	path = strings.ReplaceAll(path, "'", `'\''`)
	return "'" + strings.ReplaceAll(path, "!", `'\!'`) + "'"
}

// sshConfig says who we are, and whom we believe.
func sshConfig(e *transport.Endpoint, a auth, addr string) (*ssh.ClientConfig, func(), error) {
	name := e.User
	if a.user != "" && name == "" {
		name = a.user
	}
	if name == "" {
		name = "git"
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	methods, closer, err := sshMethods(e, a)
	if err != nil {
		return nil, nil, err
	}
	known, err := knownHosts()
	if err != nil {
		closer()
		return nil, nil, err
	}
	config := &ssh.ClientConfig{User: name, Auth: methods, HostKeyCallback: known, Timeout: sshTime,
		HostKeyAlgorithms: algorithms(known, addr)}
	return config, closer, nil
}

// sshMethods are the key of the options, or else those of the agent and the usual ones of the user.
func sshMethods(e *transport.Endpoint, a auth) ([]ssh.AuthMethod, func(), error) {
	nothing := func() {}
	if a.privkey != "" {
		signer, err := readKey(a.privkey, a.passphrase)
		if err != nil {
			return nil, nil, err
		}
		return []ssh.AuthMethod{ssh.PublicKeys(signer)}, nothing, nil
	}
	var out []ssh.AuthMethod
	closer := nothing
	if path := os.Getenv("SSH_AUTH_SOCK"); path != "" {
		if conn, err := net.DialTimeout("unix", path, sshTime); err == nil {
			out, closer = append(out, ssh.PublicKeysCallback(agent.NewClient(conn).Signers)), func() {
				_ = conn.Close()
			}
		}
	}
	home, _ := os.UserHomeDir()
	var keys []ssh.Signer
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		if signer, err := readKey(filepath.Join(home, ".ssh", name), ""); err == nil {
			keys = append(keys, signer)
		}
	}
	if keys != nil {
		out = append(out, ssh.PublicKeys(keys...))
	}
	if e.Password != "" {
		out = append(out, ssh.Password(e.Password))
	}
	if out == nil {
		return nil, nil, errors.New("ssh: there is no privkey, no agent and no key in ~/.ssh")
	}
	return out, closer, nil
}

func readKey(path, passphrase string) (ssh.Signer, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if passphrase != "" {
		return ssh.ParsePrivateKeyWithPassphrase(pem, []byte(passphrase))
	}
	return ssh.ParsePrivateKey(pem)
}

// knownHosts reads the files of keys of servers, the user's and the system's. Unlike Salt with gitcli: a server that is
// in none of them is not believed.
func knownHosts() (ssh.HostKeyCallback, error) {
	home, _ := os.UserHomeDir()
	var files []string
	for _, path := range []string{filepath.Join(home, ".ssh", "known_hosts"), "/etc/ssh/ssh_known_hosts"} {
		if _, err := os.Stat(path); err == nil {
			files = append(files, path)
		}
	}
	if files == nil {
		return nil, errors.New("ssh: there is no file of known hosts (~/.ssh/known_hosts, /etc/ssh/ssh_known_hosts)")
	}
	return knownhosts.New(files...)
}

// algorithms are those of the keys that are known of a server: it may have others, too, and would offer the wrong one.
func algorithms(known ssh.HostKeyCallback, addr string) []string {
	var wrong *knownhosts.KeyError
	if err := known(addr, &net.TCPAddr{IP: net.IPv4zero}, noKey{}); !errors.As(err, &wrong) {
		return nil
	}
	var out []string
	for _, k := range wrong.Want {
		switch t := k.Key.Type(); t {
		case ssh.KeyAlgoRSA:
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			out = append(out, t)
		}
	}
	return out
}

// noKey is a key that no server has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

func (s *overSSH) refs(context.Context) (refs, peeled map[string]plumbing.Hash, err error) {
	defer rescue(&err)
	adv := packp.NewAdvRefs()
	if err := adv.Decode(s.out); err != nil {
		if errors.Is(err, packp.ErrEmptyAdvRefs) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	if adv.IsEmpty() {
		return nil, nil, nil
	}
	transport.FilterUnsupportedCapabilities(adv.Capabilities)
	s.caps = adv.Capabilities
	return adv.References, adv.Peeled, nil
}

func (s *overSSH) pack(_ context.Context, wants, haves []plumbing.Hash) (rc io.ReadCloser, err error) {
	defer rescue(&err)
	req := packRequest(s.caps, wants, haves)
	var text bytes.Buffer
	err = errors.Join(req.UploadRequest.Encode(&text), req.UploadHaves.Encode(&text, true),
		pktline.NewEncoder(&text).EncodeString("done\n"))
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(text.Bytes()); err != nil {
		return nil, fmt.Errorf("ask for objects: %w", err)
	}
	if err := s.in.Close(); err != nil {
		return nil, err
	}
	res := packp.NewUploadPackResponse(req)
	if err := res.Decode(io.NopCloser(s.out)); err != nil {
		return nil, err
	}
	return demux(req, res), nil
}

func (s *overSSH) Close() error {
	s.stop()
	if s.session != nil {
		_ = s.session.Close() // it has ended by itself, as a rule
	}
	if s.client != nil {
		_ = s.client.Close()
	}
	_ = s.conn.Close()
	return nil
}
