package file

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type managedArgs struct {
	Name           any          `arg:"name"`
	Source         any          `arg:"source=None"`
	SourceHash     any          `arg:"source_hash=''"`
	SourceHashName any          `arg:"source_hash_name=None"`
	KeepSource     bool         `arg:"keep_source=True"`
	User           any          `arg:"user=None"`
	Group          any          `arg:"group=None"`
	Mode           any          `arg:"mode=None"`
	Attrs          any          `arg:"attrs=None"`
	Template       any          `arg:"template=None"`
	MakeDirs       bool         `arg:"makedirs=False"`
	DirMode        any          `arg:"dir_mode=None"`
	Context        any          `arg:"context=None"`
	Replace        bool         `arg:"replace=True"`
	Defaults       any          `arg:"defaults=None"`
	Backup         any          `arg:"backup=''"`
	ShowChanges    bool         `arg:"show_changes=True"`
	Create         bool         `arg:"create=True"`
	Contents       any          `arg:"contents=None"`
	TmpDir         any          `arg:"tmp_dir=None"`
	TmpExt         any          `arg:"tmp_ext=''"`
	ContentsPillar any          `arg:"contents_pillar=None"`
	ContentsGrains any          `arg:"contents_grains=None"`
	Newline        bool         `arg:"contents_newline=True"`
	Delimiter      any          `arg:"contents_delimiter=:"`
	Encoding       any          `arg:"encoding=None"`
	EncodingErrors any          `arg:"encoding_errors=strict"`
	AllowEmpty     bool         `arg:"allow_empty=True"`
	Follow         bool         `arg:"follow_symlinks=True"`
	CheckCmd       any          `arg:"check_cmd=None"`
	SkipVerify     bool         `arg:"skip_verify=False"`
	SELinux        any          `arg:"selinux=None"`
	WinOwner       any          `arg:"win_owner=None"`
	WinPerms       any          `arg:"win_perms=None"`
	WinDeny        any          `arg:"win_deny_perms=None"`
	WinInheritance any          `arg:"win_inheritance=True"`
	WinReset       any          `arg:"win_perms_reset=False"`
	VerifySSL      any          `arg:"verify_ssl=True"`
	ETag           bool         `arg:"use_etag=False"`
	Signature      any          `arg:"signature=None"`
	HashSig        any          `arg:"source_hash_sig=None"`
	SignedAny      any          `arg:"signed_by_any=None"`
	SignedAll      any          `arg:"signed_by_all=None"`
	Keyring        any          `arg:"keyring=None"`
	GnuPGHome      any          `arg:"gnupghome=None"`
	Ordering       any          `arg:"ignore_ordering=False"`
	Whitespace     any          `arg:"ignore_whitespace=False"`
	Comments       any          `arg:"ignore_comment_characters=None"`
	NewFileDiff    bool         `arg:"new_file_diff=False"`
	SigBackend     any          `arg:"sig_backend=gpg"`
	KW             *payload.Map `arg:"**kwargs"`
}

// lenient are the differences that do not count.
func (a managedArgs) lenient() file.Leniency {
	return file.Leniency{Ordering: python.Truth(a.Ordering), Whitespace: python.Truth(a.Whitespace), Comments: a.Comments}
}

// managing is what the execution module is told of the file. The contents come later.
func (a managedArgs) managing(c *states.Call, name string) *file.Managing {
	sig := func(v any) file.Signature {
		return file.Signature{Sig: v, SignedAny: a.SignedAny, SignedAll: a.SignedAll, Keyring: a.Keyring,
			GnuPGHome: a.GnuPGHome, Backend: a.SigBackend, VerifySSL: a.VerifySSL}
	}
	context, _ := a.Context.(*payload.Map)
	defaults, _ := a.Defaults.(*payload.Map)
	return &file.Managing{Name: name, Source: a.Source, Hash: a.SourceHash, HashName: a.SourceHashName,
		Perms:    file.Perms{User: a.User, Group: a.Group, Mode: file.NormalMode(a.Mode), Attrs: a.Attrs, Follow: a.Follow},
		Template: a.Template, Context: context, Defaults: defaults, KW: a.KW, Saltenv: c.Saltenv,
		SkipVerify: a.SkipVerify, ETag: a.ETag, VerifySSL: a.VerifySSL, HashSig: sig(a.HashSig), FileSig: sig(a.Signature),
		Backup: file.BackupMode(c.Call, a.Backup), MakeDirs: a.MakeDirs, DirMode: a.DirMode, Show: a.ShowChanges,
		Lenient: a.lenient(), NewFileDiff: a.NewFileDiff}
}

// managed gives a file a content, an owner and a mode.
func managed(c *states.Call, a managedArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.plan(c, name)
	p.Name = name
	return a.warned(p), err
}

// plan goes through what can be wrong with the arguments, in Salt's order.
func (a managedArgs) plan(c *states.Call, name string) (states.Plan, error) {
	if name == "" {
		return states.Wrong("Destination file name is required"), nil
	}
	if wrong := a.refused(c); wrong != "" {
		return states.Wrong(wrong), nil
	}
	text, isText := a.Mode.(string)
	keep := isText && strings.EqualFold(text, "keep")
	if keep {
		a.Mode = nil
	}
	given := 0
	for _, v := range []any{a.Contents, a.ContentsPillar, a.ContentsGrains} {
		if v != nil {
			given++
		}
	}
	const three = "'contents', 'contents_pillar', or 'contents_grains'"
	switch {
	case python.Truth(a.Source) && given > 0:
		return states.Wrong("'source' cannot be used in combination with " + three), nil
	case keep && given > 0:
		return states.Wrong("Mode preservation cannot be used in combination with " + three), nil
	case given > 1:
		return states.Wrong("Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted"), nil
	}
	if !python.Truth(a.Source) && given == 0 {
		a.Replace = false // there is nothing to replace it with
	}
	contents, wrong, err := a.contents(c)
	if err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	a.User = ownerOf(a.User, a.KW)
	if wrong, done, err := a.place(c, name); err != nil || wrong != "" || done {
		return states.Plan{Result: wrong == "", Comment: cond(done, notCreated(name), wrong)}, err
	}
	m := a.managing(c, name)
	m.KeepMode, m.Contents = keep, contents
	return a.decide(c, m)
}

func cond(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func notCreated(name string) string {
	return "File " + name + " is not present and is not set for creation"
}

// refused tells which arguments cannot be honoured here.
func (a managedArgs) refused(c *states.Call) string {
	backend := loader.Text(a.SigBackend)
	if (python.Truth(a.Signature) || python.Truth(a.HashSig)) && !c.Has(backend+".verify") {
		return "Cannot verify signatures because the " + backend + " module was not loaded"
	}
	if python.Truth(a.SELinux) && exists("/sys/fs/selinux/enforce") {
		return "brine does not set SELinux labels yet: the argument 'selinux' cannot be used"
	}
	return ""
}

// place looks at where the file should be. done is true where it is not there, and is not to be made.
func (a managedArgs) place(c *states.Call, name string) (wrong string, done bool, err error) {
	if !a.Create && !isFile(name) {
		return "", true, nil
	}
	if wrong, err = unknownOwner(c, a.User, a.Group); wrong != "" || err != nil {
		return wrong, false, err
	}
	_, isMap := a.Context.(*payload.Map)
	_, hasDefaults := a.Defaults.(*payload.Map)
	switch {
	case !strings.HasPrefix(name, "/"):
		wrong = "Specified file " + name + " is not an absolute path"
	case isDir(name):
		wrong = "Specified target " + name + " is a directory"
	case a.Context != nil && !isMap:
		wrong = "Context must be formed as a dict"
	case python.Truth(a.Defaults) && !hasDefaults:
		wrong = "Defaults must be formed as a dict"
	}
	return wrong, false, nil
}

// decide compares the file with what it should be.
func (a managedArgs) decide(c *states.Call, m *file.Managing) (states.Plan, error) {
	there := exists(m.Name)
	if there && a.Replace && m.Contents == nil && !python.Truth(a.Template) && python.Truth(a.Source) && !a.SkipVerify {
		if err := m.Locate(c.Call); err == nil && m.HasHash(c.Call) {
			a.Replace = false
		}
	}
	if there && !a.Replace {
		return a.permsOnly(c, m)
	}
	if err := a.accumulated(c, m); err != nil {
		return states.Plan{}, err
	}
	wrong, err := a.find(c, m)
	switch {
	case isErr(err):
		return states.Wrong("Unable to manage file: " + loader.Message(err)), nil
	case err != nil:
		return states.Plan{}, err
	case wrong != "" && c.Test: // Salt has no prefix there
		return states.Wrong(wrong), nil
	case wrong != "":
		return states.Wrong("Unable to manage file: " + wrong), nil
	}
	s, wrong, err := m.Look(c.Call)
	if err != nil {
		return states.Wrong("Unable to manage file: " + loader.Message(err)), nil
	}
	if wrong != "" {
		return states.Wrong(wrong), nil
	}
	return a.planOf(c, m, s)
}

// isErr tells errors that become a comment, as all do that are not of the end of the job.
func isErr(err error) bool { return err != nil }

// find finds the content, or tells why there is none.
func (a managedArgs) find(c *states.Call, m *file.Managing) (wrong string, err error) {
	if err := m.Locate(c.Call); err != nil {
		return "", err
	}
	return m.Get(c.Call)
}

// permsOnly leaves the content alone.
func (a managedArgs) permsOnly(c *states.Call, m *file.Managing) (states.Plan, error) {
	ret := file.NewRet()
	was, err := m.Perms.Check(c.Call, m.Name, ret)
	if err != nil {
		return states.Plan{}, err
	}
	if ret.Changes.Len() == 0 {
		return states.Plan{Result: true, Comment: cond(c.Test, "File "+m.Name+" not updated",
			"File "+m.Name+" exists with proper permissions. No changes made.")}, nil
	}
	comment := "File " + m.Name + " not updated"
	if mode, now := m.Mode, fmt.Sprintf("%04o", was.Mode); mode != nil && mode != any(now) {
		comment = fmt.Sprintf("File %s will be updated with permissions %s from its current state of %s", m.Name, mode, now)
	}
	return states.Would(comment, ret.Changes, func() (states.Done, error) {
		ret := file.NewRet()
		err := m.Perms.Enforce(c.Call, m.Name, ret)
		return done(ret), err
	}), nil
}

// done is what a plan came to.
func done(ret *file.Ret) states.Done {
	return states.Done{Result: ret.Result, Comment: ret.Comment, Changes: ret.Changes}
}

// planOf is the plan for what was seen.
func (a managedArgs) planOf(c *states.Call, m *file.Managing, s *file.Sight) (states.Plan, error) {
	changes, err := m.Changes(c.Call, s)
	if err != nil {
		return states.Plan{}, err
	}
	if changes.Len() == 0 {
		return states.Correct(cond(c.Test, "The file ", "File ") + m.Name + " is in the correct state"), nil
	}
	skip := a.lenient().Any() && !s.Counts
	p := states.Would("The file "+m.Name+" is set to be changed\nNote: No changes made, actual changes may\n"+
		"be different due to other states.", changes, func() (states.Done, error) {
		d, err := a.apply(c, m, s)
		if skip && d.Changes.Len() > 0 {
			d = d.With("skip_req", true)
		}
		return d, err
	})
	if skip {
		p = p.With("skip_req", true)
	}
	return p, nil
}

// apply makes the file what it should be, once a command has found it good.
func (a managedArgs) apply(c *states.Call, m *file.Managing, s *file.Sight) (states.Done, error) {
	if python.Truth(a.CheckCmd) {
		bad, err := a.checked(c, m)
		if err != nil {
			return states.Done{Result: false, Comment: "Unable to check_cmd file: " + loader.Message(err)}, nil
		}
		if bad != nil {
			return *bad, nil
		}
	}
	ret := file.NewRet()
	if err := m.Apply(c.Call, s, ret); err != nil {
		return states.Done{Result: false, Comment: "Unable to manage file: " + loader.Message(err)}, nil
	}
	if !a.KeepSource {
		m.Forget(c.Call)
	}
	return done(ret), nil
}

// warned adds to a plan which arguments do not count here.
func (a managedArgs) warned(p states.Plan) states.Plan {
	var texts []any
	if a.KW.Has("file_mode") {
		texts = append(texts, "The 'file_mode' argument will be ignored.  Please use 'mode' instead to set file permissions.")
	}
	if python.Truth(a.SELinux) {
		texts = append(texts, "The argument 'selinux' does not count: SELinux is not enabled")
	}
	given := [][2]any{{"win_owner", a.WinOwner}, {"win_perms", a.WinPerms}, {"win_deny_perms", a.WinDeny},
		{"win_inheritance", a.WinInheritance != true}, {"win_perms_reset", a.WinReset}}
	if !python.Truth(a.Template) { // else they are names in it
		given = append(given, unknown(a.KW, "env", "owner", "file_mode")...)
	}
	return withWarnings(p, append(texts, useless(given)...))
}

// useless are warnings of arguments that were given and count for nothing.
func useless(given [][2]any) (texts []any) {
	for _, x := range given {
		if python.Truth(x[1]) {
			texts = append(texts, fmt.Sprintf("The argument '%s' does not count here", x[0]))
		}
	}
	return texts
}

// unknown are keywords that no function has a parameter for, but for some.
func unknown(kw *payload.Map, known ...string) (out [][2]any) {
	for key := range loader.CleanKWArgs(kw).All() {
		if name := python.Str(key); !slices.Contains(known, name) && !strings.HasPrefix(name, "__") {
			out = append(out, [2]any{name, true})
		}
	}
	return out
}

// withWarnings adds warnings to a return, whether the plan is applied or not.
func withWarnings(p states.Plan, texts []any) states.Plan {
	if len(texts) == 0 {
		return p
	}
	if apply := p.Apply; apply != nil {
		p.Apply = func() (states.Done, error) {
			d, err := apply()
			return d.With("warnings", texts), err
		}
	}
	return p.With("warnings", texts)
}
