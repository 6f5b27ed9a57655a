package fileclient

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// CacheFiles caches files, and returns for each its path, or false.
func (c *Client) CacheFiles(ctx context.Context, urls []string, env string) ([]any, error) {
	out := make([]any, 0, len(urls))
	for _, url := range urls {
		v, err := c.CacheFile(ctx, url, env, Fetch{})
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// CacheMaster caches all files of an environment.
func (c *Client) CacheMaster(ctx context.Context, env string) ([]any, error) {
	names, err := c.names(ctx, payload.CmdFileList, env, "")
	if err != nil {
		return nil, err
	}
	return c.CacheFiles(ctx, urlsOf(names), env)
}

func urlsOf(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = urlOf(name)
	}
	return out
}

// urlOf makes a URL of a name (salt/utils/url.py, create).
func urlOf(name string) string {
	return scheme + strings.TrimLeft(strings.ReplaceAll(name, "\\", "/"), "/")
}

// CacheDir caches what lies below a folder, as far as include and exclude let it, and returns the paths; with empty
// also those of empty folders, which are made.
func (c *Client) CacheDir(ctx context.Context, url, env string, empty bool, include, exclude any) ([]any, error) {
	dir, ok := serverPath(url)
	if !ok {
		return nil, unsupported(url)
	}
	dir = strings.TrimSuffix(dir, "/") + "/"
	names, err := c.names(ctx, payload.CmdFileList, env, "")
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, name := range names {
		if strings.TrimSpace(name) == "" || !strings.HasPrefix(name, dir) {
			continue
		}
		wanted, err := Chosen(name, include, exclude)
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		v, err := c.CacheFile(ctx, urlOf(name), env, Fetch{})
		if err != nil {
			return nil, err
		}
		if v != false && v != "" {
			out = append(out, v)
		}
	}
	if !empty {
		return out, nil
	}
	if names, err = c.names(ctx, payload.CmdFileListEmptyDirs, env, ""); err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, dir) {
			continue
		}
		path, err := c.cacheFolder(env, name)
		if err != nil {
			return nil, err
		}
		out = append(out, path)
	}
	return out, nil
}

// cacheFolder makes an empty folder in the cache.
func (c *Client) cacheFolder(env, name string) (string, error) {
	rel, ok := slot(env, name)
	if !ok {
		return "", leads(name + " of " + env)
	}
	if err := os.MkdirAll(c.cached("files"), 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(c.cached("files"))
	if err != nil {
		return "", err
	}
	return c.cached("files", rel), errors.Join(root.MkdirAll(rel, 0o700), root.Close())
}

// Chosen tells whether a name is wanted: globs, or with "E@" before them regular expressions (check_include_exclude).
func Chosen(name string, include, exclude any) (bool, error) {
	in, err := fits(name, include)
	if err != nil || python.Truth(include) && !in {
		return false, err
	}
	out, err := fits(name, exclude)
	return !python.Truth(exclude) || !out, err
}

func fits(name string, patterns any) (bool, error) {
	list := payload.Texts(patterns)
	if one, ok := patterns.(string); ok && one != "" {
		list = []string{one}
	}
	for _, p := range list {
		ok := false
		if expr, regexp := strings.CutPrefix(p, "E@"); regexp {
			re, err := re.CompileSearch(expr)
			if err == nil {
				ok, err = re.Match(name)
			}
			if err != nil {
				return false, fmt.Errorf("pattern %s: %w", payload.Show(p), err)
			}
		} else {
			ok = fnmatch.Match(p, name)
		}
		if ok {
			return true, nil
		}
	}
	return false, nil
}

// GetDir copies a folder of the server into one of this machine, with its empty folders, and returns the paths in
// order.
func (c *Client) GetDir(ctx context.Context, url, dest, env string, level int) ([]string, error) {
	dir, ok := serverPath(url)
	if !ok {
		return nil, unsupported(url)
	}
	dir = strings.TrimRight(dir, "/")
	prefix := ""
	if at := strings.LastIndexByte(dir, '/'); at >= 0 {
		prefix = dir[:at]
	}
	out := []string{}
	each := func(cmd string, do func(name, to string) (string, error)) error {
		names, err := c.names(ctx, cmd, env, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if len(name) <= len(dir) || name[len(dir)] != '/' || !strings.HasPrefix(name, dir) {
				continue
			}
			rel := strings.TrimLeft(name[len(prefix):], "/")
			if !filepath.IsLocal(rel) {
				return leads(name)
			}
			path, err := do(name, dest+"/"+rel)
			if err != nil {
				return err
			}
			out = append(out, path)
		}
		return nil
	}
	err := each(payload.CmdFileList, func(name, to string) (string, error) {
		path, _, err := c.GetFile(ctx, urlOf(name), Want{Env: env, Dest: to, MakeDirs: true, Gzip: level})
		return path, err
	})
	if err == nil {
		err = each(payload.CmdFileListEmptyDirs, func(_, to string) (string, error) {
			return to, os.MkdirAll(to, 0o755)
		})
	}
	slices.Sort(out)
	return out, err
}

// LocalList lists the files in the caches of an environment, and of the machine, in order.
func (c *Client) LocalList(env string) ([]string, error) {
	if !filepath.IsLocal(env) {
		return nil, leads(env)
	}
	names := map[string]bool{}
	for _, dir := range []string{c.cached("files", env), c.cached("localfiles")} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = filepath.Dir(dir) // as Salt does
		}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				names[path] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sorted(names), nil
}
