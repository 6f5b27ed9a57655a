package ssh

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/accounts"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
)

// largest is the most that is read of a file of keys, in bytes.
const largest = 16 << 20

// read is the content of a file of keys; a link of a user leads to his own files alone.
func read(path string) (string, error) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("%s is too large", path)
	}
	return string(text), err
}

// isFile tells whether there is a plain file, or a link to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// key is a line of authorized_keys.
type key struct {
	enc, text, comment string
	options            []string
	fingerprint        string
}

// shown is a key as functions return it.
func (k key) shown() *payload.Map {
	return payload.M("enc", k.enc, "comment", k.comment, "options", payload.AnyList(k.options),
		"fingerprint", k.fingerprint)
}

// line is the key as a line.
func (k key) line() string {
	text := k.enc + " " + k.text + " " + k.comment + "\n"
	if len(k.options) > 0 {
		text = strings.Join(k.options, ",") + " " + text
	}
	return text
}

// whole is a line of authorized_keys: options, and from the type on the rest.
var whole = pattern.New(`^(.*?)\s?((?:sk-)?(?:ssh-|ecds)[\w@.-]+\s.+)$`)

// parse reads a line; ok is false for one that holds no key.
func parse(line string, hashType any) (k key, ok bool, err error) {
	m := whole.FindStringSubmatch(line)
	if m == nil {
		return k, false, nil
	}
	words := strings.Fields(m[2])
	if len(words) < 2 {
		return k, false, nil
	}
	k = key{enc: words[0], text: words[1], comment: strings.Join(words[2:], " ")}
	if m[1] != "" {
		k.options = strings.Split(m[1], ",")
	}
	k.fingerprint, err = fingerprint(k.text, hashType)
	return k, k.fingerprint != "", err
}

// keys are those of a text, in their order; of two with one text the last one counts.
func keys(text string, hashType any) ([]key, error) {
	var out []key
	at := map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, ok, err := parse(line, hashType)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if i, twice := at[k.text]; twice {
			out[i] = k
		} else {
			at[k.text] = len(out)
			out = append(out, k)
		}
	}
	return out, nil
}

// keysOf are those of a file.
func keysOf(path string, hashType any) ([]key, error) {
	text, err := read(path)
	if err != nil {
		return nil, loader.ExecErr("Problem reading ssh key file %s", path)
	}
	return keys(text, hashType)
}

// find is the key of a text.
func find(list []key, text string) (key, bool) {
	for _, k := range list {
		if k.text == text {
			return k, true
		}
	}
	return key{}, false
}

// expand puts names in the place of %u, %h and %% in a path of authorized_keys.
func expand(path string, u accounts.User) (string, error) {
	var out strings.Builder
	escaped := false
	for _, char := range path {
		switch {
		case !escaped && char == '%':
			escaped = true
			continue
		case !escaped || char == '%':
			out.WriteRune(char)
		case char == 'u':
			out.WriteString(u.Name)
		case char == 'h':
			out.WriteString(u.Home)
		default:
			return "", loader.ExecErr(`AuthorizedKeysFile path: unknown token character "%%%c"`, char)
		}
		escaped = false
	}
	if escaped {
		return "", loader.ExecErr("AuthorizedKeysFile path: Last character can't be escape character")
	}
	return out.String(), nil
}

// owned is a file of keys and the user whose it is.
type owned struct {
	path string
	user *accounts.User // nil: the host's
}

// authorizedFile is that of a user.
func authorizedFile(c *loader.Call, user, config string) (owned, error) {
	u, there, err := accounts.UserNamed(c.Ctx, "", user)
	if err != nil {
		return owned{}, err
	}
	if !there {
		return owned{}, loader.ExecErr("User '%s' does not exist", user)
	}
	path, err := expand(config, u)
	if !filepath.IsAbs(path) {
		path = filepath.Join(u.Home, path)
	}
	return owned{path, &u}, err
}

// owner is the user by number; nil where the file is the host's, or where this process may not give files away.
func (o owned) owner() *safefile.Owner {
	if o.user == nil || os.Geteuid() != 0 {
		return nil
	}
	return &safefile.Owner{UID: int(o.user.UID), GID: int(o.user.GID)}
}

// makeDir makes the directory of the file, which only the user enters. Those above it that are missing are made, too.
func (o owned) makeDir() error {
	var missing []string
	for dir := filepath.Dir(o.path); !isDir(dir); dir = filepath.Dir(dir) {
		missing = append([]string{dir}, missing...)
	}
	for i, dir := range missing {
		var a safefile.Attrs
		if mode := uint32(0o700); i == len(missing)-1 {
			a = safefile.Attrs{Owner: o.owner(), Mode: &mode}
		}
		if err := safefile.Mkdir(dir, a); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// write puts a text into the file, which keeps its owner and mode; a new one is the user's, and private.
func (o owned) write(text string) error {
	var a safefile.Attrs
	if _, err := os.Stat(o.path); err != nil {
		mode := uint32(0o600)
		a = safefile.Attrs{Owner: o.owner(), Mode: &mode}
	}
	return safefile.Write(o.path, []byte(text), a, true)
}
