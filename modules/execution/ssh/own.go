package ssh

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/accounts"
	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// own are the functions of the keys that this host and its users have.
func own() []loader.Func {
	return []loader.Func{
		loader.Fn("host_keys", hostKeys, "Show the keys of this host.", "ssh.host_keys keydir=/etc/ssh private=False"),
		loader.Fn("user_keys", userKeys, "Show the keys of users.", "ssh.user_keys user=user1"),
		loader.Fn("key_is_encrypted", isEncrypted, "Tell whether a private key has a passphrase.",
			"ssh.key_is_encrypted /root/id_rsa"),
	}
}

type keysOfHost struct {
	Dir     string `arg:"keydir=None"`
	Private any    `arg:"private=True"`
	Certs   any    `arg:"certs=True"`
}

var hostKeyName = pattern.New(`^ssh_host_(.+)_key((-cert)?\.pub)?`)

func hostKeys(_ *loader.Call, a keysOfHost) (*payload.Map, error) {
	if a.Dir == "" {
		a.Dir = "/etc/ssh"
	}
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		return nil, loader.ExecErr("%s cannot be read: %s", a.Dir, loader.Message(err))
	}
	out := payload.NewMap(0)
	for _, e := range entries {
		m := hostKeyName.FindStringSubmatch(e.Name())
		if m == nil || m[2] == "" && a.Private == false || m[3] != "" && a.Certs == false {
			continue
		}
		text, _ := plainfile.Read(filepath.Join(a.Dir, e.Name()), largest) // one that cannot be read is empty
		out.Set(m[1]+m[2], strings.TrimSpace(string(text)))
	}
	return out, nil
}

type keysOfUsers struct {
	User any `arg:"user=None"`
	Pub  any `arg:"pubfile=None"`
	Prv  any `arg:"prvfile=None"`
}

// names are the files that are looked for: the one that is given, the usual ones, or none.
func names(given any, end string) []string {
	switch {
	case python.Truth(given):
		return []string{python.Str(given)}
	case given == false:
		return nil
	}
	return []string{"id_rsa" + end, "id_dsa" + end, "id_ecdsa" + end, "id_ed25519" + end}
}

func userKeys(c *loader.Call, a keysOfUsers) (*payload.Map, error) {
	users, several := a.User.([]any)
	if !several && python.Truth(a.User) {
		users = []any{a.User}
	}
	if len(users) == 0 {
		all, err := accounts.Users(c.Ctx, "")
		if err != nil {
			return nil, err
		}
		for _, u := range all {
			users = append(users, u.Name)
		}
	}
	out := payload.NewMap(0)
	for _, user := range users {
		u, there, err := accounts.UserNamed(c.Ctx, "", python.Str(user))
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		found := payload.NewMap(0)
		for _, name := range append(names(a.Pub, ".pub"), names(a.Prv, "")...) {
			path := name
			if !filepath.IsAbs(name) {
				path = filepath.Join(u.Home, ".ssh", name)
			}
			if text, err := read(path); err == nil {
				found.Set(filepath.Base(name), strings.TrimSpace(text))
			}
		}
		if found.Len() > 0 {
			out.Set(user, found)
		}
	}
	return out, nil
}

type keyFile struct {
	Key string `arg:"key"`
}

var privateKey = pattern.New(`BEGIN (?:\w+\s)*PRIVATE KEY`)

func isEncrypted(_ *loader.Call, a keyFile) (bool, error) {
	text, err := plainfile.Read(a.Key, largest)
	if err != nil {
		return false, loader.ExecErr("%s cannot be read: %s", a.Key, loader.Message(err))
	}
	if !privateKey.MatchString(string(text)) {
		return false, loader.ExecErr("%s is not a private key", a.Key)
	}
	return strings.Contains(string(text), "ENCRYPTED"), nil
}
