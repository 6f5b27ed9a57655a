package ssh

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/accounts"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// known are the functions of the keys by which other hosts are known.
func known() []loader.Func {
	return []loader.Func{
		loader.Fn("recv_known_host_entries", receive,
			"List the public keys that a host offers, with their fingerprints; None when it offers none.",
			"ssh.recv_known_host_entries git.example.com enc=ed25519 port=2222"),
		loader.Fn("get_known_host_entries", getKnown, "List the keys by which a host is known; None for no key.",
			"ssh.get_known_host_entries <user> <hostname>"),
		loader.Fn("check_known_host", checkKnown, "Tell whether a host is known: add, update or exists.",
			"ssh.check_known_host <user> <hostname> key='AAAA...FAaQ=='"),
		loader.Fn("rm_known_host", removeKnown, "Remove the keys of a host.", "ssh.rm_known_host <user> <hostname>"),
		loader.Fn("set_known_host", setKnown, "Let a host be known by its key, or by those that it offers.",
			"ssh.set_known_host <user> fingerprint='xx:xx:..:xx' enc='ssh-rsa' config='.ssh/known_hosts'"),
		loader.Fn("hash_known_hosts", hashKnown, "Hash the names of all hosts that are known.",
			"ssh.hash_known_hosts"),
	}
}

const defaultPort = 22

// wrong is what functions return instead of raising an error.
func wrong(format string, a ...string) *payload.Map {
	for _, text := range a {
		format = strings.Replace(format, "%s", text, 1)
	}
	return payload.M("status", "error", "error", format)
}

// knownFile is the file of a user, or of the host. A map says what is wrong.
func knownFile(c *loader.Call, user, config string) (owned, *payload.Map, error) {
	if config == "" {
		config = "/etc/ssh/ssh_known_hosts"
		if user != "" {
			config = ".ssh/known_hosts"
		}
	}
	if user == "" {
		if !filepath.IsAbs(config) {
			return owned{}, wrong("Cannot determine absolute path to file."), nil
		}
		return owned{path: config}, nil, nil
	}
	u, there, err := accounts.UserNamed(c.Ctx, "", user)
	switch {
	case err != nil:
		return owned{}, nil, err
	case !there && filepath.IsAbs(config):
		return owned{path: config}, nil, nil
	case !there:
		return owned{}, wrong("User %s does not exist", user), nil
	case !filepath.IsAbs(config):
		config = filepath.Join(u.Home, config)
	}
	return owned{config, &u}, nil, nil
}

// keygen runs ssh-keygen on the file, in the name of the user whose it is: what links of his lead to, he can reach
// himself. Unlike Salt, which runs it as root. Output of both kinds is one text.
func (o owned) keygen(c *loader.Call, words ...string) (string, error) {
	path := cmdmod.Which(c, "ssh-keygen")
	if path == "" {
		return "", &loader.CommandNotFoundError{Message: "The 'ssh-keygen' binary was not found in $PATH."}
	}
	spec := program.Spec{Argv: slices.Concat([]string{path}, words, []string{"-f", o.path}), Merge: true}
	if owner := o.owner(); owner != nil {
		spec.As = &syscall.Credential{Uid: uint32(owner.UID), Gid: uint32(owner.GID)}
	}
	out, err := program.Run(c.Ctx, spec)
	return strings.TrimRight(string(out.Stdout), "\r\n"), err
}

// bracketed is the name of a host as the file has it.
func bracketed(host string, port any) string {
	if !python.Truth(port) || payload.Equal(port, int64(defaultPort)) {
		return host
	}
	return "[" + host + "]:" + loader.Text(port)
}

type aboutKnown struct {
	User     string `arg:"user"`
	Host     string `arg:"hostname"`
	Config   string `arg:"config=None"`
	Port     any    `arg:"port=None"`
	HashType any    `arg:"fingerprint_hash_type=None"`
}

func getKnown(c *loader.Call, a aboutKnown) (any, error) {
	rows, bad, err := a.entries(c)
	if bad != nil || rows == nil {
		return orNone(bad), err
	}
	return payload.AnyList(rows), err
}

// orNone keeps a nil map from being a value.
func orNone(m *payload.Map) any {
	if m == nil {
		return nil
	}
	return m
}

// entries are the keys by which the host is known; nil: none. A map says what is wrong.
func (a aboutKnown) entries(c *loader.Call) (rows []*payload.Map, bad *payload.Map, err error) {
	file, bad, err := knownFile(c, a.User, a.Config)
	if bad != nil || err != nil {
		return nil, bad, err
	}
	text, err := file.find(c, a.Host, a.Port)
	if err != nil {
		return nil, nil, err
	}
	rows, err = rowsOf(text, a.HashType)
	return rows, nil, err
}

// find is what ssh-keygen tells of a host: before each line of it, a comment with its number.
func (o owned) find(c *loader.Call, host string, port any) (string, error) {
	if !isFile(o.path) {
		return "", nil
	}
	return o.keygen(c, "-F", bracketed(host, port))
}

type checkedKnown struct {
	User        string `arg:"user=None"`
	Host        string `arg:"hostname=None"`
	Key         any    `arg:"key=None"`
	Fingerprint any    `arg:"fingerprint=None"`
	Config      string `arg:"config=None"`
	Port        any    `arg:"port=None"`
	HashType    any    `arg:"fingerprint_hash_type=None"`
}

func checkKnown(c *loader.Call, a checkedKnown) (any, error) {
	if a.Host == "" {
		return wrong("hostname argument required"), nil
	}
	rows, bad, err := aboutKnown{a.User, a.Host, a.Config, a.Port, a.HashType}.entries(c)
	switch {
	case bad != nil || err != nil:
		return orNone(bad), err
	case rows == nil:
		return "add", nil
	case python.Truth(a.Key) && !has(rows, "key", a.Key),
		!python.Truth(a.Key) && python.Truth(a.Fingerprint) && !has(rows, "fingerprint", a.Fingerprint):
		return "update", nil
	}
	return "exists", nil
}

func has(rows []*payload.Map, field string, v any) bool {
	return slices.ContainsFunc(rows, func(row *payload.Map) bool { return row.Value(field) == v })
}

type oldKnown struct {
	User   string `arg:"user=None"`
	Host   string `arg:"hostname=None"`
	Config string `arg:"config=None"`
	Port   any    `arg:"port=None"`
}

func removeKnown(c *loader.Call, a oldKnown) (*payload.Map, error) {
	if a.Host == "" {
		return wrong("hostname argument required"), nil
	}
	file, bad, err := knownFile(c, a.User, a.Config)
	if bad != nil || err != nil {
		return bad, err
	}
	if !isFile(file.path) {
		return wrong("Known hosts file %s does not exist", file.path), nil
	}
	text, err := file.keygen(c, "-R", bracketed(a.Host, a.Port))
	return payload.M("status", "removed", "comment", text), err
}

type hashing struct {
	User   string `arg:"user=None"`
	Config string `arg:"config=None"`
}

func hashKnown(c *loader.Call, a hashing) (*payload.Map, error) {
	file, bad, err := knownFile(c, a.User, a.Config)
	if bad != nil || err != nil {
		return bad, err
	}
	if !isFile(file.path) {
		return wrong("Known hosts file %s does not exist", file.path), nil
	}
	info, err := os.Stat(file.path)
	if err != nil {
		return nil, err
	}
	text, err := file.keygen(c, "-H")
	if err == nil {
		err = file.chmod(uint32(info.Mode().Perm()))
	}
	return payload.M("status", "updated", "comment", text), err
}

// lineNumbers are the numbers of the lines that find told of, for keys of a type or of any.
func lineNumbers(found, enc string) (out []int) {
	lines := strings.Split(found, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		head, words := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if len(head) == 0 || len(words) < 2 || enc != "" && words[len(words)-2] != enc {
			continue
		}
		if n, err := strconv.Atoi(head[len(head)-1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}
