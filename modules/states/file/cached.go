package file

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type cachedArgs struct {
	Name       any  `arg:"name"`
	Hash       any  `arg:"source_hash=''"`
	HashName   any  `arg:"source_hash_name=None"`
	SkipVerify bool `arg:"skip_verify=False"`
	Saltenv    any  `arg:"saltenv=base"`
	ETag       bool `arg:"use_etag=False"`
	HashSig    any  `arg:"source_hash_sig=None"`
	SignedAny  any  `arg:"signed_by_any=None"`
	SignedAll  any  `arg:"signed_by_all=None"`
	Keyring    any  `arg:"keyring=None"`
	GnuPGHome  any  `arg:"gnupghome=None"`
	SigBackend any  `arg:"sig_backend=gpg"`
}

// fromOthers are schemes of other machines that are no file servers.
var fromOthers = []string{"http", "https", "ftp", "swift", "s3"}

// schemeOf is what stands before the colon of a URL.
func schemeOf(url string) string {
	scheme, _, ok := strings.Cut(url, ":")
	if !ok || strings.ContainsAny(scheme, "/ ") {
		return ""
	}
	return strings.ToLower(scheme)
}

// localFile is a file of this minion in a URL or a path; ok is false for one of others.
func localFile(c *states.Call, url string) (name string, ok bool, err error) {
	scheme := schemeOf(url)
	if scheme != "" && scheme != "file" {
		return "", false, nil
	}
	url = strings.TrimPrefix(url, "file://")
	name, err = expanded(c, url)
	return pypath.Real(name), true, err
}

// cached has a file in the cache of this minion.
func cached(c *states.Call, a cachedArgs) (states.Plan, error) {
	url := loader.Text(a.Name)
	if !a.SkipVerify && !python.Truth(a.Hash) && !a.ETag && slices.Contains(fromOthers, schemeOf(url)) {
		return states.Wrong(fmt.Sprintf("Unable to verify upstream hash of source file %s, please set source_hash or set "+
			"skip_verify or use_etag to True", fileclient.Redact(url))), nil
	}
	var sum *payload.Map
	if python.Truth(a.Hash) {
		v, err := c.Salt("file.get_source_sum", payload.M("source", url, "source_hash", a.Hash, "source_hash_name",
			a.HashName, "saltenv", a.Saltenv, "source_hash_sig", a.HashSig, "signed_by_any", a.SignedAny, "signed_by_all",
			a.SignedAll, "keyring", a.Keyring, "gnupghome", a.GnuPGHome, "sig_backend", a.SigBackend))
		if err != nil {
			return states.Wrong(loader.Message(err)), nil
		}
		sum, _ = v.(*payload.Map)
	}
	client, err := fileclient.For(c.Call)
	if err != nil {
		return states.Plan{}, err
	}
	f := &cachedFile{a, url, loader.Text(a.Saltenv), sum, client}
	comment, err := f.told(c)
	if err != nil {
		return states.Plan{}, err
	}
	return states.Would(comment, nil, func() (states.Done, error) { return f.apply(c) }), nil
}

// cachedFile is a file that should be in the cache.
type cachedFile struct {
	cachedArgs
	url, env string
	sum      *payload.Map // nil: any
	client   *fileclient.Client
}

// form is the kind of hash by which files are compared.
func (f *cachedFile) form(c *states.Call) string {
	if f.sum != nil {
		return f.sum.Str("hash_type")
	}
	return c.Opts().Str("hash_type")
}

func (f *cachedFile) hash(c *states.Call, name string) (string, error) {
	v, err := c.Salt("file.get_hash", nil, name, f.form(c))
	return loader.Text(v), err
}

// told is the comment of test mode.
func (f *cachedFile) told(c *states.Call) (string, error) {
	at := f.client.IsCached(f.url, f.env)
	switch {
	case at == "":
		return "File will be cached: " + f.url, nil
	case f.sum == nil:
		return "No hash found. File will be cached: " + f.url, nil
	}
	now, err := f.hash(c, at)
	if err != nil {
		return "", err
	}
	same := now == f.sum.Str("hsum")
	return cond(same, "File already cached: ", "Hashes don't match.\nFile will be cached: ") + f.url, nil
}

// apply fetches the file.
func (f *cachedFile) apply(c *states.Call) (states.Done, error) {
	if name, own, err := localFile(c, f.url); own || err != nil {
		if err != nil {
			return states.Done{}, err
		}
		return f.ofMinion(c, name)
	}
	before := any(nil)
	if at := f.client.IsCached(f.url, f.env); at != "" {
		sum, err := f.hash(c, at)
		if err != nil {
			return states.Done{}, err
		}
		before = sum
	}
	v, err := f.client.CacheFile(c.Ctx, f.url, f.env, fileclient.Fetch{SourceHash: f.sum.Str("hsum"), ETag: f.ETag})
	if err != nil {
		return states.Failed(fileclient.Redact(loader.Message(err)), nil)
	}
	at, ok := v.(string)
	if !ok || at == "" {
		return states.Failed(fmt.Sprintf("Failed to cache %s, check minion log for more information",
			fileclient.Redact(f.url)), nil)
	}
	after, err := f.hash(c, at)
	if err != nil {
		return states.Done{}, err
	}
	changes := payload.NewMap(0)
	if before != any(after) {
		changes.Set("hash", payload.M("old", before, "new", after))
	}
	switch {
	case f.SkipVerify || f.sum == nil:
		return states.Changed("File is cached to "+at, changes)
	case after == f.sum.Str("hsum"):
		return states.Changed(fmt.Sprintf("File is already cached to %s with hash %s", at, after), changes)
	}
	if slices.Contains(fromOthers, schemeOf(f.url)) {
		_ = os.Remove(at) // nothing of it stays
	}
	return states.Failed(fmt.Sprintf("File is cached to %s, but the hash (%s) does not match the specified hash (%s)", at,
		after, f.sum.Str("hsum")), changes)
}

// ofMinion is for a file of this minion, which needs no cache.
func (f *cachedFile) ofMinion(c *states.Call, name string) (states.Done, error) {
	if !exists(name) {
		return states.Failed("File "+name+" is not present on the minion", nil)
	}
	if f.SkipVerify || f.sum == nil {
		return states.Changed("File "+name+" is present on the minion", nil)
	}
	sum, err := f.hash(c, name)
	if err != nil {
		return states.Done{}, err
	}
	if sum == f.sum.Str("hsum") {
		return states.Changed(fmt.Sprintf("File %s is present on the minion and has hash %s", name, sum), nil)
	}
	return states.Failed(fmt.Sprintf("File %s is present on the minion, but the hash (%s) does not match the specified "+
		"hash (%s)", name, sum, f.sum.Str("hsum")), nil)
}

type notCachedArgs struct {
	Name    any `arg:"name"`
	Saltenv any `arg:"saltenv=base"`
}

// notCached has no copy of a file in the cache. Unlike Salt, whose test mode removes it.
func notCached(c *states.Call, a notCachedArgs) (states.Plan, error) {
	url := loader.Text(a.Name)
	if name, own, err := localFile(c, url); own || err != nil {
		return states.Correct("File " + name + " is a local path, no action taken"), err
	}
	client, err := fileclient.For(c.Call)
	if err != nil {
		return states.Plan{}, err
	}
	at := client.IsCached(url, loader.Text(a.Saltenv))
	if at == "" {
		return states.Correct(url + " is not cached"), nil
	}
	return states.Would(at+" is set to be deleted", payload.M("deleted", true), func() (states.Done, error) {
		if err := os.Remove(at); err != nil {
			return states.Failed(fmt.Sprintf("Failed to delete %s: %s", at, loader.Message(err)), nil)
		}
		return states.Changed(at+" was deleted", payload.M("deleted", true))
	}), nil
}
