package cpmod

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

func movers() []loader.Func {
	path, dest := loader.Req("path"), loader.Req("dest")
	upload := loader.Opt("upload_path", nil)
	return []loader.Func{
		{Name: "cp.push", Params: []loader.Param{path, loader.Opt("keep_symlinks", false), upload, loader.Opt("remove_source", false)}, Run: push,
			Doc: "Send a file of this minion to the master, which must allow it (file_recv).\n\nCLI Example:\n\n    salt '*' cp.push /etc/fstab"},
		{Name: "cp.push_dir", Params: []loader.Param{path, loader.Opt("glob", nil), upload}, Run: pushDir,
			Doc: "Send a directory of this minion to the master, which must allow it (file_recv).\n\nCLI Example:\n\n    salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'"},
		{Name: "cp.recv", Params: []loader.Param{loader.Req("files"), dest}, Run: recv,
			Doc: "Write the files that salt-cp sends. It is not meant to be called by hand.\n\nCLI Example:\n\n    salt '*' cp.recv"},
		{Name: "cp.recv_chunked", Params: []loader.Param{dest, loader.Req("chunk"), loader.Opt("append", false), loader.Opt("compressed", true), loader.Opt("mode", nil)},
			Run: recvChunked, Doc: "Write a piece of a file that salt-cp sends. It is not meant to be called by hand.\n\nCLI Example:\n\n    salt '*' cp.recv_chunked"},
	}
}

// pushPiece is how many bytes of a file go to the master at a time, if file_buffer_size does not say so.
const pushPiece = 1 << 20

func push(c *loader.Call, a loader.Args) (any, error) {
	return pushFile(c, a.Str("path"), a.Get("upload_path"), a.Bool("keep_symlinks"), a.Bool("remove_source"))
}

func pushFile(c *loader.Call, path string, upload any, links, remove bool) (any, error) {
	if strings.Contains(path, "../") || !filepath.IsAbs(path) {
		return false, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && !links {
		path = real
	}
	to := path
	if loader.Truthy(upload) {
		if to = pytext.Str(upload); strings.Contains(to, "../") {
			return false, nil
		}
	}
	var parts []any
	for part := range strings.SplitSeq(filepath.Clean(strings.TrimLeft(to, "/")), "/") {
		if part != "" {
			parts = append(parts, part)
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	if c.Host().Master == nil {
		return nil, &loader.ClientError{Message: "there is no master to send files to"}
	}
	ok, err := send(c, f, payload.M("cmd", payload.CmdFileRecv, "id", c.Env.ID, "path", parts, "size", info.Size()))
	if err != nil || ok != true || !remove {
		return ok, err
	}
	if err := os.Remove(path); err != nil {
		c.Log(slog.LevelError, "cp.push failed to remove file '"+path+"'")
		return false, nil
	}
	return true, nil
}

// send sends a file piece by piece, an empty one as one empty piece.
func send(c *loader.Call, f io.Reader, load *payload.Map) (any, error) {
	size, ok := c.Opts().Int("file_buffer_size")
	if !ok || size <= 0 {
		size = pushPiece
	}
	piece := make([]byte, size)
	for loc := int64(0); ; {
		n, err := io.ReadFull(f, piece)
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		if n == 0 && loc > 0 {
			return true, nil
		}
		v, err := c.Host().Master.Request(c.Ctx, load.Clone().Set("loc", loc).Set("data", payload.Bytes(piece[:n])))
		if err != nil {
			return nil, err
		}
		if !loader.Truthy(v) {
			c.Log(slog.LevelError, "cp.push Failed transfer failed. Ensure master has 'file_recv' set to 'True' and that the file "+
				"is not larger than the 'file_recv_max_size' setting on the master.")
			return v, nil
		}
		if loc += int64(n); n == 0 {
			return true, nil
		}
	}
}

func pushDir(c *loader.Call, a loader.Args) (any, error) {
	path := a.Str("path")
	if strings.Contains(path, "../") || !filepath.IsAbs(path) {
		return false, nil
	}
	upload := a.Get("upload_path")
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return pushFile(c, path, upload, false, false)
	}
	var files []string
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (a.Get("glob") == nil || matchers.GlobMatch(a.Str("glob"), e.Name())) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return false, err
	}
	for _, name := range files {
		to := upload
		if loader.Truthy(upload) {
			to = "/" + strings.Trim(pytext.Str(upload), "/") + "/" + strings.Trim(strings.TrimPrefix(name, path), "/")
		}
		if ok, err := pushFile(c, name, to, false, false); err != nil || !loader.Truthy(ok) {
			return ok, err
		}
	}
	return true, nil
}

// recv writes whole files: path as it was on the master to content.
func recv(_ *loader.Call, a loader.Args) (any, error) {
	files, ok := a.Get("files").(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", pytext.Type(a.Get("files")))
	}
	dest, out := a.Str("dest"), payload.NewMap(files.Len())
	for name, data := range files.All() {
		final, own := dest, filepath.Base(pytext.Str(name))
		switch {
		case own == filepath.Base(dest) && !isDir(dest):
		case isDir(dest):
			final = filepath.Join(dest, own)
		case isDir(filepath.Dir(dest)):
		default:
			return "Destination unavailable", nil
		}
		text := payload.AsBytes(data)
		out.Set(final, os.WriteFile(final, text, 0o666) == nil)
	}
	return out, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// recvChunked writes one piece, or makes a folder where there is none.
func recvChunked(c *loader.Call, a loader.Args) (any, error) {
	dest := a.Str("dest")
	failed := func(err error) (any, error) {
		c.SetRetcode(1)
		var number syscall.Errno
		if errors.As(err, &number) {
			return loader.OSErrorText(number, dest), nil
		}
		return nil, err
	}
	if a.Get("chunk") == nil {
		if info, err := os.Stat(dest); err == nil && info.Mode().IsRegular() {
			return "Path exists and is a file", nil
		}
		if err := os.MkdirAll(dest, 0o777); err != nil {
			return failed(err)
		}
		return true, nil
	}
	data, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(string(payload.AsBytes(a.Get("chunk")))))
	if err != nil {
		return nil, loader.Raise("binascii.Error", "%s", err)
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if a.Bool("append") {
		how = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(dest, how, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
			return failed(err)
		}
		f, err = os.OpenFile(dest, how, 0o666)
	}
	if err != nil {
		return failed(err)
	}
	if err := errors.Join(writePiece(f, data, a), f.Close()); err != nil {
		return failed(err)
	}
	return true, nil
}

// writePiece writes a piece, through gzip if it is packed; the first one has the mode of the file with it.
func writePiece(f *os.File, data []byte, a loader.Args) error {
	var from io.Reader = bytes.NewReader(data)
	if a.Bool("compressed") {
		zip, err := gzip.NewReader(from)
		if err != nil {
			return err
		}
		from = zip
	}
	if _, err := io.Copy(f, from); err != nil {
		return err
	}
	mode := a.Get("mode")
	if a.Bool("append") || mode == nil {
		return nil
	}
	n, err := loader.ToInt(mode)
	if err != nil {
		return err
	}
	return f.Chmod(fs.FileMode(n & 0o777))
}
