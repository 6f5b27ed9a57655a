package git

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// withIdentity is ssh with the private key in GIT_IDENTITY, which asks nobody for anything.
const withIdentity = `#!/bin/sh
exec ssh -oStrictHostKeyChecking=no -oPasswordAuthentication=no -oKbdInteractiveAuthentication=no \
	-oChallengeResponseAuthentication=no ${GIT_IDENTITY:+-i "$GIT_IDENTITY"} "$@"
`

// runAsIdentity runs git with one private key after the other.
func (w *Work) runAsIdentity(words []string, env *payload.Map, merge, hard bool) (out cmdmod.Output, err error) {
	var errs, missing []string
	for _, id := range w.Identity {
		name := python.Str(id)
		file, remove, err := w.identityFile(name)
		if err != nil {
			return out, err
		}
		if file == "" {
			w.Call.Log(slog.LevelError, "identity "+name+" does not exist.")
			if !strings.Contains(name, "salt://") {
				missing = append(missing, name)
			}
			continue
		}
		out, err = w.tryIdentity(file, words, env.Clone(), merge)
		remove()
		switch {
		case err == errEncrypted:
			errs = append(errs, fmt.Sprintf("Identity file %s is passphrase-protected and cannot be used in a "+
				"non-interactive command. Using salt-call from the minion will allow a passphrase-protected key to be "+
				"used.", file))
			continue
		case err != nil || out.Code == 0:
			return out, err
		}
		if said := complaint(out, merge); said != "" {
			errs = append(errs, Redacted(said))
		}
	}
	if !hard {
		return out, nil
	}
	text := "Unable to authenticate using identity file:\n\n" + strings.Join(errs, "\n")
	if len(missing) > 0 {
		if len(errs) > 0 {
			text += "\n\n"
		}
		text += "The following identity file(s) were not found: " + strings.Join(missing, ", ")
	}
	return out, loader.ExecErr("%s", text)
}

// errEncrypted means a private key that needs a passphrase, which nobody is there to give.
var errEncrypted = loader.ExecErr("the private key needs a passphrase")

// tryIdentity runs git with one private key.
func (w *Work) tryIdentity(file string, words []string, env *payload.Map, merge bool) (cmdmod.Output, error) {
	dir, err := private(w.userName(), map[string]string{"ssh": withIdentity})
	if err != nil {
		return cmdmod.Output{}, err
	}
	defer os.RemoveAll(dir)
	env.Set("GIT_IDENTITY", file).Set("GIT_SSH", filepath.Join(dir, "ssh"))
	if !strings.Contains(w.Call.Opts().Str("__cli"), "salt-call") {
		switch secret, err := encrypted(file); {
		case err != nil:
			return cmdmod.Output{}, err
		case secret:
			return cmdmod.Output{}, errEncrypted
		}
	}
	w.Call.Log(slog.LevelInfo, "Attempting git authentication using identity file "+file)
	return w.start(words, env, merge)
}

// identityFile is the file of a private key, "" where there is none. One of the master is fetched into a file of its
// own, which remove takes away again.
func (w *Work) identityFile(name string) (file string, remove func(), err error) {
	if !strings.Contains(name, "salt://") {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return "", nil, nil
		}
		return name, func() {}, nil
	}
	dir, err := private("", nil)
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	file = filepath.Join(dir, "identity")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		remove()
		return "", nil, err
	}
	got, err := w.Call.Call("cp.get_file", []any{name, file, w.Saltenv}, nil)
	if err == nil && python.Truth(got) {
		err = os.Chmod(file, 0o600)
		if err == nil {
			err = give(w.userName(), file, dir)
		}
		if err == nil {
			return file, remove, nil
		}
	}
	remove()
	return "", nil, err
}

var privateKey = pattern.New(`BEGIN (?:\w+\s)*PRIVATE KEY`)

// maxKey is the size of the largest private key that is looked at, in bytes.
const maxKey = 1 << 20

// encrypted tells whether a private key needs a passphrase.
func encrypted(file string) (bool, error) {
	text, err := plainfile.Read(file, maxKey)
	if err != nil {
		return false, loader.ExecErr("Unable to read %s: %v", file, err)
	}
	if !privateKey.MatchString(string(text)) {
		return false, loader.ExecErr("%s is not a private key", file)
	}
	return strings.Contains(string(text), "ENCRYPTED"), nil
}
