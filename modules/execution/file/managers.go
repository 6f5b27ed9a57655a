package file

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// managers are the functions that file.managed of Salt is made of. States here use Managing.
func managers() []loader.Func {
	return []loader.Func{
		loader.Fn("get_managed", getManaged, "Find what a managed file should hold: a file in the cache, its hash, and why "+
			"there is none.",
			"file.get_managed /etc/httpd.conf jinja salt://httpd.conf None None root root 755 None base None None").AsTuple(),
		loader.Fn("manage_file", manageFile, "Give a file the content of another one, or a text.",
			"file.manage_file /etc/httpd/httpd.conf '' '{}' salt://httpd.conf '{}' root root 755 None base ''"),
		loader.Fn("check_managed", checkManaged, "Tell whether a managed file would change.",
			"file.check_managed /etc/httpd.conf salt://httpd.conf None None root root 755 None jinja None None base").
			AsTuple(),
		loader.Fn("check_managed_changes", checkManagedChanges, "Show what would change of a managed file.",
			"file.check_managed_changes /etc/httpd.conf salt://httpd.conf None None root root 755 None jinja None None base"),
		loader.Fn("check_file_meta", checkFileMeta, "Show how a file differs from a source and from permissions.",
			"file.check_file_meta /etc/httpd/httpd.conf None salt://httpd.conf '{}' root root 755 None base"),
		loader.Fn("check_perms", checkPerms, "Give a path an owner, a mode and attributes.",
			"file.check_perms /etc/sudoers '{}' root root 400 ai").AsTuple(),
	}
}

// signed are the arguments for signatures.
type signed struct {
	HashSig    any `arg:"source_hash_sig=None"`
	SignedAny  any `arg:"signed_by_any=None"`
	SignedAll  any `arg:"signed_by_all=None"`
	Keyring    any `arg:"keyring=None"`
	GnuPGHome  any `arg:"gnupghome=None"`
	Ordering   any `arg:"ignore_ordering=False"`
	Whitespace any `arg:"ignore_whitespace=False"`
	Comments   any `arg:"ignore_comment_characters=None"`
}

func (s signed) lenient() Leniency {
	return Leniency{python.Truth(s.Ordering), python.Truth(s.Whitespace), s.Comments}
}

func (s signed) of(sig, backend, verifySSL any) Signature {
	return Signature{sig, s.SignedAny, s.SignedAll, s.Keyring, s.GnuPGHome, backend, verifySSL}
}

// mapOf is an argument that is a map, or none.
func mapOf(v any) *payload.Map {
	m, _ := v.(*payload.Map)
	return m
}

// contentOf is a text or bytes; nil is none.
func contentOf(v any) *Content {
	switch x := v.(type) {
	case nil:
		return nil
	case []byte:
		return Data(x)
	}
	return Data([]byte(python.Str(v)))
}

type gotten struct {
	Name       any  `arg:"name"`
	Template   any  `arg:"template"`
	Source     any  `arg:"source"`
	Hash       any  `arg:"source_hash"`
	HashName   any  `arg:"source_hash_name"`
	User       any  `arg:"user"`
	Group      any  `arg:"group"`
	Mode       any  `arg:"mode"`
	Attrs      any  `arg:"attrs"`
	Saltenv    any  `arg:"saltenv"`
	Context    any  `arg:"context"`
	Defaults   any  `arg:"defaults"`
	SkipVerify bool `arg:"skip_verify=False"`
	VerifySSL  any  `arg:"verify_ssl=True"`
	ETag       bool `arg:"use_etag=False"`
	signed
	SigBackend any          `arg:"sig_backend=gpg"`
	KW         *payload.Map `arg:"**kwargs"`
}

func (a gotten) managing(c *loader.Call) (*Managing, error) {
	name, err := path(c, a.Name)
	if err != nil {
		return nil, err
	}
	return &Managing{Name: name, Source: a.Source, Hash: a.Hash, HashName: a.HashName, Template: a.Template,
		Context: mapOf(a.Context), Defaults: mapOf(a.Defaults), KW: loader.CleanKWArgs(a.KW),
		Saltenv: loader.Text(a.Saltenv), SkipVerify: a.SkipVerify, VerifySSL: a.VerifySSL, ETag: a.ETag,
		HashSig: a.of(a.HashSig, a.SigBackend, a.VerifySSL), Show: true, Lenient: a.lenient(),
		Perms: Perms{User: a.User, Group: a.Group, Mode: NormalMode(a.Mode), Attrs: a.Attrs}}, nil
}

// getManaged writes what a template becomes into a file of its own, below the cache.
func getManaged(c *loader.Call, a gotten) (any, error) {
	m, err := a.managing(c)
	if err != nil {
		return nil, err
	}
	m.found = Source{loader.Text(a.Source), a.Hash}
	wrong, err := m.Get(c)
	if err != nil || wrong != "" || m.content == nil {
		return []any{"", payload.NewMap(0), wrong}, err
	}
	at, sum := m.content.file, m.content.Sum
	if !m.content.inFile() {
		dir := filepath.Join(c.Opts().Str("cachedir"), "tmp")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err := os.CreateTemp(dir, wholefile.TempPrefix+"*")
		if err != nil {
			return nil, err
		}
		at = f.Name()
		if err := f.Close(); err != nil {
			return nil, err
		}
		if err := wholefile.Write(at, m.content.data, wholefile.Options{}); err != nil {
			return nil, err
		}
	}
	if sum.Value == "" && at != "" {
		v, err := hashOf(c, at, "sha256")
		if err != nil {
			return nil, err
		}
		sum = Sum{"sha256", python.Str(v)}
	}
	return []any{at, sum.asMap(), ""}, nil
}

type checkedManaged struct {
	Name       any  `arg:"name"`
	Source     any  `arg:"source"`
	Hash       any  `arg:"source_hash"`
	HashName   any  `arg:"source_hash_name"`
	User       any  `arg:"user"`
	Group      any  `arg:"group"`
	Mode       any  `arg:"mode"`
	Attrs      any  `arg:"attrs"`
	Template   any  `arg:"template"`
	Context    any  `arg:"context"`
	Defaults   any  `arg:"defaults"`
	Saltenv    any  `arg:"saltenv"`
	Contents   any  `arg:"contents=None"`
	SkipVerify bool `arg:"skip_verify=False"`
}

func (a checkedManaged) managing(c *loader.Call, follow bool) (*Managing, error) {
	m, err := gotten{Name: a.Name, Template: a.Template, Source: a.Source, Hash: a.Hash, HashName: a.HashName,
		User: a.User, Group: a.Group, Mode: a.Mode, Attrs: a.Attrs, Saltenv: a.Saltenv, Context: a.Context,
		Defaults: a.Defaults, SkipVerify: a.SkipVerify, VerifySSL: true}.managing(c)
	if err != nil {
		return nil, err
	}
	m.Follow, m.Contents = follow, contentOf(a.Contents)
	return m, nil
}

// changesOf looks for the source, and tells what would change, or why nothing can be said.
func (m *Managing) changesOf(c *loader.Call) (changes *payload.Map, counts bool, wrong string, err error) {
	if err := m.Locate(c); err != nil {
		return nil, false, "", err
	}
	if wrong, err = m.Get(c); wrong != "" || err != nil {
		return nil, false, wrong, err
	}
	s, wrong, err := m.Look(c)
	if wrong != "" || err != nil {
		return nil, false, wrong, err
	}
	changes, err = m.Changes(c, s)
	return changes, s.Counts, "", err
}

type oldCheck struct {
	checkedManaged
	SEUser  any          `arg:"seuser=None"`
	SERole  any          `arg:"serole=None"`
	SEType  any          `arg:"setype=None"`
	SERange any          `arg:"serange=None"`
	Follow  bool         `arg:"follow_symlinks=False"`
	KW      *payload.Map `arg:"**kwargs"`
}

func checkManaged(c *loader.Call, a oldCheck) (any, error) {
	if err := noSELinux(a.SEUser, a.SERole, a.SEType, a.SERange); err != nil {
		return nil, err
	}
	m, err := a.managing(c, a.Follow)
	if err != nil {
		return nil, err
	}
	changes, _, wrong, err := m.changesOf(c)
	if err != nil || wrong != "" {
		return []any{false, wrong}, err
	}
	if strings.HasPrefix(m.Name, strings.TrimRight(os.TempDir(), "/")) {
		for _, key := range []string{"user", "group", "mode"} {
			changes.Delete(key)
		}
	}
	if changes.Len() == 0 {
		return []any{true, "The file " + m.Name + " is in the correct state"}, nil
	}
	text := "The following values are set to be changed:\n"
	for key, v := range changes.All() {
		text += python.Str(key) + ": " + python.Str(v) + "\n"
	}
	return []any{nil, text}, nil
}

type newCheck struct {
	checkedManaged
	KeepMode  bool `arg:"keep_mode=False"`
	SEUser    any  `arg:"seuser=None"`
	SERole    any  `arg:"serole=None"`
	SEType    any  `arg:"setype=None"`
	SERange   any  `arg:"serange=None"`
	VerifySSL any  `arg:"verify_ssl=True"`
	Follow    bool `arg:"follow_symlinks=False"`
	Ordering  any  `arg:"ignore_ordering=False"`
	White     any  `arg:"ignore_whitespace=False"`
	Comments  any  `arg:"ignore_comment_characters=None"`
	NewDiff   bool `arg:"new_file_diff=False"`

	KW *payload.Map `arg:"**kwargs"`
}

func checkManagedChanges(c *loader.Call, a newCheck) (any, error) {
	if err := noSELinux(a.SEUser, a.SERole, a.SEType, a.SERange); err != nil {
		return nil, err
	}
	m, err := a.managing(c, a.Follow)
	if err != nil {
		return nil, err
	}
	m.KeepMode, m.VerifySSL, m.NewFileDiff = a.KeepMode, a.VerifySSL, a.NewDiff
	m.Lenient, m.KW = Leniency{python.Truth(a.Ordering), python.Truth(a.White), a.Comments}, loader.CleanKWArgs(a.KW)
	changes, counts, wrong, err := m.changesOf(c)
	switch {
	case err != nil:
		return nil, err
	case wrong != "":
		return []any{false, wrong}, nil
	case m.Lenient.Any():
		return []any{counts, changes}, nil
	}
	return changes, nil
}

type metaChecked struct {
	Name      any  `arg:"name"`
	File      any  `arg:"sfn"`
	Source    any  `arg:"source"`
	Sum       any  `arg:"source_sum"`
	User      any  `arg:"user"`
	Group     any  `arg:"group"`
	Mode      any  `arg:"mode"`
	Attrs     any  `arg:"attrs"`
	Saltenv   any  `arg:"saltenv"`
	Contents  any  `arg:"contents=None"`
	SEUser    any  `arg:"seuser=None"`
	SERole    any  `arg:"serole=None"`
	SEType    any  `arg:"setype=None"`
	SERange   any  `arg:"serange=None"`
	VerifySSL any  `arg:"verify_ssl=True"`
	Follow    bool `arg:"follow_symlinks=False"`
	Ordering  any  `arg:"ignore_ordering=False"`
	White     any  `arg:"ignore_whitespace=False"`
	Comments  any  `arg:"ignore_comment_characters=None"`
	NewDiff   bool `arg:"new_file_diff=False"`
}

func checkFileMeta(c *loader.Call, a metaChecked) (any, error) {
	if err := noSELinux(a.SEUser, a.SERole, a.SEType, a.SERange); err != nil {
		return nil, err
	}
	m, err := gotten{Name: a.Name, Source: a.Source, User: a.User, Group: a.Group, Mode: a.Mode, Attrs: a.Attrs,
		Saltenv: a.Saltenv}.managing(c)
	if err != nil {
		return nil, err
	}
	m.Follow, m.NewFileDiff, m.VerifySSL = a.Follow, a.NewDiff, a.VerifySSL
	m.Lenient = Leniency{python.Truth(a.Ordering), python.Truth(a.White), a.Comments}
	if err := m.given(c, a.File, a.Sum, a.Contents); err != nil {
		return nil, err
	}
	s, wrong, err := m.Look(c)
	if err != nil || wrong != "" {
		return payload.M("diff", wrong), err
	}
	changes, err := m.Changes(c, s)
	if err == nil && m.Lenient.Any() {
		return []any{s.Counts, changes}, nil
	}
	return changes, err
}

// given takes the content from what a caller has found: a file with its hash, or a text.
func (m *Managing) given(c *loader.Call, file, sum, contents any) error {
	m.found = Source{URL: loader.Text(m.Source)}
	m.Contents = contentOf(contents)
	hash := mapOf(sum)
	switch name := loader.Text(file); {
	case m.Contents != nil:
		m.content = m.Contents
	case name != "":
		m.content = &Content{Sum: Sum{hash.Str("hash_type"), strings.ToLower(hash.Str("hsum"))}, file: name}
	case m.found.URL != "":
		client, err := fileclient.For(c)
		if err != nil {
			return err
		}
		m.content = &Content{fetch: func() (string, error) {
			v, err := client.CacheFile(c.Ctx, m.found.URL, m.Saltenv, fileclient.Fetch{Insecure: m.VerifySSL == false})
			at, ok := v.(string)
			if err == nil && (!ok || at == "") {
				err = loader.ExecErr("Source file '%s' not found", m.found.URL)
			}
			return at, err
		}}
	}
	return nil
}

type managedFile struct {
	Name           any  `arg:"name"`
	File           any  `arg:"sfn"`
	Ret            any  `arg:"ret"`
	Source         any  `arg:"source"`
	Sum            any  `arg:"source_sum"`
	User           any  `arg:"user"`
	Group          any  `arg:"group"`
	Mode           any  `arg:"mode"`
	Attrs          any  `arg:"attrs"`
	Saltenv        any  `arg:"saltenv"`
	Backup         any  `arg:"backup"`
	MakeDirs       bool `arg:"makedirs=False"`
	Template       any  `arg:"template=None"`
	Show           bool `arg:"show_changes=True"`
	Contents       any  `arg:"contents=None"`
	DirMode        any  `arg:"dir_mode=None"`
	Follow         bool `arg:"follow_symlinks=True"`
	SkipVerify     bool `arg:"skip_verify=False"`
	KeepMode       bool `arg:"keep_mode=False"`
	Encoding       any  `arg:"encoding=None"`
	EncodingErrors any  `arg:"encoding_errors=strict"`
	SEUser         any  `arg:"seuser=None"`
	SERole         any  `arg:"serole=None"`
	SEType         any  `arg:"setype=None"`
	SERange        any  `arg:"serange=None"`
	VerifySSL      any  `arg:"verify_ssl=True"`
	ETag           bool `arg:"use_etag=False"`
	Signature      any  `arg:"signature=None"`
	signed
	NewDiff    bool         `arg:"new_file_diff=False"`
	SigBackend any          `arg:"sig_backend=gpg"`
	KW         *payload.Map `arg:"**kwargs"`
}

func manageFile(c *loader.Call, a managedFile) (any, error) {
	if err := noSELinux(a.SEUser, a.SERole, a.SEType, a.SERange); err != nil {
		return nil, err
	}
	m, err := gotten{Name: a.Name, Source: a.Source, User: a.User, Group: a.Group, Mode: a.Mode, Attrs: a.Attrs,
		Saltenv: a.Saltenv, SkipVerify: a.SkipVerify, VerifySSL: a.VerifySSL, ETag: a.ETag, signed: a.signed}.managing(c)
	if err != nil {
		return nil, err
	}
	m.Follow, m.KeepMode, m.MakeDirs, m.DirMode, m.Show = a.Follow, a.KeepMode, a.MakeDirs, a.DirMode, a.Show
	m.Backup, m.NewFileDiff = BackupMode(c, a.Backup), a.NewDiff
	m.FileSig = a.of(a.Signature, a.SigBackend, a.VerifySSL)
	contents, err := Encode(a.Contents, a.Encoding, a.EncodingErrors)
	if err == nil {
		err = m.given(c, a.File, a.Sum, contents)
	}
	if err != nil {
		return nil, err
	}
	ret := NewRet()
	given := mapOf(a.Ret)
	if given.Len() > 0 {
		ret.Comment, ret.Result = loader.Text(given.Value("comment")), given.Value("result")
		ret.Changes.Update(given.Map("changes"))
	} else {
		given = payload.M("name", m.Name)
	}
	s, wrong, err := m.Look(c)
	switch {
	case err != nil:
		return nil, err
	case wrong != "":
		ret.Fail(wrong)
	case c.Opts().Value("test") == true: // Salt writes in test mode; a state never calls it then
		return nil, loader.ExecErr("file.manage_file does nothing in test mode")
	default:
		if err := m.Apply(c, s, ret); err != nil {
			return nil, err
		}
	}
	return given.Clone().Set("changes", ret.Changes).Set("comment", ret.Comment).Set("result", ret.Result), nil
}
