// Package cpmod holds the execution functions of module cp: files of the master's file server, or of the minion's own
// (file_client: local), of web servers and of salt-cp, and files that go to the master. The fetching itself stands in
// modules/fileclient. It answers to salt/modules/cp.py.
package cpmod

import (
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

const source = "salt/modules/cp.py"

// Functions lists the functions.
func Functions() []loader.Func {
	funcs := append(append(listers(), fetchers()...), movers()...)
	for i := range funcs {
		funcs[i].Source = source
	}
	return funcs
}

// envOf is the environment of a call: the argument, the option saltenv, base.
func envOf(c *loader.Call, a loader.Args) string {
	if a.Declared("saltenv") && loader.Truthy(a.Get("saltenv")) {
		return pytext.Str(a.Get("saltenv"))
	}
	if v := c.Opts().Value("saltenv"); loader.Truthy(v) {
		return pytext.Str(v)
	}
	return "base"
}

// with gives a function the client and the environment of its call.
func with(f func(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error)) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		client, err := fileclient.For(c)
		if err != nil {
			return nil, err
		}
		return f(c, a, client, envOf(c, a))
	}
}

// urlIn takes the environment out of a URL, over that of the call.
func urlIn(a loader.Args, env string) (string, string) {
	url, own := fileclient.SplitEnv(a.Str("path"))
	if own != "" {
		env = own
	}
	return url, env
}

func listers() []loader.Func {
	saltenv, prefix := loader.Opt("saltenv", nil), loader.Opt("prefix", "")
	list := func(name, cmd, what string) loader.Func {
		return loader.Func{Name: "cp." + name, Params: []loader.Param{saltenv, prefix},
			Run: with(func(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
				return client.List(c.Ctx, cmd, env, a.Str("prefix"))
			}), Doc: "List the " + what + " of an environment of the file server.\n\nCLI Example:\n\n    salt '*' cp." + name}
	}
	return []loader.Func{
		list("list_master", payload.CmdFileList, "files"), list("list_master_dirs", payload.CmdDirList, "directories"),
		list("list_master_symlinks", payload.CmdSymlinkList, "symbolic links"),
		{Name: "cp.envs", Run: with(func(c *loader.Call, _ loader.Args, client *fileclient.Client, _ string) (any, error) {
			return client.Envs(c.Ctx)
		}), Doc: "List the environments of the file server.\n\nCLI Example:\n\n    salt '*' cp.envs"},
		{Name: "cp.list_states", Params: []loader.Param{saltenv}, Run: with(func(c *loader.Call, _ loader.Args, client *fileclient.Client, env string) (any, error) {
			names, err := client.States(c.Ctx, env)
			return payload.AnyList(names), err
		}), Doc: "List the states of an environment.\n\nCLI Example:\n\n    salt '*' cp.list_states"},
		{Name: "cp.list_minion", Params: []loader.Param{saltenv}, Run: with(func(_ *loader.Call, _ loader.Args, client *fileclient.Client, env string) (any, error) {
			names, err := client.LocalList(env)
			return payload.AnyList(names), err
		}), Doc: "List the files in the caches of this minion.\n\nCLI Example:\n\n    salt '*' cp.list_minion"},
		{Name: "cp.is_cached", Params: []loader.Param{loader.Req("path"), saltenv}, Run: with(func(_ *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
			url, env := urlIn(a, env)
			return client.IsCached(url, env), nil
		}), Doc: "Tell where a file is in the caches of this minion.\n\nCLI Example:\n\n    salt '*' cp.is_cached salt://path/to/file"},
		{Name: "cp.cache_dest", Params: []loader.Param{loader.Req("url"), saltenv}, Run: with(func(_ *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
			return client.CacheDest(a.Str("url"), env)
		}), Doc: "Tell where a file would be in the caches of this minion.\n\nCLI Example:\n\n    salt '*' cp.cache_dest salt://my/file"},
		hashFile("cp.hash_file"), hashFile("cp.hash_file_ssh"),
		{Name: "cp.stat_file", Params: []loader.Param{loader.Req("path"), saltenv, loader.Opt("octal", true)}, Run: with(statFile),
			Doc: "Tell the permissions of a file.\n\nCLI Example:\n\n    salt '*' cp.stat_file salt://path/to/file"},
	}
}

func hashFile(name string) loader.Func {
	return loader.Func{Name: name, Params: []loader.Param{loader.Req("path"), loader.Opt("saltenv", nil)},
		Run: with(func(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
			url, env := urlIn(a, env)
			return client.Hash(c.Ctx, url, env)
		}), Doc: "Tell the hash of a file: of the file server by salt://, else of this minion.\n\nCLI Example:\n\n    salt '*' cp.hash_file salt://path/to/file"}
}

func statFile(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	url, env := urlIn(a, env)
	stat, err := client.Stat(c.Ctx, url, env)
	if err != nil || len(stat) == 0 {
		return nil, err
	}
	mode, err := loader.ToInt(stat[0])
	if err != nil || a.Get("octal") != true {
		return stat[0], err
	}
	return fmt.Sprintf("0%o", mode&0o7777), nil
}

// notFetched says in the log that a file could not be fetched.
func notFetched(c *loader.Call, verb, url, env string) {
	c.Log(slog.LevelError, fmt.Sprintf("Unable to %s file %s from saltenv %s.", verb, fileclient.Redact(url), env))
}

// level is an argument gzip as a number.
func level(a loader.Args) (int, error) {
	if !loader.Truthy(a.Get("gzip")) {
		return 0, nil
	}
	n, err := a.Int("gzip")
	return int(n), err
}

// pathsOf reads paths as a list, or as a text with commas.
func pathsOf(v any) []string {
	if list, ok := v.([]any); ok {
		return payload.Texts(list)
	}
	return strings.Split(loader.Text(v), ",")
}
