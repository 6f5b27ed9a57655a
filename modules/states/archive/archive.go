// Package archive is the state module archive: archives that are unpacked in a directory. What an archive holds, and
// how
// it is unpacked without harm, stands in modules/execution/archive. Answers to salt/states/archive.py.
package archive

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/archive"
	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is archive.
func Module() loader.Module {
	return loader.Module{File: "archive", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("extracted", extracted, "Have the files of an archive in a directory.",
				"/opt/tool:", "  archive.extracted:", "    - source: https://example.com/tool-1.2.tar.gz",
				"    - source_hash: sha256=..."),
		}
	}}
}

type arguments struct {
	Name        string `arg:"name"`
	Source      any    `arg:"source"`
	Hash        any    `arg:"source_hash=None"`
	HashName    any    `arg:"source_hash_name=None"`
	HashUpdate  bool   `arg:"source_hash_update=False"`
	SkipFiles   bool   `arg:"skip_files_list_verify=False"`
	SkipVerify  bool   `arg:"skip_verify=False"`
	Password    any    `arg:"password=None"`
	Options     any    `arg:"options=None"`
	ListOptions any    `arg:"list_options=None"`
	Force       bool   `arg:"force=False"`
	Overwrite   bool   `arg:"overwrite=False"`
	Clean       bool   `arg:"clean=False"`
	CleanParent bool   `arg:"clean_parent=False"`
	User        any    `arg:"user=None"`
	Group       any    `arg:"group=None"`
	IfMissing   any    `arg:"if_missing=None"`
	Trim        any    `arg:"trim_output=False"`
	CmdUnzip    any    `arg:"use_cmd_unzip=None"`
	Perms       bool   `arg:"extract_perms=True"`
	TopLevel    bool   `arg:"enforce_toplevel=True"`
	OwnershipOn any    `arg:"enforce_ownership_on=None"`
	Format      any    `arg:"archive_format=None"`
	ETag        bool   `arg:"use_etag=False"`
	Signature   any    `arg:"signature=None"`
	signed
	KW *payload.Map `arg:"**kwargs"`
}

// signed is how a signature is checked.
type signed struct {
	HashSig    any    `arg:"source_hash_sig=None"`
	SignedAny  any    `arg:"signed_by_any=None"`
	SignedAll  any    `arg:"signed_by_all=None"`
	Keyring    any    `arg:"keyring=None"`
	GnuPGHome  any    `arg:"gnupghome=None"`
	SigBackend string `arg:"sig_backend=gpg"`
}

// extraction is an archive on its way to a directory.
type extraction struct {
	arguments
	c        *states.Call
	dir      string // with a slash at its end
	uid, gid int
	match    string // the source that is there
	local    bool   // it is on this machine
	file     string // where the archive is
	format   string
	strip    int64
	trim     int64 // 0: nothing is left out
	keep     bool
	sum      *payload.Map // what the archive should have; nil: anything
	warnings []any

	contents *archive.Contents
	missing  bool // something of the archive is not there
	trigger  bool // the archive is another one than before
	changes  *payload.Map
}

// shown is the source in comments.
func (e *extraction) shown() string { return git.Redacted(e.match) }

func extracted(c *states.Call, a arguments) (states.Plan, error) {
	e := &extraction{arguments: a, c: c, uid: -1, gid: -1, keep: true, changes: payload.NewMap(0)}
	if p, err := e.check(); p != nil || err != nil {
		return e.warned(p), err
	}
	if e.local {
		e.file = e.match
		p, err := e.plan()
		return e.warned(&p), err
	}
	p := states.Would("Archive "+e.shown()+" would be cached (if necessary) and checked to discover if extraction "+
		"is needed",
		nil, e.fromElsewhere)
	return e.warned(&p), nil
}

// fromElsewhere fetches the archive, and does what is to be done then.
func (e *extraction) fromElsewhere() (states.Done, error) {
	if why, err := e.fetch(); why != "" || err != nil {
		return states.Done{Result: false, Comment: why}, err
	}
	p, err := e.plan()
	if err != nil {
		return states.Done{}, err
	}
	done := states.Done{Result: p.Result, Comment: p.Comment, Changes: p.Changes}
	if p.Apply != nil {
		if done, err = p.Apply(); err != nil {
			return done, err
		}
	}
	if !e.keep {
		if err := os.Remove(e.file); err != nil {
			e.warnings = append(e.warnings, err.Error())
		}
	}
	if len(e.warnings) > 0 {
		done = done.With("warnings", e.warnings)
	}
	return done, nil
}

// warned adds the warnings.
func (e *extraction) warned(p *states.Plan) states.Plan {
	if p == nil {
		return states.Plan{}
	}
	if len(e.warnings) == 0 {
		return *p
	}
	out := p.With("warnings", e.warnings)
	if apply := out.Apply; apply != nil {
		out.Apply = func() (states.Done, error) {
			done, err := apply()
			return done.With("warnings", e.warnings), err
		}
	}
	return out
}

func wrong(text string) (*states.Plan, error) {
	p := states.Wrong(text)
	return &p, nil
}

// absolute tells whether a path is absolute, or not given.
func absolute(v any) bool {
	text, isText := v.(string)
	return v == nil || isText && filepath.IsAbs(text)
}

// check checks the arguments; a plan is one that needs no more.
func (e *extraction) check() (*states.Plan, error) {
	if e.SkipFiles && e.SkipVerify {
		return wrong(`Only one of "skip_files_list_verify" and "skip_verify" can be set to True`)
	}
	e.keywords()
	info, err := os.Stat(e.Name)
	switch {
	case !filepath.IsAbs(e.Name):
		return wrong(e.Name + " is not an absolute path")
	case err == nil && !info.IsDir():
		return wrong(strings.TrimRight(e.Name, "/") + " exists and is not a directory")
	case !absolute(e.IfMissing):
		return wrong("Value for 'if_missing' is not an absolute path")
	case !absolute(e.OwnershipOn):
		return wrong("Value for 'enforce_ownership_on' is not an absolute path")
	}
	e.dir = strings.TrimRight(e.Name, "/") + "/"
	if on, given := e.OwnershipOn.(string); given {
		if rel, err := filepath.Rel(e.dir, on); err != nil || strings.HasPrefix(rel, "../") || rel == ".." {
			return wrong("Value for 'enforce_ownership_on' must be within " + e.dir)
		}
	}
	if path, given := e.IfMissing.(string); given && exists(path) {
		p := states.Correct("Path " + path + " exists")
		return &p, nil
	}
	for _, check := range []func() (*states.Plan, error){e.checkOwner, e.findSource, e.findFormat, e.checkOptions,
		e.findSum} {
		if p, err := check(); p != nil || err != nil {
			return p, err
		}
	}
	return nil, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// keywords are arguments that are no parameters. Unlike Salt: one that means nothing is warned of.
func (e *extraction) keywords() {
	kw := loader.CleanKWArgs(e.KW)
	source, hasSource := kw.Get("keep_source")
	short, hasShort := kw.Get("keep")
	switch {
	case hasSource:
		e.keep = python.Truth(source)
	case hasShort:
		e.keep = python.Truth(short)
	}
	if hasSource && hasShort {
		e.warnings = append(e.warnings, "Both 'keep_source' and 'keep' were used. Since these both do the same "+
			"thing, 'keep' "+
			"was ignored.")
	}
	for name := range kw.All() {
		if name != any("keep") && name != any("keep_source") {
			e.warnings = append(e.warnings, "The argument '"+python.Str(name)+"' of archive.extracted has no effect.")
		}
	}
}

// checkOwner finds the user and the group.
func (e *extraction) checkOwner() (*states.Plan, error) {
	for _, who := range []struct {
		name     any
		fun, say string
		to       *int
	}{{e.User, "file.user_to_uid", "User", &e.uid}, {e.Group, "file.group_to_gid", "Group", &e.gid}} {
		if !python.Truth(who.name) {
			continue
		}
		v, err := e.c.Salt(who.fun, nil, who.name)
		if err != nil {
			return nil, err
		}
		id, ok := v.(int64)
		if !ok {
			return wrong(who.say + " " + python.Str(who.name) + " does not exist")
		}
		*who.to = int(id)
	}
	return nil, nil
}

// findSource finds the source that is there.
func (e *extraction) findSource() (*states.Plan, error) {
	if e.HashUpdate && !python.Truth(e.Hash) {
		e.warnings = append(e.warnings, "The 'source_hash_update' argument is ignored when 'source_hash' is not "+
			"also specified.")
	}
	if (python.Truth(e.Signature) || python.Truth(e.HashSig)) && !e.c.Has(e.SigBackend+".verify") {
		return wrong("Cannot verify signatures because the " + e.SigBackend + " module was not loaded")
	}
	v, err := e.c.Salt("file.source_list", nil, e.Source, e.Hash, e.c.Saltenv)
	if err != nil {
		return wrong(loader.Message(err))
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		e.match = loader.Text(list[0])
	}
	if e.match == "" {
		return wrong(`Invalid source "` + python.Str(e.Source) + `"`)
	}
	u, err := url.Parse(e.match)
	if err != nil || u.Scheme != "" && u.Scheme != "file" {
		return nil, nil
	}
	e.local = true
	path := strings.TrimRight(u.Host+u.Path, "/")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = git.Expand(rest, nil)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	e.match = path
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return wrong("Source file '" + e.shown() + "' does not exist")
	}
	return nil, nil
}

// formats are those that are known.
var formats = []string{"tar", "rar", "zip"}

// findFormat finds the form of the archive.
func (e *extraction) findFormat() (*states.Plan, error) {
	known := strings.Join(formats, ", ")
	if !python.Truth(e.Format) {
		base := e.match
		if u, err := url.Parse(e.match); err == nil && !e.local {
			base = strings.TrimRight(u.Host+"/"+strings.TrimLeft(u.Path, "/"), "/")
		}
		if e.format = archive.Guess(base); e.format == "" {
			return wrong("Could not guess archive_format from the value of the 'source' argument. Please set this " +
				"archive_format to one of the following: " + known)
		}
		return nil, nil
	}
	e.format = strings.ToLower(python.Str(e.Format))
	if !slices.Contains(formats, e.format) {
		return wrong("Invalid archive_format '" + e.format + "'. Either set it to a supported value (" + known +
			") or remove " +
			"this argument and the archive format will be guessed based on file extension.")
	}
	return nil, nil
}

var stripOption = pattern.New(`--strip(?:-components)?(?:\s+|=)["']?(\d+)["']?`)

// checkOptions checks what only some forms know.
func (e *extraction) checkOptions() (*states.Plan, error) {
	options := loader.Text(e.Options)
	if m := stripOption.FindStringSubmatch(options); m != nil && e.format == "tar" {
		e.strip, _ = loader.ToInt(m[1])
	}
	secret := python.Truth(e.Password)
	switch {
	case e.format == "zip":
		if p, err := e.checkZip(options, secret); p != nil || err != nil {
			return p, err
		}
	case secret:
		return wrong("The 'password' argument is only supported for zip archives")
	case e.format == "rar" && !e.c.Has("archive.unrar"):
		return wrong("archive.unrar function not available, rar/unrar might not be installed on minion")
	case e.format == "rar" && options != "":
		return wrong("The 'options' argument is only compatible with the following archive formats: tar, zip")
	}
	if !python.Truth(e.Trim) {
		return nil, nil
	}
	e.trim = 100
	if _, isBool := e.Trim.(bool); !isBool {
		n, err := loader.ToInt(e.Trim)
		if _, isType := err.(*loader.ArgumentError); isType {
			return wrong("Invalid value for trim_output, must be True/False or an integer")
		} else if err != nil {
			return nil, err
		}
		e.trim = n
	}
	return nil, nil
}

func (e *extraction) checkZip(options string, secret bool) (*states.Plan, error) {
	if options != "" {
		if e.CmdUnzip == nil {
			e.CmdUnzip = true
		} else if !python.Truth(e.CmdUnzip) {
			return wrong("'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the " +
				"'options' argument). " +
				"Either remove 'use_cmd_unzip', or set it to True.")
		}
		if !e.c.Has("archive.cmd_unzip") {
			return wrong("archive.cmd_unzip function not available, unzip might not be installed on minion")
		}
	}
	if !secret {
		return nil, nil
	}
	if e.CmdUnzip == nil {
		e.CmdUnzip = false
	} else if python.Truth(e.CmdUnzip) {
		e.warnings = append(e.warnings, "Using a password in combination with setting 'use_cmd_unzip' to True is "+
			"considered "+
			"insecure. It is recommended to remove the 'use_cmd_unzip' argument (or set it to False) and allow Salt "+
			"to extract "+
			"the archive using Python's built-in ZIP file support.")
	}
	return nil, nil
}

// findSum finds what the archive should have.
func (e *extraction) findSum() (*states.Plan, error) {
	if python.Truth(e.Hash) {
		v, err := e.c.Salt("file.get_source_sum", e.sigArgs(payload.M("source", e.match, "source_hash", e.Hash,
			"source_hash_name", e.HashName, "saltenv", e.c.Saltenv, "source_hash_sig", e.HashSig)))
		if err != nil {
			return wrong(loader.Message(err))
		}
		e.sum, _ = v.(*payload.Map)
	}
	if !e.SkipFiles {
		return nil, nil
	}
	before := e.readSum(e.cachedPath(), e.hashType())
	if before == "" || e.sum == nil || e.sum.Str("hsum") != before {
		return nil, nil
	}
	p := states.Correct("Archive " + e.shown() + " existing source sum is the same as the expected one and " +
		"skip_files_list_verify argument was set to True. Extraction is not needed")
	if e.c.Test {
		p.Result = nil // as in Salt
	}
	return &p, nil
}

// sigArgs adds how signatures are checked.
func (e *extraction) sigArgs(kw *payload.Map) *payload.Map {
	if python.Truth(e.Signature) || python.Truth(e.HashSig) {
		kw.Update(payload.M("signed_by_any", e.SignedAny, "signed_by_all", e.SignedAll, "keyring", e.Keyring,
			"gnupghome",
			e.GnuPGHome))
	}
	return kw
}
