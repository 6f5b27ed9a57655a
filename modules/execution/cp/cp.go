// Package cp holds the execution functions of module cp: files of the master's file server, or of the minion's own
// (file_client: local), of web servers and of salt-cp, and files that go to the master. The fetching itself stands in
// modules/fileclient. It answers to salt/modules/cp.py.
package cp

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module cp.
func Module() loader.Module {
	return loader.Module{File: "cp", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(listers(), tellers(), fetchers(), cachers(), movers())
	}}
}

// within is the environment that a call names.
type within struct {
	Saltenv any `arg:"saltenv=None"`
}

// environment is the argument, the option saltenv, base.
func (w within) environment(c *loader.Call) string {
	if python.Truth(w.Saltenv) {
		return python.Str(w.Saltenv)
	}
	if v := c.Opts().Value("saltenv"); python.Truth(v) {
		return python.Str(v)
	}
	return "base"
}

// anywhere is a call that names no environment.
type anywhere struct{}

func (anywhere) environment(c *loader.Call) string { return within{}.environment(c) }

// located are arguments from which the environment of a call comes.
type located interface {
	environment(c *loader.Call) string
}

// with gives a function the client and the environment of its call.
func with[A located](
	f func(c *loader.Call, a A, client *fileclient.Client, env string) (any, error),
) func(*loader.Call, A) (any, error) {
	return func(c *loader.Call, a A) (any, error) {
		client, err := fileclient.For(c)
		if err != nil {
			return nil, err
		}
		return f(c, a, client, a.environment(c))
	}
}

// urlIn takes the environment out of a URL, over that of the call.
func urlIn(path, env string) (string, string) {
	url, own := fileclient.SplitEnv(path)
	if own != "" {
		env = own
	}
	return url, env
}

// listers are the functions that list files and environments.
func listers() []loader.Func {
	return []loader.Func{
		listOf("list_master", payload.CmdFileList, "files"),
		listOf("list_master_dirs", payload.CmdDirList, "directories"),
		listOf("list_master_symlinks", payload.CmdSymlinkList, "symbolic links"),
		loader.Fn("envs", with(listEnvs), "List the environments of the file server.", "cp.envs"),
		loader.Fn("list_states", with(listStates), "List the states of an environment.", "cp.list_states"),
		loader.Fn("list_minion", with(listMinion), "List the files in the caches of this minion.", "cp.list_minion"),
	}
}

// tellers are the functions that tell something of one file.
func tellers() []loader.Func {
	return []loader.Func{
		loader.Fn("is_cached", with(isCached), "Tell where a file is in the caches of this minion.",
			"cp.is_cached salt://path/to/file"),
		loader.Fn("cache_dest", with(cacheDest), "Tell where a file would be in the caches of this minion.",
			"cp.cache_dest salt://my/file"),
		hashFile("hash_file"),
		hashFile("hash_file_ssh"),
		loader.Fn("stat_file", with(statFile), "Tell the permissions of a file.", "cp.stat_file salt://path/to/file"),
	}
}

// listOf is a function that lists one kind of things of the file server.
func listOf(name, cmd, what string) loader.Func {
	type listed struct {
		within
		Prefix string `arg:"prefix=''"`
	}
	return loader.Fn(name, with(func(c *loader.Call, a listed, client *fileclient.Client, env string) (any, error) {
		return client.List(c.Ctx, cmd, env, a.Prefix)
	}), "List the "+what+" of an environment of the file server.", "cp."+name)
}

func listEnvs(c *loader.Call, _ anywhere, client *fileclient.Client, _ string) (any, error) {
	return client.Envs(c.Ctx)
}

func listStates(c *loader.Call, _ within, client *fileclient.Client, env string) (any, error) {
	names, err := client.States(c.Ctx, env)
	return payload.AnyList(names), err
}

func listMinion(_ *loader.Call, _ within, client *fileclient.Client, env string) (any, error) {
	names, err := client.LocalList(env)
	return payload.AnyList(names), err
}

// file is a file of an environment.
type file struct {
	Path string `arg:"path"`
	within
}

func isCached(_ *loader.Call, a file, client *fileclient.Client, env string) (any, error) {
	url, env := urlIn(a.Path, env)
	return client.IsCached(url, env), nil
}

// remote is a file by its URL.
type remote struct {
	URL string `arg:"url"`
	within
}

func cacheDest(_ *loader.Call, a remote, client *fileclient.Client, env string) (any, error) {
	return client.CacheDest(a.URL, env)
}

func hashFile(name string) loader.Func {
	return loader.Fn(name, with(func(c *loader.Call, a file, client *fileclient.Client, env string) (any, error) {
		url, env := urlIn(a.Path, env)
		return client.Hash(c.Ctx, url, env)
	}), "Tell the hash of a file: of the file server by salt://, else of this minion.",
		"cp.hash_file salt://path/to/file")
}

// fileMode is a file whose mode is told in digits or as a number.
type fileMode struct {
	file
	Octal any `arg:"octal=True"`
}

func statFile(c *loader.Call, a fileMode, client *fileclient.Client, env string) (any, error) {
	url, env := urlIn(a.Path, env)
	stat, err := client.Stat(c.Ctx, url, env)
	if err != nil || len(stat) == 0 {
		return nil, err
	}
	mode, err := loader.ToInt(stat[0])
	if err != nil || a.Octal != true {
		return stat[0], err
	}
	return fmt.Sprintf("0%o", mode&0o7777), nil
}

// notFetched says in the log that a file could not be fetched.
func notFetched(c *loader.Call, verb, url, env string) {
	c.Log(slog.LevelError, fmt.Sprintf("Unable to %s file %s from saltenv %s.", verb, fileclient.Redact(url), env))
}

// level is an argument gzip as a number.
func level(v any) (int, error) {
	if !python.Truth(v) {
		return 0, nil
	}
	n, err := loader.ToInt(v)
	return int(n), err
}

// pathsOf reads paths as a list, or as a text with commas.
func pathsOf(v any) []string {
	if list, ok := v.([]any); ok {
		return payload.Texts(list)
	}
	return strings.Split(loader.Text(v), ",")
}
