package fileclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Want says where a file goes, and how it comes.
type Want struct {
	Env      string
	Dest     string // "": into the cache; a folder: under its own name
	MakeDirs bool   // the folder of Dest is made
	Gzip     int    // level by which the server compresses; 0: not at all
}

// How often a transfer is begun anew because what came is not what was asked for, and how often a piece is asked for
// again although no request brought an answer. Each of those has had the tries of every request.
const (
	wholeTries = 3
	pieceTries = 3
)

// GetFile fetches a file of the file server, unless it is in its place already, and returns the path; found is false
// when the server has no such file, or its folder is not to be made. What comes is checked by the server's hash:
// nothing is in its place before it is whole. Unlike Salt, which writes into the file that is there, and does not look
// at the hash afterwards.
func (c *Client) GetFile(ctx context.Context, url string, w Want) (path string, found bool, err error) {
	url, env := SplitEnv(url)
	if env != "" {
		w.Env = env
	}
	name, remote := serverPath(url)
	t := &transfer{c: c, name: name, want: w, sum: c.serverHash(ctx, url, w)}
	if t.sum.has() {
		if found, err := t.found(ctx); !found {
			return "", false, err
		}
	}
	if !remote {
		return "", false, unsupported(url)
	}
	if path, err = t.place(url); path == "" || err != nil {
		return "", false, err
	}
	if t.same(path) {
		return path, true, nil
	}
	err = c.once(ctx, "file "+path+" "+w.Env+" "+name, t.run)
	if errors.Is(err, errAbsent) {
		return "", false, t.absent(ctx)
	}
	return path, err == nil, err
}

// serverHash is the hash of a file. It may come later when nothing is in the way of beginning before: the file goes to
// a place in the cache that is empty.
func (c *Client) serverHash(ctx context.Context, url string, w Want) *promise {
	name, remote := serverPath(url)
	if rel, ok := slot(w.Env, name); ok && remote && w.Dest == "" {
		if _, err := os.Lstat(c.cached("files", rel)); errors.Is(err, fs.ErrNotExist) {
			return c.promise(ctx, url, w.Env)
		}
	}
	return kept(c.Hash(ctx, url, w.Env))
}

// found tells whether the server has the file, by the hash that has come.
func (t *transfer) found(ctx context.Context) (bool, error) {
	switch {
	case t.sum.err != nil:
		return false, t.sum.err
	case !t.sum.absent():
		return true, nil
	case t.sum.v == "":
		return false, t.absent(ctx)
	}
	return false, nil
}

// place finds where the file goes: "" when the folder of it is not to be made.
func (t *transfer) place(url string) (path string, err error) {
	c, w := t.c, t.want
	if w.Dest == "" {
		rel, ok := slot(w.Env, t.name)
		if !ok {
			return "", leads(url + " of " + w.Env)
		}
		t.open = func() (*sink, error) { return inCache(c.cached("files"), rel) }
		return c.cached("files", rel), nil
	}
	path = w.Dest
	if info, err := os.Stat(path); strings.HasSuffix(path, "/") || err == nil && info.IsDir() {
		path = filepath.Join(path, filepath.Base(t.name))
	}
	if ok, err := parent(path, w.MakeDirs); !ok {
		return "", err
	}
	t.open = func() (*sink, error) { return atPlace(path) }
	return path, nil
}

// absent is nil when the server has no such file, and an error when it could not look: as a hash it tells the same of
// both.
func (t *transfer) absent(ctx context.Context) error {
	v, err := t.c.opt.Ask(ctx, payload.M("path", t.name, "saltenv", t.want.Env, "cmd", payload.CmdFileFind))
	if _, told := v.(*payload.Map); err == nil && !told {
		err = &loader.ClientError{Message: fmt.Sprintf("the file server could not look for %s: its log tells why",
			payload.Show(scheme+t.name))}
	}
	return err
}

// transfer brings one file to its place.
type transfer struct {
	c    *Client
	name string
	want Want
	sum  *promise
	open func() (*sink, error)
}

// same tells whether the file in its place is the server's.
func (t *transfer) same(path string) bool {
	kind, want := t.sum.hash()
	if hashers[kind] == nil || !isFile(path) {
		return false
	}
	got, err := hashOf(path, kind)
	return err == nil && got == want
}

// run fetches until what came is what the server says that it has.
func (t *transfer) run(ctx context.Context) error {
	for try := 1; ; try++ {
		got, err := t.fetch(ctx)
		kind, want := t.sum.hash()
		if err != nil || got == want || hashers[kind] == nil {
			return err
		}
		if try == wholeTries {
			return &loader.ClientError{Message: fmt.Sprintf("%s could not be fetched: its hash is %s, and not %s",
				t.name, got, want)}
		}
		t.c.opt.Log(slog.LevelWarn, fmt.Sprintf("Bad download of file %s, attempt %d of %d", payload.Show(t.name), try,
			wholeTries))
		t.sum = kept(t.c.Hash(ctx, scheme+t.name, t.want.Env)) // it may be another file by now
		if t.sum.err != nil {
			return t.sum.err
		}
	}
}

var (
	// errOther means that what came is not what was asked for.
	errOther = errors.New("fileclient: not the file that was asked for")
	// errAbsent means that the server has no such file, as it told when pieces of it had been asked for already.
	errAbsent = errors.New("fileclient: no such file")
)

// fetch brings the file once, and returns the hash of what came. It is put in its place only if that is the wanted one.
func (t *transfer) fetch(ctx context.Context) (got string, err error) {
	out := &landing{open: t.open}
	kind := t.c.opt.HashType // a guess, as long as the server has not told
	if t.sum.has() {
		kind, _ = t.sum.hash()
	}
	var sum hash.Hash
	if newHash := hashers[kind]; newHash != nil {
		sum = newHash()
	}
	err = t.pieces(ctx, out, sum)
	if err == nil {
		got, err = t.judge(ctx, out, kind, sum)
	}
	if err = out.finish(err); errors.Is(err, errOther) {
		err = nil
	}
	return got, err
}

// judge waits for the server's hash, where it has not come, and compares. What was hashed in another way is read again.
func (t *transfer) judge(ctx context.Context, out *landing, guess string, sum hash.Hash) (got string, err error) {
	if err := t.sum.wait(ctx); err != nil {
		return "", err
	}
	kind, want := t.sum.hash()
	switch newHash := hashers[kind]; {
	case t.sum.absent():
		return "", errAbsent
	case newHash == nil:
		return "", nil
	case kind != guess:
		sum = newHash()
		if err := out.readAgain(sum); err != nil {
			return "", err
		}
	}
	if got = hex.EncodeToString(sum.Sum(nil)); got != want {
		err = errOther
	}
	return got, err
}

// pieces brings one piece after the other, until the hash is the one that the server has told, or there are no more.
// After a request without an answer the next one asks for the same piece.
func (t *transfer) pieces(ctx context.Context, out io.Writer, sum hash.Hash) error {
	h := newHashing(sum)
	r := t.reader(ctx, h)
	defer r.abandon()
	began, failed := time.Now(), 0
	for loc := int64(0); r.comes() || !t.whole(h); {
		p := r.at(loc)
		if p.err != nil {
			if failed++; failed >= pieceTries || ctx.Err() != nil {
				return t.broken(ctx, p.err, time.Since(began))
			}
			t.c.opt.Log(slog.LevelWarn, fmt.Sprintf("Data transport is broken at byte %d of %s, attempt %d of %d: %s",
				loc, payload.Show(t.name), failed, pieceTries, p.err))
			r.again(p)
			continue
		}
		failed = 0
		if len(p.data) == 0 || t.whole(h) {
			break
		}
		n, err := t.take(r, h, out, p)
		if err != nil {
			return fmt.Errorf("fetch %s: %w", payload.Show(t.name), err)
		}
		loc += n
	}
	h.settle()
	r.drain()
	return nil
}

// shortPiece is the length below which a first piece is taken for the whole file, in bytes, until the hash says
// something else: servers send more at a time, and none is asked for what is behind the end.
const shortPiece = 64 << 10

// take writes a piece, and has more asked for. The hash of what is not the first one comes later, if more comes.
func (t *transfer) take(r *reader, h *hashing, out io.Writer, p *piece) (n int64, err error) {
	if p.loc > 0 && !p.packed {
		h.later(p.data, func() { r.giveBack(p) })
		r.ahead(p)
		n, err := out.Write(p.data)
		return int64(n), err
	}
	n, err = unpack(io.MultiWriter(out, h), p.data, p.packed)
	if err == nil && n < shortPiece { // of a small file it is all, as the hash tells
		err = t.sum.wait(r.ctx)
	}
	if err == nil && !t.whole(h) {
		r.ahead(p)
	}
	r.giveBack(p)
	return n, err
}

// whole tells whether all has come, as far as the hash tells.
func (t *transfer) whole(h *hashing) bool {
	if !t.sum.has() {
		return false
	}
	_, want := t.sum.hash()
	h.settle()
	return h.sum != nil && hex.EncodeToString(h.sum.Sum(nil)) == want
}

// piece asks for one piece.
func (t *transfer) piece(ctx context.Context, load *payload.Map, loc int64, room []byte, beside payload.Beside) *piece {
	p := &piece{loc: loc, room: room}
	var v any
	if t.c.opt.AskIn != nil {
		v, p.err = t.c.opt.AskIn(ctx, load, room, beside)
	} else {
		v, p.err = t.c.opt.Ask(ctx, load)
	}
	m, ok := v.(*payload.Map)
	if p.err == nil && (!ok || !m.Has("data")) {
		p.err = fmt.Errorf("no piece of a file: %s", payload.Show(fmt.Sprint(v)))
	}
	if p.err == nil {
		p.data, p.packed = m.Bytes("data"), m.Has("gzip") && python.Truth(m.Value("gzip"))
	}
	return p
}

// broken is the error of a transfer that could not go on.
func (t *transfer) broken(ctx context.Context, err error, after time.Duration) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, loader.ErrRequestTimeout):
		return &loader.ClientError{Message: fmt.Sprintf("File client timed out after %d seconds", int(after.Seconds()))}
	}
	return err
}

// unpack writes a piece, through gzip if it is packed, and returns how many bytes it has.
func unpack(out io.Writer, data []byte, packed bool) (int64, error) {
	if !packed {
		n, err := out.Write(data)
		return int64(n), err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	return io.Copy(out, r)
}
