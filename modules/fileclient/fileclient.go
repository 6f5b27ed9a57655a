// Package fileclient fetches files for a minion: from the file server of its master or of its own machine (salt://), by
// http and https, and puts them into the cache or where they are wanted. The cache is laid out as Salt's:
// files/ENV/PATH for salt://, extrn_files/ENV/HOST/PATH for other URLs, localfiles/PATH for files of the machine.
// Nothing is written out of it by a path, an environment or a link. The package knows no daemon: how to ask, and who
// else wants the same file, comes in by Options. Answers to salt/fileclient.py.
package fileclient

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"

	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/wire/payload"
)

// Options of a Client.
type Options struct {
	CacheDir string
	HashType string // of files of this machine (hash_type)
	// Ask asks the file server: a command of the wire with its answer.
	Ask func(ctx context.Context, load *payload.Map) (any, error)
	// AskIn is Ask for pieces of files: what is long in the answer may stand in room, and beside may be done along with
	// it (loader.PieceChannel). nil: Ask is.
	AskIn func(ctx context.Context, load *payload.Map, room []byte, beside payload.Beside) (any, error)
	// Transfers lets one fetch a file for all who want it now; nil: everybody fetches.
	Transfers loader.Transfers
	Log       func(level slog.Level, text string) // nil: nobody reads it
}

// Client fetches and lists files. It is safe for concurrent use.
type Client struct{ opt Options }

// New returns a client.
func New(opt Options) *Client {
	if opt.Log == nil {
		opt.Log = func(slog.Level, string) {}
	}
	return &Client{opt}
}

// For is the client of a function call: file_client says whose files it fetches.
func For(c *loader.Call) (*Client, error) {
	opts, host := c.Opts(), c.Host()
	o := Options{CacheDir: opts.Str("cachedir"), HashType: strings.ToLower(opts.Str("hash_type")),
		Transfers: host.Transfers, Log: c.Log}
	if opts.Str("file_client") == "local" {
		s, err := fileserver.Configured(opts)
		if s == nil {
			return nil, err
		}
		o.Ask = Local(s)
		return New(o), nil
	}
	if m, ok := host.Master.(loader.PieceChannel); ok {
		o.AskIn = m.RequestIn
	}
	o.Ask = func(ctx context.Context, load *payload.Map) (any, error) {
		if host.Master == nil {
			return nil, &loader.ClientError{Message: "there is no master to fetch files from"}
		}
		return host.Master.Request(ctx, load)
	}
	return New(o), nil
}

// Local asks a file server in this process.
func Local(s *fileserver.Server) func(context.Context, *payload.Map) (any, error) {
	return func(_ context.Context, load *payload.Map) (any, error) {
		v, known, err := s.Answer(load.Str("cmd"), load)
		if !known {
			return payload.NewMap(0), nil
		}
		return v, err
	}
}

// Envs lists the environments.
func (c *Client) Envs(ctx context.Context) (any, error) {
	return c.opt.Ask(ctx, payload.M("cmd", payload.CmdFileEnvs))
}

// List asks for names: by CmdFileList, CmdDirList, CmdFileListEmptyDirs or CmdSymlinkList.
func (c *Client) List(ctx context.Context, cmd, env, prefix string) (any, error) {
	return c.opt.Ask(ctx, payload.M("saltenv", env, "prefix", prefix, "cmd", cmd))
}

// names are the names of a list. What is no text is left out.
func (c *Client) names(ctx context.Context, cmd, env, prefix string) ([]string, error) {
	v, err := c.List(ctx, cmd, env, prefix)
	return payload.Texts(v), err
}

// States lists the SLS of an environment, as names with dots, in order.
func (c *Client) States(ctx context.Context, env string) ([]string, error) {
	names, err := c.names(ctx, payload.CmdFileList, env, "")
	if err != nil {
		return nil, err
	}
	states := map[string]bool{}
	for _, name := range names {
		if sls, ok := strings.CutSuffix(name, ".sls"); ok {
			sls = strings.TrimSuffix(sls, "/init")
			states[strings.ReplaceAll(sls, "/", ".")] = true
		}
	}
	return sorted(states), nil
}

// unsupported is the error for a path that is no salt:// URL, where one is needed.
func unsupported(path string) error {
	return loader.Raise("salt.exceptions.MinionError", "Unsupported path: %s", path)
}

// leads is the error for what would be written out of the cache.
func leads(what string) error {
	return loader.Raise("salt.exceptions.MinionError", "%s leads out of the cache", payload.Show(what))
}

// cached is a path below a folder of the cache.
func (c *Client) cached(parts ...string) string {
	return filepath.Join(append([]string{c.opt.CacheDir}, parts...)...)
}
