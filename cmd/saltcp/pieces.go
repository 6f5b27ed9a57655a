package saltcp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/wire/payload"
)

// found is a file or an empty folder to copy.
type found struct {
	path string
	from string // the source that contains it
	mode int64  // permissions of a file
	dir  bool
}

// look lists the files and the empty folders in the sources, each list in order.
func (cp *copying) look() (files, empty []found, err error) {
	for _, source := range cp.sources {
		if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, tool.Exit(exitNoSource, "%s does not exist", source)
		}
		err := filepath.WalkDir(source, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if !info.IsDir() {
				files = append(files, found{path: path, from: source, mode: int64(info.Mode().Perm())})
				return nil
			}
			inside, err := os.ReadDir(path)
			if err == nil && len(inside) == 0 {
				empty = append(empty, found{path: path, from: source, dir: true})
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return files, empty, nil
}

// remote returns the destination path on a minion. dir means that dest is a folder.
func (cp *copying) remote(f found, dir bool) string {
	if f.path == f.from {
		if dir {
			return filepath.Join(cp.dest, filepath.Base(f.path))
		}
		return cp.dest
	}
	rel, err := filepath.Rel(f.from, f.path)
	if err != nil { // impossible, because both are absolute
		rel = filepath.Base(f.path)
	}
	return filepath.Join(cp.dest, filepath.Base(f.from), rel)
}

// pieces sends every file in pieces, each in its own job, and then the empty folders.
func (cp *copying) pieces(ctx context.Context) (*payload.Map, error) {
	files, empty, err := cp.look()
	if err != nil {
		return nil, err
	}
	dir := len(empty) > 0 || len(files) > 1 || strings.HasSuffix(cp.dest, "/") || strings.HasSuffix(cp.dest, "\\")
	ret := payload.NewMap(0)
	for _, f := range files {
		if err := cp.send(ctx, f, cp.remote(f, dir), ret); err != nil {
			return nil, err
		}
	}
	for _, f := range empty {
		to := cp.remote(f, dir)
		got, ok, err := cp.call(ctx, "cp.recv_chunked", to, nil)
		if err != nil {
			return nil, err
		}
		if !ok || got.Len() == 0 {
			cp.unsent(ret, to, "Publish failed.")
		}
		note(ret, to, got)
	}
	if ret.Len() == 0 {
		return nil, nil
	}
	return ret, nil
}

// send sends one file. The result for a minion is its first answer that is not True.
func (cp *copying) send(ctx context.Context, f found, to string, ret *payload.Map) error {
	in, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	size, ok := cp.Common.Raw.Int("salt_cp_chunk_size")
	if !ok || size <= 0 {
		return fmt.Errorf("salt_cp_chunk_size is %v, and must be above 0", cp.Common.Raw.Value("salt_cp_chunk_size"))
	}
	zip, piece, failed := cp.Opt.Bool("gzip"), make([]byte, size), payload.NewMap(0)
	for n := 0; ; n++ {
		read, err := io.ReadFull(in, piece)
		if read == 0 && n > 0 { // Unlike Salt: an empty file is sent, too
			break
		}
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		chunk, err := packed(piece[:read], zip)
		if err != nil {
			return err
		}
		got, ok, err := cp.call(ctx, "cp.recv_chunked", to, chunk, n > 0, zip, f.mode)
		if err != nil {
			return err
		}
		if !ok || got.Len() == 0 {
			cp.unsent(ret, to, cp.publishFailed(n > 0, size))
			break
		}
		note(ret, to, got)
		for id, v := range got.All() {
			if v != true && !failed.Has(id) {
				failed.Set(id, v)
			}
		}
	}
	note(ret, to, failed)
	return nil
}

// packed encodes a piece for the job.
func packed(piece []byte, zip bool) (string, error) {
	if zip {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(piece); err != nil {
			return "", err
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		piece = out.Bytes()
	}
	return base64.StdEncoding.EncodeToString(piece), nil
}

// note adds the minions' answers about one path to the result.
func note(ret *payload.Map, path string, got *payload.Map) {
	for id, v := range got.All() {
		of := ret.Map(fmt.Sprint(id))
		if of == nil {
			of = payload.NewMap(1)
			ret.Set(id, of)
		}
		of.Set(path, v)
	}
}

func (cp *copying) publishFailed(begun bool, size int64) string {
	text := "Publish failed."
	if begun {
		text += " File partially transferred."
	}
	return fmt.Sprintf("%s It may be necessary to decrease salt_cp_chunk_size (current value: %d)", text, size)
}

// unsent notes for all targeted minions that a job did not reach them.
func (cp *copying) unsent(ret *payload.Map, path, why string) {
	meant, err := masterlink.Expander(cp.Session).Expand(context.Background(), cp.tgt, cp.tgtType,
		cp.Opt.Str("delimiter"), true)
	if err != nil {
		cp.Log.Error(err.Error())
	}
	got := payload.NewMap(len(meant.Minions))
	for _, id := range meant.Minions {
		got.Set(id, why)
	}
	note(ret, path, got)
}
