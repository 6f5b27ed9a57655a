package aptpkg

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// keyrings is where keys of repositories are, each in a file.
const keyrings = "/etc/apt/keyrings"

// key fetches the key that a call of mod_repo names.
func (m *change) key() error {
	kw := m.KW
	if id, given := kw.Get("keyid"); given {
		return m.keysByID(id, kw.Value("keyserver"))
	}
	if v, given := kw.Get("key_url"); given {
		return m.keyByURL(python.Str(v))
	}
	if v, given := kw.Get("key_text"); given {
		out, err := cmdmod.Run(m.Call, []string{"apt-key", "add", "-"}, payload.M("stdin", python.Str(v)))
		if err == nil && !strings.HasPrefix(strings.ToUpper(out), "OK") {
			err = loader.ExecErr("Error: failed to add key:\n%s", python.Str(v))
		}
		return err
	}
	return nil
}

func (m *change) keyByURL(url string) error {
	cached, err := m.Call.Call("cp.cache_file", []any{url, m.Saltenv}, nil)
	if err != nil {
		return err
	}
	if !python.Truth(cached) {
		return loader.ExecErr("Error: file not found: %s", url)
	}
	path, signed := python.Str(cached), m.entry.SignedBy
	if m.AptKey {
		out, err := cmdmod.Run(m.Call, []string{"apt-key", "add", path}, nil)
		if err == nil && !strings.HasPrefix(strings.ToUpper(out), "OK") {
			err = loader.ExecErr("Error: failed to add key from %s", url)
		}
		return err
	}
	dir, name := keyrings, filepath.Base(path)
	if signed != "" {
		dir, name = filepath.Split(signed)
	}
	if !putKey(m.Call, path, dir, name) {
		return loader.ExecErr("Error: Could not add key: %s", path)
	}
	return nil
}

// keysByID fetches keys from a server.
func (m *change) keysByID(id, server any) error {
	if !python.Truth(id) || !python.Truth(server) {
		return loader.Raise("NameError", "both keyserver and keyid options required.")
	}
	ids, ok := id.([]any)
	if !ok {
		ids = []any{id}
	}
	for _, v := range ids {
		key := python.Str(v)
		if n, isNumber := v.(int64); isNumber { // YAML made a number of it
			key = "0x" + strconv.FormatInt(n, 16)
		}
		if err := cmdmod.Operand(key, python.Str(server)); err != nil {
			return err
		}
		if err := m.keyByID(key, python.Str(server)); err != nil {
			return err
		}
	}
	return nil
}

func (m *change) keyByID(key, server string) error {
	if !m.AptKey {
		dir, name := filepath.Split(m.entry.SignedBy)
		known, err := repoKeys(m.Call, false, dir)
		if err != nil {
			return err
		}
		if m2, ok := known.(*payload.Map); ok && m2.Has(key) {
			return nil
		}
		added, err := receive(m.Call, server, key, dir, name)
		if err == nil && !added {
			err = loader.ExecErr("Error: Could not add key: %s", key)
		}
		return err
	}
	out, err := cmdmod.RunAll(m.Call, []string{"apt-key", "export", key}, nil)
	if err != nil || strings.HasPrefix(out.Stdout, "-----BEGIN PGP") {
		return err
	}
	out, err = unscoped(m.Call, append(receiveByAptKey(m.Call, server), "--keyserver", server, "--logger-fd", "1",
		"--recv-keys", key), nil)
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("Error: key retrieval failed: %s", out.Stdout)
	}
	return err
}

// receiveByAptKey is the beginning of a call that fetches a key, through the proxy of the minion if there is one.
func receiveByAptKey(c *loader.Call, server string) []string {
	argv := []string{"apt-key", "adv", "--batch"}
	opts := c.Opts()
	host, port := opts.Str("proxy_host"), opts.Value("proxy_port")
	if host == "" || !python.Truth(port) {
		return argv
	}
	for _, v := range payload.Texts(opts.List("no_proxy")) {
		if v == server {
			return argv
		}
	}
	user := ""
	if name, password := opts.Str("proxy_username"), opts.Str("proxy_password"); name != "" && password != "" {
		user = name + ":" + password + "@"
	}
	return append(argv, "--keyserver-options", fmt.Sprintf("http-proxy=http://%s%s:%s", user, host, python.Str(port)))
}

// receive has gpg fetch a key into a file of its own.
func receive(c *loader.Call, server, id, dir, name string) (bool, error) {
	if name == "" {
		c.Log(slog.LevelError, "You must define the name of the key file to save the key. See keyfile argument")
		return false, nil
	}
	path := filepath.Join(dir, name)
	out, err := unscoped(c, []string{"gpg", "--no-default-keyring", "--keyring", path, "--keyserver", server,
		"--recv-keys", id}, nil)
	if err != nil || out.Code != 0 {
		c.Log(slog.LevelError, "Unable to add repo key: "+out.Stderr)
		return false, err
	}
	return true, os.Chmod(path, 0o644) // apt reads it as another user
}

// putKey makes a file a key of repositories; text (armor) becomes what it stands for, unless the name ends in .asc.
func putKey(c *loader.Call, path, dir, name string) bool {
	if dir == "" {
		dir = keyrings
	}
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("The directory %s does not exist and could not be created: %v. "+
			"Please create this directory writable only by root.", dir, err))
		return false
	}
	key, err := readKey(path)
	if err == nil && strings.HasPrefix(strings.Trim(string(key), "-"), "BEGIN PGP") && !strings.HasSuffix(name, ".asc") {
		key, err = dearmored(string(key))
	}
	if err == nil {
		err = wholefile.Write(filepath.Join(dir, filepath.Base(name)), key, wholefile.Options{Mode: 0o644})
	}
	if err != nil {
		c.Log(slog.LevelError, "Unable to add repo key: "+err.Error())
	}
	return err == nil
}

func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 16 << 20 // bytes
	return io.ReadAll(io.LimitReader(f, most))
}

// dearmored are the bytes that blocks of text (RFC 9580, 6.2) stand for.
func dearmored(text string) ([]byte, error) {
	var out []byte
	body, in, head := "", false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "-----BEGIN PGP"):
			body, in, head = "", true, true
		case strings.HasPrefix(line, "-----END PGP"):
			b, err := python.DecodeBase64([]byte(body))
			if err != nil {
				return nil, err
			}
			out, in = append(out, b...), false
		case in && head:
			head = line != ""
		case in && !strings.HasPrefix(line, "="): // that is the checksum
			body += line
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no key in it")
	}
	return out, nil
}

type addKeyArgs struct {
	Path      any    `arg:"path=None"`
	Text      any    `arg:"text=None"`
	Keyserver any    `arg:"keyserver=None"`
	KeyID     string `arg:"keyid=None"`
	Saltenv   string `arg:"saltenv=base"`
	AptKey    bool   `arg:"aptkey=True"`
	KeyDir    string `arg:"keydir=None"`
	KeyFile   string `arg:"keyfile=None"`
}

func addRepoKey(c *loader.Call, a addKeyArgs) (bool, error) {
	a.AptKey = a.AptKey && program.Which("apt-key") != ""
	if a.KeyDir == "" {
		a.KeyDir = keyrings
	}
	if err := cmdmod.Operand(a.KeyID, loader.Text(a.Keyserver)); err != nil {
		return false, err
	}
	if a.KeyID != "" {
		known, err := repoKeys(c, a.AptKey, a.KeyDir)
		if err != nil {
			return false, err
		}
		m, _ := known.(*payload.Map)
		for id := range m.All() {
			if strings.HasSuffix(python.Str(id), a.KeyID) {
				return true, nil
			}
		}
	}
	switch {
	case python.Truth(a.Path):
		return a.fromFile(c)
	case python.Truth(a.Text):
		return aptKey(c, []string{"apt-key", "add", "-"}, payload.M("stdin", python.Str(a.Text)))
	case python.Truth(a.Keyserver) && a.KeyID == "":
		return false, loader.InvocErr("No keyid or keyid too short for keyserver: %s", python.Str(a.Keyserver))
	case python.Truth(a.Keyserver) && a.AptKey:
		return aptKey(c, []string{"apt-key", "adv", "--batch", "--keyserver", python.Str(a.Keyserver), "--recv", a.KeyID},
			nil)
	case python.Truth(a.Keyserver):
		return receive(c, python.Str(a.Keyserver), a.KeyID, a.KeyDir, a.KeyFile)
	case a.KeyID != "":
		return false, loader.InvocErr("No keyserver specified for keyid: %s", a.KeyID)
	}
	return false, &loader.ArgumentError{Message: "add_repo_key() takes at least 1 argument (0 given)"}
}

func (a addKeyArgs) fromFile(c *loader.Call) (bool, error) {
	cached, err := c.Call("cp.cache_file", []any{a.Path, a.Saltenv}, nil)
	if err != nil {
		return false, err
	}
	if !python.Truth(cached) {
		c.Log(slog.LevelError, "Unable to get cached copy of file: "+python.Str(a.Path))
		return false, nil
	}
	path := python.Str(cached)
	if a.AptKey {
		return aptKey(c, []string{"apt-key", "add", path}, nil)
	}
	name := a.KeyFile
	if name == "" {
		name = filepath.Base(path)
	}
	return putKey(c, path, a.KeyDir, name), nil
}

func aptKey(c *loader.Call, argv []string, more *payload.Map) (bool, error) {
	out, err := unscoped(c, argv, more)
	if err == nil && out.Code != 0 {
		c.Log(slog.LevelError, "Unable to add repo key: "+out.Stderr)
	}
	return err == nil && out.Code == 0, err
}

type keysArgs struct {
	AptKey bool   `arg:"aptkey=True"`
	KeyDir string `arg:"keydir=None"`
}

func getRepoKeys(c *loader.Call, a keysArgs) (any, error) { return repoKeys(c, a.AptKey, a.KeyDir) }

// repoKeys are the keys that apt knows, or those of the files of a directory; false where that is not there.
func repoKeys(c *loader.Call, byAptKey bool, dir string) (any, error) {
	if byAptKey && program.Which("apt-key") != "" {
		out, err := unscoped(c, []string{"apt-key", "adv", "--batch", "--list-public-keys", "--with-fingerprint",
			"--with-fingerprint", "--with-colons", "--fixed-list-mode"}, nil)
		if err == nil && out.Code != 0 {
			err = loader.ExecErr("%s", out.Stderr)
		}
		if err != nil {
			return nil, err
		}
		return keysOf(out.Lines()), nil
	}
	files, err := keyFiles(c, dir)
	if err != nil {
		return false, nil //nolint:nilerr // it is logged
	}
	var lines []string
	for _, path := range files {
		of, err := listKeys(c, path)
		if err != nil {
			return nil, err
		}
		lines = append(lines, of...)
	}
	return keysOf(lines), nil
}

// keyFiles are the files of a directory of keys.
func keyFiles(c *loader.Call, dir string) (paths []string, err error) {
	if dir == "" {
		dir = keyrings
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		c.Log(slog.LevelError, fmt.Sprintf(
			"The directory %s does not exist. Please create this directory only writable by root", dir))
		return nil, err
	}
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths, nil
}

func listKeys(c *loader.Call, path string) ([]string, error) {
	out, err := cmdmod.RunAll(c, []string{"gpg", "--no-default-keyring", "--keyring", path, "--list-keys",
		"--with-colons"}, nil)
	return out.Lines(), err
}

// keysOf reads what gpg writes with --with-colons.
func keysOf(lines []string) *payload.Map {
	found := payload.NewMap(0)
	var key, into *payload.Map
	for _, line := range lines {
		cols := strings.Split(line, ":")
		col := func(i int) any {
			if i >= len(cols) || strings.TrimSpace(cols[i]) == "" {
				return nil
			}
			text := strings.TrimSpace(cols[i])
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return n
			}
			return text
		}
		switch {
		case cols[0] == "pub" || cols[0] == "sub" && key != nil:
			into = payload.M("algorithm", col(3), "bits", col(2), "capability", col(11), "date_creation", col(5),
				"date_expiration", col(6), "keyid", python.Str(col(4)), "validity", col(1))
			if cols[0] == "pub" {
				key = into
				found.Set(key.Str("keyid"), key)
			} else {
				key.Set("subkey", into)
			}
		case cols[0] == "fpr" && into != nil:
			into.Set("fingerprint", col(9))
		case cols[0] == "uid" && key != nil:
			key.Set("uid", col(9)).Set("uid_hash", col(7))
		}
	}
	return found
}

type delKeyArgs struct {
	Name   any          `arg:"name=None"`
	AptKey bool         `arg:"aptkey=True"`
	KeyDir string       `arg:"keydir=None"`
	KW     *payload.Map `arg:"**kwargs"`
}

func delRepoKey(c *loader.Call, a delKeyArgs) (any, error) {
	if python.Truth(a.KW.Value("keyid_ppa")) {
		if name, ok := a.Name.(string); !ok || !strings.HasPrefix(name, "ppa:") {
			return nil, loader.InvocErr("keyid_ppa requires that a PPA be passed")
		}
		return nil, loader.ExecErr("keyid_ppa asks launchpad, which is not in brine yet")
	}
	v, given := a.KW.Get("keyid")
	if !given {
		return nil, loader.InvocErr("keyid or keyid_ppa and PPA name must be passed")
	}
	id := python.Str(v)
	if err := cmdmod.Operand(id); err != nil {
		return nil, err
	}
	if a.AptKey && program.Which("apt-key") != "" {
		out, err := unscoped(c, []string{"apt-key", "del", id}, nil)
		if err == nil && out.Code != 0 {
			err = loader.ExecErr("Failed to remove keyid %s: %s", id, out.Stderr)
		}
		return v, err
	}
	if len(id) != 8 && len(id) != 16 {
		c.Log(slog.LevelError, "The keyid needs to be either 8 or 16 characters")
		return false, nil
	}
	files, err := keyFiles(c, a.KeyDir)
	if err != nil {
		return false, nil //nolint:nilerr // it is logged
	}
	for _, path := range files {
		lines, err := listKeys(c, path)
		if err != nil {
			return nil, err
		}
		for known := range keysOf(lines).All() {
			if strings.HasSuffix(python.Str(known), id) {
				return v, os.Remove(path)
			}
		}
	}
	c.Log(slog.LevelError, "Could not find the key file for keyid: "+id)
	return false, nil
}
