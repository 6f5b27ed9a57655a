package ssh

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/text/pattern"
)

// What removing a key comes to.
const (
	removed    = "Key removed"
	notRemoved = "Key not removed"
)

// inLine finds the key of a line, whatever options stand before.
var inLine = pattern.New(`(?:(?:.*)\s)?(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+\s([a-zA-Z0-9+/]+={0,2})(?:\s.*)?`)

// add appends a key to the file, in a directory that is made for it. A home that is missing is not made.
func (o owned) add(k key) (string, error) {
	if strings.HasPrefix(o.path, o.user.Home) && !isDir(o.user.Home) {
		return "fail", nil
	}
	text := ""
	err := o.makeDir()
	if err == nil && isFile(o.path) {
		text, err = read(o.path)
	}
	if err == nil {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		err = o.write(text + k.line())
	}
	if err != nil {
		return "", loader.ExecErr("Could not write to key file: %s", loader.Message(err))
	}
	return "new", nil
}

// rewrite writes the file with other lines: change gives what stands in the place of one, with its end. Comments stay,
// and empty lines go, as in Salt.
func (o owned) rewrite(change func(line string) string) error {
	text, err := read(o.path)
	if err != nil {
		return loader.ExecErr("Problem reading or writing to key file: %s", loader.Message(err))
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "#"):
			out.WriteString(line + "\n")
		default:
			out.WriteString(change(line))
		}
	}
	if err := o.write(out.String()); err != nil {
		return loader.ExecErr("Problem reading or writing to key file: %s", loader.Message(err))
	}
	return nil
}

type oldKey struct {
	User     string `arg:"user"`
	Key      string `arg:"key"`
	Config   string `arg:"config=.ssh/authorized_keys"`
	HashType any    `arg:"fingerprint_hash_type=None"`
}

// removeKey removes a key. Lines that hold none go with it, as in Salt.
func removeKey(c *loader.Call, a oldKey) (string, error) {
	list, err := keysOfUser(c, a.User, a.Config, a.HashType)
	if err != nil {
		return "", err
	}
	if _, there := find(list, a.Key); !there {
		return "Key not present", nil
	}
	file, err := authorizedFile(c, a.User, a.Config)
	if err != nil {
		return "", err
	}
	err = file.rewrite(func(line string) string {
		m := whole.FindStringSubmatch(line)
		if m == nil {
			return ""
		}
		if words := strings.Fields(m[2]); len(words) > 1 && words[1] == a.Key {
			return ""
		}
		return line + "\n"
	})
	if err != nil {
		return notRemoved, nil
	}
	return removed, nil
}
