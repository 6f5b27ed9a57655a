package client

import (
	"os"
	"path/filepath"
	"strings"
)

// LoginName is the user name that goes with every request: the name of the effective user, or sudo_NAME for
// root under sudo. sudoUser is the variable SUDO_USER, "" when unset (salt/utils/user.py, get_specific_user).
func LoginName(user, sudoUser string) string {
	if user == "root" && sudoUser != "" {
		return "sudo_" + sudoUser
	}
	return user
}

// KeyFile is the file whose content authenticates user. root and everybody under sudo use the key of the user
// the master runs as, which is owner.
func KeyFile(cacheDir, user, owner string) string {
	if owner == "" {
		owner = "root"
	}
	if user == "root" || strings.HasPrefix(user, "sudo_") {
		user = owner
	}
	return filepath.Join(cacheDir, "."+user+"_key")
}

// readKey reads the key file; "" when it cannot be read.
func (c *Client) readKey() string {
	key, err := os.ReadFile(KeyFile(c.opt.CacheDir, c.opt.User, c.opt.KeyOwner))
	if err != nil {
		c.log.Debug("no key file, a token or a password is needed", "err", err)
		return ""
	}
	return string(key)
}

// Key is the content of the key file as last read.
func (c *Client) Key() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.key
}

// renewKey reads the key file again, because the master may have made a new one since, and reports whether it
// changed.
func (c *Client) renewKey() bool {
	key := c.readKey()
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := key != c.key
	c.key = key
	return changed
}
