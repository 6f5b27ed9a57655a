package file

import (
	"fmt"
	"os"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Managing is a file that should have a content: what file.managed, and others that write whole files, stand on. Locate
// and Get find the content, Look compares it with what stands, and Apply changes that.
type Managing struct {
	Name     string
	Source   any // a URL or a path, or a list of them; "" or nil: there is none
	Hash     any // source_hash
	HashName any // source_hash_name
	Contents *Content

	Perms
	KeepMode          bool // the mode is that of the source
	Template          any
	Context, Defaults *payload.Map
	KW                *payload.Map // further names for a template
	Saltenv           string

	SkipVerify, ETag bool
	VerifySSL        any
	HashSig          Signature // of the file of hashes; its Sig is nil where there is none
	FileSig          Signature // of the source

	Backup      string // "minion", "both": what is replaced is kept
	MakeDirs    bool
	DirMode     any
	Show        bool // changes are shown
	Lenient     Leniency
	NewFileDiff bool // a new file has a diff, too

	found   Source
	content *Content // nil: none is wanted
	remote  bool     // the source is neither the file server's nor this minion's
}

// Locate finds which of the sources is there.
func (m *Managing) Locate(c *loader.Call) error {
	s, err := FindSource(c, m.Source, m.Hash, m.Saltenv)
	m.found = s
	return err
}

// Found is the source that Locate found.
func (m *Managing) Found() Source { return m.found }

// Get finds the content. wrong is why there is none, as a comment.
func (m *Managing) Get(c *loader.Call) (wrong string, err error) {
	if m.found.URL == "" {
		m.content = m.Contents
		return "", nil
	}
	client, err := fileclient.For(c)
	if err != nil {
		return "", err
	}
	scheme := schemeOf(m.found.URL)
	switch {
	case scheme == "salt":
		wrong, err = m.ofServer(c, client)
	case isRemote(scheme):
		m.remote = true
		wrong, err = m.ofWeb(c, client)
	default:
		wrong, err = m.ofMinion(c, scheme)
	}
	if wrong != "" || err != nil {
		return wrong, err
	}
	if python.Truth(m.Template) {
		wrong, err = m.render(c)
	}
	if m.Contents != nil { // the source is looked for all the same
		m.content = m.Contents
	}
	return wrong, err
}

// ofServer is a file of the file server.
func (m *Managing) ofServer(c *loader.Call, client *fileclient.Client) (string, error) {
	url, env := fileclient.SplitEnv(m.found.URL)
	if env == "" {
		env = m.Saltenv
	}
	v, err := client.Hash(c.Ctx, url, env)
	sum, ok := v.(*payload.Map)
	if err != nil {
		return "", err
	}
	if !ok || !python.Truth(sum) {
		return fmt.Sprintf("Source file %s not found in saltenv '%s'", m.found.URL, m.Saltenv), nil
	}
	m.content = &Content{Sum: Sum{sum.Str("hash_type"), sum.Str("hsum")}, fetch: func() (string, error) {
		v, err := client.CacheFile(c.Ctx, url, env, fileclient.Fetch{})
		at, ok := v.(string)
		if err == nil && (!ok || at == "") {
			err = loader.ExecErr("Source file '%s' not found", m.found.URL)
		}
		return at, err
	}}
	return "", nil
}

// ofMinion is a file of this minion.
func (m *Managing) ofMinion(c *loader.Call, scheme string) (string, error) {
	name := m.found.URL
	if scheme == "file" {
		name = strings.TrimRight(localPath(name), "/")
	}
	if !exists(name) {
		return fmt.Sprintf("Local file source %s does not exist", name), nil
	}
	m.content = &Content{file: name}
	if !python.Truth(m.found.Hash) || m.SkipVerify {
		return "", nil
	}
	return m.wantHash(c)
}

// ofWeb is a file of another machine, which must have a hash.
func (m *Managing) ofWeb(c *loader.Call, client *fileclient.Client) (string, error) {
	url := m.found.URL
	m.content = &Content{}
	switch {
	case m.SkipVerify:
	case python.Truth(m.found.Hash):
		if wrong, err := m.wantHash(c); wrong != "" || err != nil {
			return wrong, err
		}
	case !m.ETag:
		return fmt.Sprintf("Unable to verify upstream hash of source file %s, please set source_hash or set skip_verify "+
			"to True", fileclient.Redact(url)), nil
	}
	at := client.IsCached(url, m.Saltenv)
	if at == "" || !m.SkipVerify {
		v, err := client.CacheFile(c.Ctx, url, m.Saltenv, fileclient.Fetch{SourceHash: m.content.Sum.Value,
			Insecure: m.VerifySSL == false, ETag: m.ETag})
		if err != nil {
			return fmt.Sprintf("Failed to cache %s: %s", fileclient.Redact(url), loader.Message(err)), nil
		}
		at, _ = v.(string)
	}
	if at == "" || !exists(at) {
		return fmt.Sprintf("Source file '%s' not found", fileclient.Redact(url)), nil
	}
	m.content.file = at
	return "", nil
}

// wantHash reads the hash that the source should have.
func (m *Managing) wantHash(c *loader.Call) (string, error) {
	s := m.HashSig
	sum, err := sourceSum{FileName: m.Name, Source: m.found.URL, Hash: m.found.Hash, HashName: m.HashName,
		Saltenv: m.Saltenv, VerifySSL: m.VerifySSL, Sig: s.Sig, SignedAny: s.SignedAny, SignedAll: s.SignedAll,
		Keyring: s.Keyring, GnuPGHome: s.GnuPGHome, SigBackend: s.Backend}.find(c)
	if loader.ClassOf(err) == "salt.exceptions.CommandExecutionError" {
		return "Unable to manage file: " + loader.Message(err), nil
	}
	m.content.Sum = sum
	return "", err
}

// HasHash tells whether the file has the hash that its source from another machine should have, before that is fetched.
func (m *Managing) HasHash(c *loader.Call) bool {
	s := schemeOf(m.found.URL)
	if m.found.URL == "" || !python.Truth(m.found.Hash) || s == "salt" || s == "file" ||
		strings.HasPrefix(m.found.URL, "/") {
		return false
	}
	m.content = &Content{}
	if wrong, err := m.wantHash(c); wrong != "" || err != nil {
		return false
	}
	same, err := m.content.heldBy(c.Ctx, m.Name)
	return err == nil && same
}

// render makes the content what the template in it becomes.
func (m *Managing) render(c *loader.Call) (string, error) {
	name, err := m.content.File()
	if err != nil {
		return fmt.Sprintf("Failed to cache %s: %s", fileclient.Redact(m.found.URL), loader.Message(err)), nil
	}
	if wrong, err := m.verified(c); wrong != "" || err != nil {
		return wrong, err
	}
	if name == m.Name {
		return "", loader.InvocErr("Source file cannot be the same as destination")
	}
	if bad := badEngine(m.Template); bad != "" {
		return bad, nil
	}
	text, isText, err := templateText(name)
	if err != nil || !isText {
		return "", err
	}
	kw := payload.M("name", m.Name, "source", m.found.URL, "user", m.User, "group", m.Group, "mode", m.Mode, "attrs",
		m.Attrs, "saltenv", m.Saltenv)
	kw.Update(m.KW)
	out, err := Render(c, text, m.Saltenv, kw, m.Defaults, m.Context)
	if err != nil {
		return "", err
	}
	m.content = Data([]byte(out))
	return "", nil
}

// verified compares a source that others have with the hash that it should have, and checks its signature. What is not
// what it should be does not stay in the cache.
func (m *Managing) verified(c *loader.Call) (string, error) {
	if !m.content.inFile() || schemeOf(m.found.URL) == "salt" && m.FileSig.Sig == nil {
		return "", nil
	}
	name, err := m.content.File()
	if err != nil {
		return "", err
	}
	if sum := m.content.Sum; sum.Value != "" && !m.SkipVerify && !m.ETag && schemeOf(m.found.URL) != "salt" {
		got, err := hashOf(c, name, sum.Form)
		if err != nil {
			return "", err
		}
		if got != any(sum.Value) {
			if m.remote {
				_ = os.Remove(name)
			}
			return m.otherHash(sum, python.Str(got)), nil
		}
	}
	if python.Truth(m.FileSig.Sig) {
		if err := m.FileSig.Verify(c, name, m.Saltenv); err != nil {
			return "Failed checking new file's signature: " + loader.Message(err), nil
		}
	}
	return "", nil
}

// otherHash is the comment of a source that has another hash than it should have.
func (m *Managing) otherHash(sum Sum, got string) string {
	if _, err := os.Lstat(m.Name); err != nil {
		return fmt.Sprintf("Specified %s checksum for %s (%s) does not match actual checksum (%s)", sum.Form, m.Name,
			sum.Value, got)
	}
	return fmt.Sprintf("Specified %s checksum for %s (%s) does not match actual checksum (%s). If the 'source_hash' "+
		"value refers to a remote file with multiple possible matches, then it may be necessary to set "+
		"'source_hash_name'.", sum.Form, m.found.URL, sum.Value, got)
}
