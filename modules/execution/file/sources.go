package file

import (
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"brine/modules/fileclient"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// sources are the functions that find the source of a file, and the hash that it should have.
func sources() []loader.Func {
	return []loader.Func{
		loader.Fn("source_list", runSourceList, "Show which of several sources is there, and its hash.",
			`file.source_list salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' base`).AsTuple(),
		loader.Fn("get_source_sum", runSourceSum, "Show the hash that a source should have, and its form.",
			"file.get_source_sum /tmp/foo.tar.gz source=http://mydomain.tld/foo.tar.gz "+
				"source_hash=499ae16dcae71eeb7c3a30c75ea7a1a6"),
		loader.Fn("extract_hash", runExtractHash, "Find the hash of a file in a file of hashes.",
			"file.extract_hash /path/to/hash/file sha512 /etc/foo"),
	}
}

// protocols are those of a source, remotes those from other machines.
var protocols = []string{"salt", "file", "http", "https", "ftp", "swift", "s3"}

// schemeOf is the scheme of a URL, in small letters; "" where there is none.
func schemeOf(text string) string {
	head, _, ok := strings.Cut(text, ":")
	if !ok || head == "" {
		return ""
	}
	for i, r := range head {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+.-", r)) {
			return ""
		}
	}
	return strings.ToLower(head)
}

// isRemote tells whether a scheme is that of another machine which is no file server.
func isRemote(scheme string) bool { return slices.Contains(protocols[2:], scheme) }

// Source is a source of a file with the hash that it should have.
type Source struct {
	URL  string // "": there is none
	Hash any    // as it is given (source_hash)
}

type sourceList struct {
	Source  any `arg:"source"`
	Hash    any `arg:"source_hash"`
	Saltenv any `arg:"saltenv"`
}

func runSourceList(c *loader.Call, a sourceList) (any, error) {
	if _, isList := a.Source.([]any); !isList {
		return []any{a.Source, a.Hash}, nil
	}
	s, err := FindSource(c, a.Source, a.Hash, loader.Text(a.Saltenv))
	return []any{s.URL, s.Hash}, err
}

// FindSource is the first source of a list that is there; one source alone is not looked for.
func FindSource(c *loader.Call, source, hash any, env string) (Source, error) {
	list, isList := source.([]any)
	if !isList {
		return Source{loader.Text(source), hash}, nil
	}
	client, err := fileclient.For(c)
	if err != nil {
		return Source{}, err
	}
	known := map[string]map[string]bool{}
	for _, v := range list {
		s := Source{loader.Text(v), hash}
		if m, ok := v.(*payload.Map); ok {
			if m.Len() != 1 {
				continue
			}
			s.URL = loader.Text(m.Keys()[0])
			if own := m.Value(s.URL); python.Truth(own) {
				s.Hash = own
			}
		}
		found, err := s.exists(c, client, env, known)
		if err != nil {
			return Source{}, err
		}
		if found {
			return s, nil
		}
	}
	return Source{}, loader.ExecErr("none of the specified sources were found")
}

// exists looks for a source. known are the files and directories of environments that were asked for.
func (s Source) exists(c *loader.Call, client *fileclient.Client, env string, known map[string]map[string]bool) (
	bool, error) {
	switch scheme := schemeOf(s.URL); {
	case scheme == "salt":
		name, own := fileclient.Parse(s.URL)
		if own != "" {
			env = own
		}
		names, asked := known[env]
		if !asked {
			names = map[string]bool{}
			for _, cmd := range []string{payload.CmdFileList, payload.CmdDirList} {
				v, err := client.List(c.Ctx, cmd, env, "")
				if err != nil {
					return false, err
				}
				for _, name := range payload.Texts(v) {
					names[name] = true
				}
			}
			known[env] = names
		}
		return names[name], nil
	case strings.HasPrefix(scheme, "http") || scheme == "ftp":
		v, err := c.Call("http.query", []any{s.URL}, payload.M("method", "HEAD", "decode_body", false))
		m, ok := v.(*payload.Map)
		return err == nil && ok && !m.Has("error"), nil
	case scheme == "file":
		return exists(localPath(s.URL)), nil
	}
	return strings.HasPrefix(s.URL, "/") && exists(s.URL), nil
}

// localPath is the path in a URL file://.
func localPath(text string) string {
	rest := strings.TrimPrefix(text[len("file:"):], "//")
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return rest
}

// Sum is a hash with its form; Value is "" where none is known.
type Sum struct{ Form, Value string }

func (s Sum) asMap() *payload.Map { return payload.M("hash_type", s.Form, "hsum", s.Value) }

type sourceSum struct {
	FileName   any `arg:"file_name=''"`
	Source     any `arg:"source=''"`
	Hash       any `arg:"source_hash=None"`
	HashName   any `arg:"source_hash_name=None"`
	Saltenv    any `arg:"saltenv=base"`
	VerifySSL  any `arg:"verify_ssl=True"`
	Sig        any `arg:"source_hash_sig=None"`
	SignedAny  any `arg:"signed_by_any=None"`
	SignedAll  any `arg:"signed_by_all=None"`
	Keyring    any `arg:"keyring=None"`
	GnuPGHome  any `arg:"gnupghome=None"`
	SigBackend any `arg:"sig_backend=gpg"`
}

func runSourceSum(c *loader.Call, a sourceSum) (any, error) {
	s, err := a.find(c)
	if err != nil {
		return nil, err
	}
	return s.asMap(), nil
}

// find reads the hash: it is one, or one with its form, or a file that has it.
func (a sourceSum) find(c *loader.Call) (Sum, error) {
	text, ok := a.Hash.(string)
	if !ok {
		return Sum{}, badSourceHash(python.Str(a.Hash))
	}
	file := text
	if scheme := schemeOf(text); !strings.HasPrefix(text, "/") {
		if scheme == "" {
			return sumOf(text)
		}
		if !slices.Contains(protocols, scheme) {
			return Sum{}, badSourceHash(text)
		}
		at, err := a.fetch(c, text)
		if err != nil {
			return Sum{}, err
		}
		file = at
	}
	s, found, err := extractHash(file, "", loader.Text(a.FileName), loader.Text(a.Source), loader.Text(a.HashName))
	if err == nil && !found {
		err = badSourceHash(text)
	}
	return Sum{s.Form, strings.ToLower(s.Value)}, err
}

// fetch brings the file of hashes, and checks its signature if there is one.
func (a sourceSum) fetch(c *loader.Call, text string) (string, error) {
	client, err := fileclient.For(c)
	if err != nil {
		return "", err
	}
	v, err := client.CacheFile(c.Ctx, text, loader.Text(a.Saltenv), fileclient.Fetch{Insecure: a.VerifySSL == false})
	if err != nil {
		return "", err
	}
	at, ok := v.(string)
	if !ok || at == "" {
		return "", loader.ExecErr("Source hash file %s not found", fileclient.Redact(text))
	}
	if python.Truth(a.Sig) {
		sig := Signature{a.Sig, a.SignedAny, a.SignedAll, a.Keyring, a.GnuPGHome, a.SigBackend, a.VerifySSL}
		if err := sig.Verify(c, at, loader.Text(a.Saltenv)); err != nil {
			return "", err
		}
	}
	return at, nil
}

func badSourceHash(text string) error {
	var known []string
	for _, l := range lengths {
		known = append(known, l.form+" ("+strconv.Itoa(l.digits)+")")
	}
	return loader.ExecErr("Source hash %s format is invalid. The supported formats are: 1) a hash, 2) an expression in "+
		"the format <hash_type>=<hash>, or 3) either a path to a local file containing hashes, or a URI of a remote "+
		"hash file. Supported protocols for remote hash files are: %s. The hash may also not be of a valid length, the "+
		"following are supported hash types and lengths: %s.", fileclient.Redact(text), strings.Join(protocols, ", "),
		strings.Join(known, ", "))
}

// sumOf reads a hash with or without its form before an =.
func sumOf(text string) (Sum, error) {
	form, value, named := strings.Cut(text, "=")
	form, value = strings.TrimSpace(form), strings.TrimSpace(value)
	if !named {
		form, value = formOf(len(text)), text
		if form == "" || strings.IndexFunc(text, notHex) >= 0 {
			return Sum{}, badSourceHash(text)
		}
	}
	digits := 0
	var forms []string
	for _, l := range slices.Backward(lengths) {
		forms = append(forms, l.form)
		if l.form == form {
			digits = l.digits
		}
	}
	switch own := formOf(len(value)); {
	case digits == 0:
		return Sum{}, loader.ExecErr("Invalid hash type '%s'. Supported hash types are: %s. Either remove the hash type "+
			"and simply use '%s' as the source_hash, or change the hash type to a supported type.", form,
			strings.Join(forms, ", "), value)
	case own == "":
		return Sum{}, badSourceHash(text)
	case own != form:
		return Sum{}, loader.ExecErr("Invalid length (%d) for hash type '%s'. Either remove the hash type and simply use "+
			"'%s' as the source_hash, or change the hash type to '%s'", len(value), form, value, own)
	}
	return Sum{form, strings.ToLower(value)}, nil
}

func notHex(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }

// formOf is the hash that has so many digits.
func formOf(digits int) string {
	for _, l := range lengths {
		if l.digits == digits {
			return l.form
		}
	}
	return ""
}

type hashFile struct {
	File     any `arg:"hash_fn"`
	Form     any `arg:"hash_type=sha256"`
	FileName any `arg:"file_name=''"`
	Source   any `arg:"source=''"`
	HashName any `arg:"source_hash_name=None"`
}

func runExtractHash(_ *loader.Call, a hashFile) (any, error) {
	s, found, err := extractHash(loader.Text(a.File), loader.Text(a.Form), loader.Text(a.FileName), loader.Text(a.Source),
		loader.Text(a.HashName))
	if err != nil || !found {
		return nil, err
	}
	return s.asMap(), nil
}

// extractHash finds a hash in a file of hashes: that of a line with the name that is given, else with the name of the
// file, else with that of the source, else the first.
func extractHash(file, form, name, source, hashName string) (Sum, bool, error) {
	data, err := plainfile.Read(file, program.MaxOutput())
	if err != nil {
		return Sum{}, false, err
	}
	base := pypath.Base(source)
	if u, err := url.Parse(source); err == nil && u.Scheme != "" {
		if base = pypath.Base(u.Path); u.Path == "" {
			base = pypath.Base(u.Host)
		}
	}
	const spaces = " \t\n\r\v\f"
	searches := []struct{ whole, end, before string }{{hashName, hashName, spaces},
		{name, pypath.Base(name), spaces + `\/*`}, {source, base, spaces + `\/*`}}
	best := len(searches) + 1
	var found Sum
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		sum := hashIn(line, form)
		if sum.Value == "" {
			continue
		}
		rank := len(searches)
		for i, s := range searches {
			if s.whole != "" && rank == len(searches) && namedIn(line, s.whole, s.end, s.before) {
				rank = i
			}
		}
		if rank < best {
			best, found = rank, sum
		}
	}
	return found, best <= len(searches), nil
}

// namedIn tells whether a line ends in a name, behind one of some characters, or begins with it.
func namedIn(line, whole, end, before string) bool {
	if head, ok := strings.CutSuffix(line, end); ok {
		return head != "" && strings.ContainsRune(before, rune(head[len(head)-1]))
	}
	rest, ok := strings.CutPrefix(line, whole)
	return ok && rest != "" && strings.ContainsRune(" \t\n\r\v\f", rune(rest[0]))
}

// hashIn is the first run of hexadecimal digits in a line that is as long as a hash.
func hashIn(line, form string) Sum {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		own := formOf(len(word))
		if own != "" && (form == "" || form == own) && strings.IndexFunc(word, notHex) < 0 {
			return Sum{own, word}
		}
	}
	return Sum{}
}

// Signature says what a signature of a file must be (signature, signed_by_any, ...).
type Signature struct {
	Sig, SignedAny, SignedAll, Keyring, GnuPGHome, Backend, VerifySSL any
}

// Verify checks a file, and removes it from the cache where its signature is wrong.
func (s Signature) Verify(c *loader.Call, file, env string) error {
	fun := loader.Text(s.Backend) + ".verify"
	if !c.Env.Has(fun) {
		return loader.ExecErr("Signature verification requires the %s module, which could not be found. Make sure you "+
			"have the necessary tools and libraries intalled", loader.Text(s.Backend))
	}
	sigs, err := s.fetch(c, env)
	if err != nil {
		return err
	}
	v, err := c.Call(fun, nil, payload.M("filename", file, "signature", sigs, "keyring", s.Keyring, "gnupghome",
		s.GnuPGHome, "signed_by_any", s.SignedAny, "signed_by_all", s.SignedAll))
	if err != nil {
		return err
	}
	m, _ := v.(*payload.Map)
	if m.Value("res") == true {
		return nil
	}
	_ = os.Remove(file)
	return loader.ExecErr("The file's signature could not be verified: %s", loader.Text(m.Value("message")))
}

// fetch brings detached signatures; nil where the file itself has one.
func (s Signature) fetch(c *loader.Call, env string) (any, error) {
	if s.Sig == true || s.Sig == nil {
		return nil, nil
	}
	client, err := fileclient.For(c)
	if err != nil {
		return nil, err
	}
	one := func(v any) (any, error) {
		at, err := client.CacheFile(c.Ctx, loader.Text(v), env, fileclient.Fetch{Insecure: s.VerifySSL == false})
		if err == nil && !python.Truth(at) {
			err = loader.ExecErr("Detached signature file %s not found", loader.Text(v))
		}
		return at, err
	}
	list, isList := s.Sig.([]any)
	if !isList {
		return one(s.Sig)
	}
	var out []any
	for _, v := range list {
		at, err := one(v)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}
