package cp

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
	"brine/wire/python"
)

// fetchers are the functions that bring files out of the file server.
func fetchers() []loader.Func {
	return []loader.Func{
		loader.Fn("get_file", with(getFile), "Copy a file of the file server to this minion.",
			"cp.get_file salt://path/to/file /minion/dest"),
		loader.Fn("get_dir", with(getDir), "Copy a directory of the file server to this minion.",
			"cp.get_dir salt://path/to/dir/ /minion/dest"),
		loader.Fn("get_url", with(getURL),
			"Fetch a file by salt://, http://, https:// or file://. With dest=None its content is the answer.",
			"cp.get_url salt://my/file /tmp/mine"),
		loader.Fn("get_file_str", with(getFileStr),
			"Put a file into the cache of this minion, and tell what it holds.", "cp.get_file_str salt://my/file"),
		loader.Fn("get_template", with(getTemplate),
			"Copy a file of the file server to this minion, rendered as a template.",
			"cp.get_template salt://path/to/template /minion/dest"),
	}
}

// pair is a file of the server and where it goes.
type pair struct {
	Path string `arg:"path"`
	Dest string `arg:"dest"`
}

// copied is a file to copy.
type copied struct {
	pair
	within
	MakeDirs bool         `arg:"makedirs=False"`
	Template any          `arg:"template=None"`
	Gzip     any          `arg:"gzip=None"`
	KW       *payload.Map `arg:"**kwargs"`
}

func getFile(c *loader.Call, a copied, client *fileclient.Client, env string) (any, error) {
	path, dest, err := renderNames(c, a.pair, a.Template, a.KW, env)
	if err != nil {
		return nil, err
	}
	url, env := urlIn(path, env)
	zip, err := level(a.Gzip)
	if err != nil {
		return nil, err
	}
	if sum, err := client.Hash(c.Ctx, url, env); err != nil || !python.Truth(sum) {
		return "", err
	}
	got, found, err := client.GetFile(c.Ctx, url, fileclient.Want{Env: env, Dest: dest, MakeDirs: a.MakeDirs,
		Gzip: zip})
	if !found {
		return false, err
	}
	return got, err
}

// copiedDir is a directory to copy.
type copiedDir struct {
	pair
	within
	Template any          `arg:"template=None"`
	Gzip     any          `arg:"gzip=None"`
	KW       *payload.Map `arg:"**kwargs"`
}

func getDir(c *loader.Call, a copiedDir, client *fileclient.Client, env string) (any, error) {
	path, dest, err := renderNames(c, a.pair, a.Template, a.KW, env)
	if err != nil {
		return nil, err
	}
	zip, err := level(a.Gzip)
	if err != nil {
		return nil, err
	}
	list, err := client.GetDir(c.Ctx, path, dest, env, zip)
	return payload.AnyList(list), err
}

// renderNames are path and dest, rendered as templates where an engine is named.
func renderNames(c *loader.Call, names pair, engine any, kw *payload.Map, env string) (path, dest string, err error) {
	path, dest = names.Path, names.Dest
	if !python.Truth(engine) {
		return path, dest, nil
	}
	if engine != "jinja" {
		return "", "", loader.ExecErr("Attempted to render file paths with unavailable engine %s", loader.Text(engine))
	}
	if kw := loader.CleanKWArgs(kw); kw.Has("pillar") || kw.Has("pillarenv") {
		return "", "", loader.ExecErr("brine cannot render file paths with another pillar yet (pillar, pillarenv)")
	}
	for _, text := range []*string{&path, &dest} {
		if *text, err = slsutil.Templates(c).Render(c.Ctx, renderers.Input{Data: *text, Saltenv: env}); err != nil {
			return "", "", loader.ExecErr("Failed to render file path with error: %s", loader.Message(err))
		}
	}
	return path, dest, nil
}

// fetched is a file to fetch by its URL.
type fetched struct {
	Path string `arg:"path"`
	Dest any    `arg:"dest=''"`
	within
	MakeDirs   bool   `arg:"makedirs=False"`
	SourceHash string `arg:"source_hash=None"`
}

func getURL(c *loader.Call, a fetched, client *fileclient.Client, env string) (v any, err error) {
	if dest, ok := a.Dest.(string); ok {
		v, err = client.GetURL(c.Ctx, a.Path, fileclient.Want{Env: env, Dest: dest, MakeDirs: a.MakeDirs},
			fileclient.Fetch{SourceHash: a.SourceHash})
	} else {
		v, err = client.Content(c.Ctx, a.Path, env)
	}
	if err == nil && !python.Truth(v) {
		notFetched(c, "fetch", a.Path, env)
	}
	return v, err
}

func getFileStr(c *loader.Call, a file, client *fileclient.Client, env string) (any, error) {
	v, err := cache(c, client, a.Path, env, fileclient.Fetch{})
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

// templated is a file to render.
type templated struct {
	pair
	Template any `arg:"template=jinja"`
	within
	MakeDirs bool         `arg:"makedirs=False"`
	KW       *payload.Map `arg:"**kwargs"`
}

// getTemplate renders a file of the server into one of this machine.
func getTemplate(c *loader.Call, a templated, client *fileclient.Client, env string) (any, error) {
	url, dest := a.Path, a.Dest
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
	if engine := a.Template; engine != "jinja" {
		c.Log(slog.LevelError,
			fmt.Sprintf("Attempted to render template with unavailable engine %s", loader.Text(engine)))
		return "", nil
	}
	kw := loader.CleanKWArgs(a.KW)
	kw.Delete("env")
	context := kw.Map("context")
	kw.Delete("context")
	out, err := slsutil.Templates(c).Render(c.Ctx,
		renderers.Input{Data: string(text), Template: file, Saltenv: env, KW: kw, Context: context})
	if err != nil {
		c.Log(slog.LevelError, "Failed to render template with error: "+loader.Message(err))
		return "", nil
	}
	return place(client, out, url, dest, env, a.MakeDirs)
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
