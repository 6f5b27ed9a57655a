package fileclient

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"

	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/wire/payload"
)

// hashers are the values of hash_type.
var hashers = fileserver.Hashers()

// hashOf is the hash of a file of this machine.
func hashOf(path, kind string) (string, error) {
	newHash, ok := hashers[kind]
	if !ok {
		return "", loader.Raise("ValueError", "Invalid hash type: %s", kind)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := newHash()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Hash is the hash of a file with its type: of the server for a salt:// URL, else of this machine. What is not there is
// "" on the server, and here a list of an empty map and nil, as with Salt.
func (c *Client) Hash(ctx context.Context, url, env string) (any, error) {
	path, remote := serverPath(url)
	if remote {
		return c.opt.Ask(ctx, payload.M("path", path, "saltenv", env, "cmd", payload.CmdFileHash))
	}
	if !c.present(url) {
		return []any{payload.NewMap(0), nil}, nil
	}
	sum, err := hashOf(url, c.opt.HashType)
	if err != nil {
		return nil, err
	}
	return payload.M("hsum", sum, "hash_type", c.opt.HashType), nil
}

// present tells whether a file of this machine is there; the log tells of one that is not.
func (c *Client) present(path string) bool {
	ok := isFile(path)
	if !ok {
		c.opt.Log(slog.LevelWarn, fmt.Sprintf("specified file %s is not present to generate hash: Unsupported path: %s",
			path, path))
	}
	return ok
}

// Stat is what a stat call tells of a file, as a list of ten numbers; nil when that is not known.
func (c *Client) Stat(ctx context.Context, url, env string) ([]any, error) {
	if path, remote := serverPath(url); remote {
		v, err := c.opt.Ask(ctx, payload.M("path", path, "saltenv", env, "cmd", payload.CmdFileFind))
		m, _ := v.(*payload.Map)
		return m.List("stat"), err
	}
	if !c.present(url) {
		return nil, nil
	}
	info, err := os.Stat(url)
	if err != nil {
		return nil, nil
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return nil, nil
	}
	return []any{int64(s.Mode)}, nil
}
