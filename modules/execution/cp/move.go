package cp

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
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// movers are the functions that send files to the master, and receive those of salt-cp.
func movers() []loader.Func {
	return []loader.Func{
		loader.Fn("push", push, "Send a file of this minion to the master, which must allow it (file_recv).",
			"cp.push /etc/fstab"),
		loader.Fn("push_dir", pushDir,
			"Send a directory of this minion to the master, which must allow it (file_recv).",
			"cp.push_dir /etc/modprobe.d/ glob='*.conf'"),
		loader.Fn("recv", recv, "Write the files that salt-cp sends. It is not meant to be called by hand.", "cp.recv"),
		loader.Fn("recv_chunked", recvChunked,
			"Write a piece of a file that salt-cp sends. It is not meant to be called by hand.", "cp.recv_chunked"),
	}
}

// pushPiece is how many bytes of a file go to the master at a time, if file_buffer_size does not say so.
const pushPiece = 1 << 20

// pushed is a file to send.
type pushed struct {
	Path         string `arg:"path"`
	KeepSymlinks bool   `arg:"keep_symlinks=False"`
	UploadPath   any    `arg:"upload_path=None"`
	RemoveSource bool   `arg:"remove_source=False"`
}

func push(c *loader.Call, a pushed) (any, error) {
	return pushFile(c, a.Path, a.UploadPath, a.KeepSymlinks, a.RemoveSource)
}

func pushFile(c *loader.Call, path string, upload any, links, remove bool) (any, error) {
	if strings.Contains(path, "../") || !filepath.IsAbs(path) {
		return false, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && !links {
		path = real
	}
	to := path
	if python.Truth(upload) {
		if to = python.Str(upload); strings.Contains(to, "../") {
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
		if !python.Truth(v) {
			c.Log(slog.LevelError, "cp.push Failed transfer failed. Ensure master has 'file_recv' set to 'True' "+
				"and that the file is not larger than the 'file_recv_max_size' setting on the master.")
			return v, nil
		}
		if loc += int64(n); n == 0 {
			return true, nil
		}
	}
}

// pushedDir is a directory to send.
type pushedDir struct {
	Path       string `arg:"path"`
	Glob       any    `arg:"glob=None"`
	UploadPath any    `arg:"upload_path=None"`
}

func pushDir(c *loader.Call, a pushedDir) (any, error) {
	path := a.Path
	if strings.Contains(path, "../") || !filepath.IsAbs(path) {
		return false, nil
	}
	upload := a.UploadPath
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return pushFile(c, path, upload, false, false)
	}
	var files []string
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (a.Glob == nil || fnmatch.Match(loader.Text(a.Glob), e.Name())) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return false, err
	}
	for _, name := range files {
		to := upload
		if python.Truth(upload) {
			to = "/" + strings.Trim(python.Str(upload), "/") + "/" + strings.Trim(strings.TrimPrefix(name, path), "/")
		}
		if ok, err := pushFile(c, name, to, false, false); err != nil || !python.Truth(ok) {
			return ok, err
		}
	}
	return true, nil
}

// received are files by their names on the master.
type received struct {
	Files any    `arg:"files"`
	Dest  string `arg:"dest"`
}

// recv writes whole files: path as it was on the master to content.
func recv(_ *loader.Call, a received) (any, error) {
	files, ok := a.Files.(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", python.Type(a.Files))
	}
	dest, out := a.Dest, payload.NewMap(files.Len())
	for name, data := range files.All() {
		final, own := dest, filepath.Base(python.Str(name))
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

// chunk is a piece of a file.
type chunk struct {
	Dest       string `arg:"dest"`
	Chunk      any    `arg:"chunk"`
	Append     bool   `arg:"append=False"`
	Compressed bool   `arg:"compressed=True"`
	Mode       any    `arg:"mode=None"`
}

// recvChunked writes one piece, or makes a folder where there is none.
func recvChunked(c *loader.Call, a chunk) (any, error) {
	dest := a.Dest
	failed := func(err error) (any, error) {
		c.SetRetcode(1)
		var number syscall.Errno
		if errors.As(err, &number) {
			return loader.OSErrorText(number, dest), nil
		}
		return nil, err
	}
	if a.Chunk == nil {
		if info, err := os.Stat(dest); err == nil && info.Mode().IsRegular() {
			return "Path exists and is a file", nil
		}
		if err := os.MkdirAll(dest, 0o777); err != nil {
			return failed(err)
		}
		return true, nil
	}
	data, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r",
		"").Replace(string(payload.AsBytes(a.Chunk))))
	if err != nil {
		return nil, loader.Raise("binascii.Error", "%s", err)
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if a.Append {
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
func writePiece(f *os.File, data []byte, a chunk) error {
	var from io.Reader = bytes.NewReader(data)
	if a.Compressed {
		zip, err := gzip.NewReader(from)
		if err != nil {
			return err
		}
		from = zip
	}
	if _, err := io.Copy(f, from); err != nil {
		return err
	}
	mode := a.Mode
	if a.Append || mode == nil {
		return nil
	}
	n, err := loader.ToInt(mode)
	if err != nil {
		return err
	}
	return f.Chmod(fs.FileMode(n & 0o777))
}
