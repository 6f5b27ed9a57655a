package cpmod

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"unicode/utf8"

	"brine/modules/execution/slsutil"
	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/wire/payload"
)

func fetchers() []loader.Func {
	path, dest, saltenv := loader.Req("path"), loader.Req("dest"), loader.Opt("saltenv", nil)
	dirs, template, gzip := loader.Opt("makedirs", false), loader.Opt("template", nil), loader.Opt("gzip", nil)
	cacheFile := func(name string) loader.Func {
		return loader.Func{Name: name, Params: []loader.Param{path, saltenv, loader.Opt("source_hash", nil), loader.Opt("verify_ssl", true), loader.Opt("use_etag", false)},
			Run: with(cache), Doc: "Put a file into the cache of this minion, and tell where it is.\n\nCLI Example:\n\n    salt '*' " + name + " salt://path/to/file"}
	}
	return []loader.Func{
		{Name: "cp.get_file", Params: []loader.Param{path, dest, saltenv, dirs, template, gzip}, KWArgs: true, Run: with(getFile),
			Doc: "Copy a file of the file server to this minion.\n\nCLI Example:\n\n    salt '*' cp.get_file salt://path/to/file /minion/dest"},
		{Name: "cp.get_dir", Params: []loader.Param{path, dest, saltenv, template, gzip}, KWArgs: true, Run: with(getDir),
			Doc: "Copy a directory of the file server to this minion.\n\nCLI Example:\n\n    salt '*' cp.get_dir salt://path/to/dir/ /minion/dest"},
		{Name: "cp.get_url", Params: []loader.Param{path, loader.Opt("dest", ""), saltenv, dirs, loader.Opt("source_hash", nil)}, Run: with(getURL),
			Doc: "Fetch a file by salt://, http://, https:// or file://. With dest=None its content is the answer.\n\nCLI Example:\n\n    salt '*' cp.get_url salt://my/file /tmp/mine"},
		{Name: "cp.get_file_str", Params: []loader.Param{path, saltenv}, Run: with(getFileStr),
			Doc: "Put a file into the cache of this minion, and tell what it holds.\n\nCLI Example:\n\n    salt '*' cp.get_file_str salt://my/file"},
		{Name: "cp.get_template", Params: []loader.Param{path, dest, loader.Opt("template", "jinja"), saltenv, dirs}, KWArgs: true, Run: with(getTemplate),
			Doc: "Copy a file of the file server to this minion, rendered as a template.\n\nCLI Example:\n\n    salt '*' cp.get_template salt://path/to/template /minion/dest"},
		cacheFile("cp.cache_file"), cacheFile("cp.cache_file_ssh"),
		{Name: "cp.cache_files", Params: []loader.Param{loader.Req("paths"), saltenv}, Run: with(func(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
			return client.CacheFiles(c.Ctx, pathsOf(a.Get("paths")), env)
		}), Doc: "Put files into the cache of this minion.\n\nCLI Example:\n\n    salt '*' cp.cache_files salt://path/to/file1,salt://path/to/file2"},
		{Name: "cp.cache_dir", Params: []loader.Param{path, saltenv, loader.Opt("include_empty", false), loader.Opt("include_pat", nil), loader.Opt("exclude_pat", nil)},
			Run: with(func(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
				return client.CacheDir(c.Ctx, a.Str("path"), env, a.Bool("include_empty"), a.Get("include_pat"), a.Get("exclude_pat"))
			}), Doc: "Put a directory of the file server into the cache of this minion.\n\nCLI Example:\n\n    salt '*' cp.cache_dir salt://path/to/dir"},
		{Name: "cp.cache_master", Params: []loader.Param{saltenv}, Run: with(func(c *loader.Call, _ loader.Args, client *fileclient.Client, env string) (any, error) {
			return client.CacheMaster(c.Ctx, env)
		}), Doc: "Put all files of an environment into the cache of this minion.\n\nCLI Example:\n\n    salt '*' cp.cache_master"},
		{Name: "cp.cache_local_file", Params: []loader.Param{path}, Run: with(cacheLocalFile),
			Doc: "Put a file of this minion into its cache of such files.\n\nCLI Example:\n\n    salt '*' cp.cache_local_file /etc/hosts"},
	}
}

func getFile(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	path, dest, err := renderNames(c, a, env)
	if err != nil {
		return nil, err
	}
	url, own := fileclient.SplitEnv(path)
	if own != "" {
		env = own
	}
	zip, err := level(a)
	if err != nil {
		return nil, err
	}
	if sum, err := client.Hash(c.Ctx, url, env); err != nil || !loader.Truthy(sum) {
		return "", err
	}
	got, found, err := client.GetFile(c.Ctx, url, fileclient.Want{Env: env, Dest: dest, MakeDirs: a.Bool("makedirs"), Gzip: zip})
	if !found {
		return false, err
	}
	return got, err
}

func getDir(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	path, dest, err := renderNames(c, a, env)
	if err != nil {
		return nil, err
	}
	zip, err := level(a)
	if err != nil {
		return nil, err
	}
	list, err := client.GetDir(c.Ctx, path, dest, env, zip)
	return payload.AnyList(list), err
}

// renderNames are path and dest, rendered as templates where that is wanted.
func renderNames(c *loader.Call, a loader.Args, env string) (path, dest string, err error) {
	path, dest = a.Str("path"), a.Str("dest")
	engine := a.Get("template")
	if !loader.Truthy(engine) {
		return path, dest, nil
	}
	if engine != "jinja" {
		return "", "", loader.ExecErr("Attempted to render file paths with unavailable engine %s", loader.Text(engine))
	}
	if kw := a.UserKW(); kw.Has("pillar") || kw.Has("pillarenv") {
		return "", "", loader.ExecErr("brine cannot render file paths with another pillar yet (pillar, pillarenv)")
	}
	for _, text := range []*string{&path, &dest} {
		if *text, err = slsutil.Templates(c).Render(c.Ctx, renderers.Input{Data: *text, Saltenv: env}); err != nil {
			return "", "", loader.ExecErr("Failed to render file path with error: %s", loader.Message(err))
		}
	}
	return path, dest, nil
}

func getURL(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (v any, err error) {
	path := a.Str("path")
	if dest, ok := a.Get("dest").(string); ok {
		v, err = client.GetURL(c.Ctx, path, fileclient.Want{Env: env, Dest: dest, MakeDirs: a.Bool("makedirs")}, fileclient.Fetch{SourceHash: a.Str("source_hash")})
	} else {
		v, err = client.Content(c.Ctx, path, env)
	}
	if err == nil && !loader.Truthy(v) {
		notFetched(c, "fetch", path, env)
	}
	return v, err
}

func getFileStr(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	v, err := cache(c, a, client, env)
	path, ok := v.(string)
	if err != nil || !ok {
		return v, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false, nil
	}
	if !utf8.Valid(data) {
		return nil, loader.Raise("UnicodeDecodeError", "'utf-8' codec can't decode the content of %s", path)
	}
	return string(data), nil
}

func cache(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	url, env := urlIn(a, env)
	how := fileclient.Fetch{}
	if a.Declared("use_etag") {
		how = fileclient.Fetch{SourceHash: a.Str("source_hash"), Insecure: a.Get("verify_ssl") == false, ETag: a.Bool("use_etag")}
	}
	v, err := client.CacheFile(c.Ctx, url, env, how)
	if err == nil && !loader.Truthy(v) && !how.ETag {
		c.Log(slog.LevelError, fmt.Sprintf("Unable to cache file '%s' from saltenv '%s'.", fileclient.Redact(url), env))
	}
	return v, err
}

// cacheLocalFile copies the file only if the cache has another one.
func cacheLocalFile(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	path := a.Str("path")
	if _, err := os.Stat(path); err != nil {
		return "", nil
	}
	if cached := client.IsCached(path, env); cached != "" {
		one, err1 := client.Hash(c.Ctx, path, env)
		two, err2 := client.Hash(c.Ctx, cached, env)
		if err := errors.Join(err1, err2); err != nil || payload.Equal(one, two) {
			return cached, err
		}
	}
	return client.CacheLocal(path)
}

// getTemplate renders a file of the server into one of this machine.
func getTemplate(c *loader.Call, a loader.Args, client *fileclient.Client, env string) (any, error) {
	url, dest := a.Str("path"), a.Str("dest")
	v, err := client.CacheFile(c.Ctx, url, env, fileclient.Fetch{})
	file, ok := v.(string)
	if err != nil || !ok || file == "" {
		return "", err
	}
	in, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if engine := a.Get("template"); engine != "jinja" {
		c.Log(slog.LevelError, fmt.Sprintf("Attempted to render template with unavailable engine %s", loader.Text(engine)))
		return "", nil
	}
	kw := a.UserKW()
	kw.Delete("env")
	out, err := slsutil.Templates(c).Render(c.Ctx, renderers.Input{Data: string(text), Template: file, Saltenv: env, KW: kw})
	if err != nil {
		c.Log(slog.LevelError, "Failed to render template with error: "+loader.Message(err))
		return "", nil
	}
	return place(client, out, url, dest, env, a.Bool("makedirs"))
}

// place writes what a template has become, and returns where; "" when the folder is not there, and is not to be made.
func place(client *fileclient.Client, text, url, dest, env string, dirs bool) (any, error) {
	if dest == "" {
		at, err := client.External(url, env)
		if err != nil {
			return nil, err
		}
		dest, dirs = at, true
	}
	if info, err := os.Stat(dest); err == nil && info.IsDir() { // as a file that is moved into it
		dest = filepath.Join(dest, filepath.Base(url))
	}
	ok, err := client.WriteFile(dest, []byte(text), dirs)
	if !ok {
		return "", err
	}
	return dest, err
}
