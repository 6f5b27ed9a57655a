package archive

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// remotes are the protocols that nobody vouches for.
const remotes = " http https ftp swift s3 "

// fetch puts the archive into the cache; why is what is wrong with it. Unlike Salt: an archive with another hash does
// not stay in the cache.
func (e *extraction) fetch() (why string, err error) {
	u, err := url.Parse(e.match)
	if err != nil {
		return "Only URLs or local file paths are valid input", nil
	}
	if !e.SkipVerify && e.sum == nil && !e.ETag && strings.Contains(remotes, " "+u.Scheme+" ") {
		return "Unable to verify upstream hash of source file " + e.shown() +
			", please set source_hash or set skip_verify or " +
			"use_etag to True", nil
	}
	sum, form := e.sum.Str("hsum"), e.sum.Str("hash_type")
	if form == "" {
		form = e.hashType()
	}
	v, err := e.c.Salt("cp.cache_file", payload.M("saltenv", e.c.Saltenv, "source_hash", orNone(sum), "use_etag",
		e.ETag),
		e.match)
	switch {
	case err != nil:
		return strings.ReplaceAll(loader.Message(err), e.match, e.shown()), nil
	case !python.Truth(v):
		return "Failed to cache " + e.shown() + ", check minion log for more information", nil
	}
	e.file = python.Str(v)
	if e.SkipVerify || sum == "" {
		return e.checkSignature()
	}
	have, err := plainfile.Hash(e.c.Ctx, e.file, form)
	if err != nil {
		return "", err
	}
	if have != sum {
		if err := os.Remove(e.file); err != nil {
			return "", err
		}
		return "File is cached to " + e.file + ", but the hash (" + have + ") does not match the specified hash (" +
			sum + ")", nil
	}
	return e.checkSignature()
}

func orNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// checkSignature has the signature of the archive checked.
func (e *extraction) checkSignature() (why string, err error) {
	if !python.Truth(e.Signature) {
		return "", nil
	}
	files := []any{}
	list, several := e.Signature.([]any)
	if !several {
		list = []any{e.Signature}
	}
	for _, sig := range list {
		v, err := e.c.Salt("cp.cache_file", nil, sig, e.c.Saltenv)
		if err != nil {
			return "", err
		}
		if !python.Truth(v) {
			return "Failed verifying the source file's signature: Detached signature file " + python.Str(sig) +
				" not found", nil
		}
		files = append(files, v)
	}
	kw := e.sigArgs(payload.M("filename", e.file, "signature", files))
	if !several {
		kw.Set("signature", files[0])
	}
	v, err := e.c.Salt(e.SigBackend+".verify", kw)
	res, _ := v.(*payload.Map)
	switch {
	case err != nil:
		return "Failed verifying the source file's signature: " + loader.Message(err), nil
	case res.Bool("res"):
		return "", nil
	}
	if !e.local {
		_ = os.Remove(e.file)
	}
	return "Failed verifying the source file's signature: The file's signature could not be verified: " +
		res.Str("message"), nil
}

func (e *extraction) hashType() string {
	if form := e.c.Opts().Str("hash_type"); form != "" {
		return form
	}
	return "sha256"
}

// cachedPath is where the archive is, or would be in the cache.
func (e *extraction) cachedPath() string {
	if e.local {
		return e.match
	}
	if v, err := e.c.Salt("cp.is_cached", nil, e.match, e.c.Saltenv); err == nil && python.Truth(v) {
		return python.Str(v)
	}
	u, err := url.Parse(e.match)
	if err != nil {
		return ""
	}
	return filepath.Join(e.c.Opts().Str("cachedir"), "extrn_files", e.c.Saltenv, u.Host, u.Path)
}

// sumFile is where the sum of an archive is kept.
func (e *extraction) sumFile(path string) string {
	cache := e.c.Opts().Str("cachedir")
	rel, err := filepath.Rel(cache, path)
	rel += ".hash"
	if err != nil || strings.HasPrefix(rel, "../") {
		rel = "local" + path
	}
	return filepath.Join(cache, "archive_hash", rel)
}

// readSum is the sum that an archive had when it was last unpacked, "" where nobody knows.
func (e *extraction) readSum(path, form string) string {
	text, err := plainfile.Read(e.sumFile(path), 1<<16)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if kind, sum, ok := strings.Cut(strings.TrimRight(line, "\n"), ":"); ok && kind == form {
			return sum
		}
	}
	return ""
}

// writeSum keeps the sum of the archive.
func (e *extraction) writeSum() error {
	form, file := e.hashType(), e.sumFile(e.file)
	sum, err := plainfile.Hash(e.c.Ctx, e.file, form)
	if err != nil {
		return err
	}
	old, _ := plainfile.Read(file, 1<<16) // what cannot be read is written anew
	text, found := "", false
	for line := range strings.Lines(string(old)) {
		if kind, _, ok := strings.Cut(line, ":"); ok && kind == form {
			line, found = form+":"+sum+"\n", true
		}
		text += line
	}
	if !found {
		text += form + ":" + sum + "\n"
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return wholefile.Write(file, []byte(text), wholefile.Options{Mode: 0o644})
}
