package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"brine/wire/payload"
)

// Client is the master's configuration as salt, salt-key and salt-run read it: with the personal file of the
// user on top.
type Client struct {
	Master
	TokenFile string // file of the eauth token, absolute
	Token     string // its content when it has not expired; a secret
	MasterURI string // tcp://ADDRESS:RET_PORT, the wildcard address replaced by loopback
	SaltRC    string // the personal file that was read, "" when there is none
}

// LoadClient reads the master configuration at path and the personal file: the one SALT_CLIENT_CONFIG names, else
// saltrc in $XDG_CONFIG_HOME/salt when that directory exists, else ~/.saltrc.
func LoadClient(path string, overrides *payload.Map) (*Client, error) {
	return Loader{Path: path, Overrides: overrides}.Client()
}

// Client loads the configuration of a client tool. An error is a *Error.
func (l Loader) Client() (*Client, error) {
	c := &Client{}
	opts, file, err := l.load(roleMaster, func(ld *loading, opts *payload.Map) error {
		if err := ld.applyMaster(opts); err != nil {
			return err
		}
		return c.personal(ld, opts)
	})
	if err != nil {
		return nil, err
	}
	if err := file.decode(opts, &c.Master); err != nil {
		return nil, err
	}
	file.fill(&c.Common, opts)
	c.readToken(opts)
	if c.MasterURI = opts.Str("master_uri"); c.MasterURI == "" {
		c.MasterURI = "tcp://" + net.JoinHostPort(loopback(c.Interface), strconv.Itoa(c.RetPort))
	}
	return c, nil
}

// personal lays the personal file over the master's options.
func (c *Client) personal(ld *loading, opts *payload.Map) error {
	dir, name := clientDir(ld.Getenv)
	file := filepath.Join(dir, name)
	if named := ld.Getenv("SALT_CLIENT_CONFIG"); named != "" {
		if info, err := os.Stat(named); err == nil && info.Mode().IsRegular() {
			file = named
		}
	}
	if !opts.Has("token_file") {
		opts.Set("token_file", filepath.Join(dir, "salt_token"))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	s, err := ld.parse(file, b)
	if err != nil {
		return err
	}
	c.SaltRC = file
	if err := ld.layers.layFiles(s); err != nil {
		return err
	}
	for key := range s.opts.All() {
		if ld.layers.origin(key).Layer == LayerFile { // else the environment stands over it
			opts.Set(key, ld.layers.value(key))
		}
	}
	return nil
}

// clientDir is where personal files are kept, and the name of the personal configuration there.
func clientDir(getenv func(string) string) (dir, name string) {
	home := getenv("HOME")
	if home == "" {
		home = expandHome("~")
	}
	base := getenv("XDG_CONFIG_HOME")
	if base == "" {
		base = filepath.Join(home, ".config")
	}
	dir = filepath.Join(base, "salt")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, "saltrc"
	}
	return home, ".saltrc"
}

// readToken reads the token file unless the token in it has expired.
func (c *Client) readToken(opts *payload.Map) {
	file := expandHome(opts.Str("token_file"))
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	c.TokenFile = file
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) >= c.TokenExpire {
		return
	}
	if b, err := os.ReadFile(file); err == nil {
		c.Token = strings.TrimSpace(string(b))
	}
}

// loopback is the address under which this host reaches a server that listens on addr.
func loopback(addr string) string {
	switch strings.Trim(addr, "[]") {
	case "0.0.0.0":
		return "127.0.0.1"
	case "::":
		return "::1"
	}
	return strings.Trim(addr, "[]")
}

// String hides the token.
func (c *Client) String() string {
	return fmt.Sprintf("client of %s, configuration %s", c.MasterURI, c.ConfFile)
}
