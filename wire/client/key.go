package client

import (
	"os"
	"path/filepath"
	"strings"
)

// LoginName is the user name in every request: the name of the effective user, or sudo_NAME for root under sudo.
// sudoUser is the variable SUDO_USER, or "" (salt/utils/user.py, get_specific_user).
func LoginName(user, sudoUser string) string {
	if user == "root" && sudoUser != "" {
		return "sudo_" + sudoUser
	}
	return user
}

// KeyFile is the file whose content authenticates user. root and all users under sudo use the key of owner, the user of
// the master.
func KeyFile(cacheDir, user, owner string) string {
	if owner == "" {
		owner = "root"
	}
	if user == "root" || strings.HasPrefix(user, "sudo_") {
		user = owner
	}
	return filepath.Join(cacheDir, "."+user+"_key")
}

// readKey reads the key file; "" if it cannot be read.
func (c *Client) readKey() string {
	key, err := os.ReadFile(KeyFile(c.opt.CacheDir, c.opt.User, c.opt.KeyOwner))
	if err != nil {
		c.log.Debug("no key file, a token or a password is needed", "err", err)
		return ""
	}
	return string(key)
}

// Key is the content of the key file when it was last read.
func (c *Client) Key() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.key
}

// renewKey reads the key file again, because the master may have made a new one, and reports whether the key changed.
func (c *Client) renewKey() bool {
	key := c.readKey()
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := key != c.key
	c.key = key
	return changed
}
