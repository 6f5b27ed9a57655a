package ssh

import (
	"slices"
	"strings"

	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// authorized are the functions of the keys that let others log in as a user.
func authorized() []loader.Func {
	return []loader.Func{
		loader.Fn("auth_keys", authKeys, "List the keys that let others log in as a user.", "ssh.auth_keys root"),
		loader.Fn("check_key", checkKey, "Tell whether a key is there: add, update or exists.",
			"ssh.check_key <user> <key> <enc> <comment> <options>"),
		loader.Fn("check_key_file", checkFile, "Tell of each key of a file whether it is there.",
			"ssh.check_key_file root salt://ssh/keyfile"),
		loader.Fn("set_auth_key", setKey, "Let a key be there.", "ssh.set_auth_key <user> '<key>' enc='dsa'"),
		loader.Fn("set_auth_key_from_file", setFile, "Let the keys of a file be there.",
			"ssh.set_auth_key_from_file <user> salt://ssh_keys/<user>.id_rsa.pub"),
		loader.Fn("rm_auth_key", removeKey, "Remove a key.", "ssh.rm_auth_key <user> <key>"),
		loader.Fn("rm_auth_key_from_file", removeFile, "Remove the keys of a file.",
			"ssh.rm_auth_key_from_file <user> salt://ssh_keys/<user>.id_rsa.pub"),
	}
}

// types are the types of keys by the names that a caller may give.
var types = map[string][]string{
	"ssh-rsa": {"r", "rsa"}, "ssh-dss": {"d", "dsa", "dss"}, "ecdsa-sha2-nistp256": {"e", "ecdsa"},
	"ssh-ed25519": {"ed25519"}, "ecdsa-sha2-nistp521": nil, "ecdsa-sha2-nistp384": nil, "rsa-sha2-512": nil,
	"rsa-sha2-256": nil, "rsa-sha2-512-cert-v01@openssh.com": nil, "rsa-sha2-256-cert-v01@openssh.com": nil,
	"ssh-rsa-cert-v01@openssh.com": nil, "ecdsa-sha2-nistp256-cert-v01@openssh.com": nil,
	"ecdsa-sha2-nistp384-cert-v01@openssh.com": nil, "ecdsa-sha2-nistp521-cert-v01@openssh.com": nil,
	"sk-ecdsa-sha2-nistp256@openssh.com": nil, "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com": nil,
	"ssh-ed25519-cert-v01@openssh.com": nil, "sk-ssh-ed25519@openssh.com": nil,
	"sk-ssh-ed25519-cert-v01@openssh.com": nil,
}

func typeOf(name string) (string, error) {
	for full, others := range types {
		if full == name || slices.Contains(others, name) {
			return full, nil
		}
	}
	return "", loader.ExecErr("Incorrect encryption key type '%s'.", name)
}

type listed struct {
	User     any    `arg:"user=None"`
	Config   string `arg:"config=.ssh/authorized_keys"`
	HashType any    `arg:"fingerprint_hash_type=None"`
}

func authKeys(c *loader.Call, a listed) (*payload.Map, error) {
	users, several := a.User.([]any)
	if !several && python.Truth(a.User) {
		return shownKeys(keysOfUser(c, python.Str(a.User), a.Config, a.HashType))
	}
	if !python.Truth(a.User) {
		all, err := accounts.Users(c.Ctx, "")
		if err != nil {
			return nil, err
		}
		users = nil
		for _, u := range all {
			users = append(users, u.Name)
		}
	}
	out := payload.NewMap(0)
	for _, user := range users {
		name := python.Str(user)
		if file, err := authorizedFile(c, name, a.Config); err != nil || !isFile(file.path) {
			continue
		}
		m, err := shownKeys(keysOfUser(c, name, a.Config, a.HashType))
		if err != nil {
			return nil, err
		}
		out.Set(name, m)
	}
	return out, nil
}

func shownKeys(list []key, err error) (*payload.Map, error) {
	out := payload.NewMap(len(list))
	for _, k := range list {
		out.Set(k.text, k.shown())
	}
	return out, err
}

// keysOfUser are the keys that are there; none for a user who is not.
func keysOfUser(c *loader.Call, user, config string, hashType any) ([]key, error) {
	file, err := authorizedFile(c, user, config)
	if err != nil || !isFile(file.path) {
		return nil, nil
	}
	return keysOf(file.path, hashType)
}

type checked struct {
	User      string `arg:"user"`
	Key       string `arg:"key"`
	Enc       string `arg:"enc"`
	Comment   string `arg:"comment"`
	Options   any    `arg:"options"`
	Config    string `arg:"config=.ssh/authorized_keys"`
	CacheKeys any    `arg:"cache_keys=None"` // means nothing, as in Salt
	HashType  any    `arg:"fingerprint_hash_type=None"`
}

// optionsOf are options in a list, or one text.
func optionsOf(v any) []string {
	if text, ok := v.(string); ok && text != "" {
		return []string{text}
	}
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = python.Str(item)
	}
	return out
}

func checkKey(c *loader.Call, a checked) (string, error) {
	enc, err := typeOf(a.Enc)
	if err != nil {
		return "", err
	}
	list, err := keysOfUser(c, a.User, a.Config, a.HashType)
	if err != nil {
		return "", err
	}
	now, there := find(list, a.Key)
	switch {
	case !there:
		return "add", nil
	case now.line() != key{enc: enc, text: a.Key, comment: a.Comment, options: optionsOf(a.Options)}.line():
		return "update", nil
	}
	return "exists", nil
}

type fromFile struct {
	User     string `arg:"user"`
	Source   string `arg:"source"`
	Config   string `arg:"config=.ssh/authorized_keys"`
	Saltenv  string `arg:"saltenv=base"`
	HashType any    `arg:"fingerprint_hash_type=None"`
}

type fromFileWith struct {
	fromFile
	KW *payload.Map `arg:"**kwargs"`
}

// keys are those of the source; there is false where the file server has none.
func (a fromFile) keys(c *loader.Call) (list []key, there bool, err error) {
	v, err := c.Call("cp.cache_file", []any{a.Source, a.Saltenv}, nil)
	path, _ := v.(string)
	if err != nil || !isFile(path) {
		return nil, false, err
	}
	list, err = keysOf(path, a.HashType)
	return list, true, err
}

func checkFile(c *loader.Call, a fromFile) (*payload.Map, error) {
	list, _, err := a.keys(c)
	out := payload.NewMap(len(list))
	for _, k := range list {
		status, err := checkKey(c, checked{User: a.User, Key: k.text, Enc: k.enc, Comment: k.comment,
			Options: payload.AnyList(k.options), Config: a.Config, HashType: a.HashType})
		if err != nil {
			return nil, err
		}
		out.Set(k.text, status)
	}
	return out, err
}

// each calls a function for each key of the source, and gives the first of the answers that anyone gave.
func (a fromFile) each(c *loader.Call, do func(key) (string, error), answers ...string) (string, error) {
	list, there, err := a.keys(c)
	if err == nil && !there {
		err = loader.ExecErr("Failed to pull key file from salt file server")
	}
	if err != nil || len(list) == 0 {
		return "fail", err
	}
	var given []string
	for _, k := range list {
		answer, err := do(k)
		if err != nil {
			return "", err
		}
		given = append(given, answer)
	}
	for _, answer := range answers {
		if slices.Contains(given, answer) {
			return answer, nil
		}
	}
	return answers[len(answers)-1], nil
}

func setFile(c *loader.Call, a fromFileWith) (string, error) {
	given := a.KW.Value("options")
	return a.each(c, func(k key) (string, error) {
		options := given
		if !python.Truth(options) {
			options = payload.AnyList(k.options)
		}
		return setKey(c, newKey{User: a.User, Key: k.text, Enc: k.enc, Comment: k.comment, Options: options,
			Config: a.Config, HashType: a.HashType})
	}, "fail", "replace", "new", "no change")
}

func removeFile(c *loader.Call, a fromFile) (string, error) {
	return a.each(c, func(k key) (string, error) {
		return removeKey(c, oldKey{User: a.User, Key: k.text, Config: a.Config, HashType: a.HashType})
	}, notRemoved, removed, "Key not present")
}

type newKey struct {
	User      string `arg:"user"`
	Key       string `arg:"key"`
	Enc       string `arg:"enc=ssh-rsa"`
	Comment   string `arg:"comment=''"`
	Options   any    `arg:"options=None"`
	Config    string `arg:"config=.ssh/authorized_keys"`
	CacheKeys any    `arg:"cache_keys=None"` // means nothing, as in Salt
	HashType  any    `arg:"fingerprint_hash_type=None"`
}

// invalid tells whether the parts of a key are not those of one line. Unlike Salt, which writes what stands behind the
// end of a line in a comment or an option as a line of its own.
func (a newKey) invalid() bool {
	return len(strings.Fields(a.Key)) > 1 || strings.ContainsAny(a.Key+a.Comment+strings.Join(optionsOf(a.Options), ""),
		"\n\r\x00")
}

func setKey(c *loader.Call, a newKey) (string, error) {
	if a.invalid() {
		return "invalid", nil
	}
	enc, err := typeOf(a.Enc)
	if err != nil {
		return "", err
	}
	file, err := authorizedFile(c, a.User, a.Config)
	if file.user == nil {
		return "fail", nil
	}
	if err != nil {
		return "", err
	}
	if mark, err := fingerprint(a.Key, a.HashType); err != nil || mark == "" {
		return "Invalid public key", err
	}
	list, err := keysOfUser(c, a.User, a.Config, a.HashType)
	if err != nil {
		return "", err
	}
	k := key{enc: enc, text: a.Key, comment: a.Comment, options: optionsOf(a.Options)}
	now, there := find(list, a.Key)
	switch {
	case !there:
		return file.add(k)
	case now.line() == k.line():
		return "no change", nil
	}
	return "replace", file.rewrite(func(line string) string {
		if old := inLine.FindStringSubmatch(line); old != nil && old[1] == k.text {
			return k.line()
		}
		return line + "\n"
	})
}
