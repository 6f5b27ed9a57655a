package cp

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// cachers are the functions that put files into the cache of this minion.
func cachers() []loader.Func {
	return []loader.Func{
		cacheFile("cache_file"),
		cacheFile("cache_file_ssh"),
		loader.Fn("cache_files", with(cacheFiles), "Put files into the cache of this minion.",
			"cp.cache_files salt://path/to/file1,salt://path/to/file2"),
		loader.Fn("cache_dir", with(cacheDir), "Put a directory of the file server into the cache of this minion.",
			"cp.cache_dir salt://path/to/dir"),
		loader.Fn("cache_master", with(cacheMaster),
			"Put all files of an environment into the cache of this minion.", "cp.cache_master"),
		loader.Fn("cache_local_file", with(cacheLocalFile), "Put a file of this minion into its cache of such files.",
			"cp.cache_local_file /etc/hosts"),
	}
}

// cacheFile is a function that caches one file.
func cacheFile(name string) loader.Func {
	type cached struct {
		file
		SourceHash string `arg:"source_hash=None"`
		VerifySSL  any    `arg:"verify_ssl=True"`
		UseETag    bool   `arg:"use_etag=False"`
	}
	return loader.Fn(name, with(func(c *loader.Call, a cached, client *fileclient.Client, env string) (any, error) {
		return cache(c, client, a.Path, env,
			fileclient.Fetch{SourceHash: a.SourceHash, Insecure: a.VerifySSL == false, ETag: a.UseETag})
	}), "Put a file into the cache of this minion, and tell where it is.", "cp."+name+" salt://path/to/file")
}

// cache puts a file into the cache, and logs one that is not there.
func cache(c *loader.Call, client *fileclient.Client, path, env string, how fileclient.Fetch) (any, error) {
	url, env := urlIn(path, env)
	v, err := client.CacheFile(c.Ctx, url, env, how)
	if err == nil && !python.Truth(v) && !how.ETag {
		c.Log(slog.LevelError,
			fmt.Sprintf("Unable to cache file '%s' from saltenv '%s'.", fileclient.Redact(url), env))
	}
	return v, err
}

// files are several files of an environment.
type files struct {
	Paths any `arg:"paths"`
	within
}

func cacheFiles(c *loader.Call, a files, client *fileclient.Client, env string) (any, error) {
	return client.CacheFiles(c.Ctx, pathsOf(a.Paths), env)
}

// directory is a directory of an environment, and which files of it are wanted.
type directory struct {
	Path string `arg:"path"`
	within
	IncludeEmpty bool `arg:"include_empty=False"`
	Include      any  `arg:"include_pat=None"`
	Exclude      any  `arg:"exclude_pat=None"`
}

func cacheDir(c *loader.Call, a directory, client *fileclient.Client, env string) (any, error) {
	return client.CacheDir(c.Ctx, a.Path, env, a.IncludeEmpty, a.Include, a.Exclude)
}

func cacheMaster(c *loader.Call, _ within, client *fileclient.Client, env string) (any, error) {
	return client.CacheMaster(c.Ctx, env)
}

// local is a file of this minion.
type local struct {
	Path string `arg:"path"`
	anywhere
}

// cacheLocalFile copies the file only if the cache has another one.
func cacheLocalFile(c *loader.Call, a local, client *fileclient.Client, env string) (any, error) {
	if _, err := os.Stat(a.Path); err != nil {
		return "", nil
	}
	if cached := client.IsCached(a.Path, env); cached != "" {
		one, err1 := client.Hash(c.Ctx, a.Path, env)
		two, err2 := client.Hash(c.Ctx, cached, env)
		if err := errors.Join(err1, err2); err != nil || payload.Equal(one, two) {
			return cached, err
		}
	}
	return client.CacheLocal(a.Path)
}
