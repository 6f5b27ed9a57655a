package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/execution/archive"
	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/python"
)

// plan plans what is to be done with the archive, which is there.
func (e *extraction) plan() (states.Plan, error) {
	if e.local {
		if why, err := e.checkSignature(); why != "" || err != nil {
			return states.Wrong(why), err
		}
	}
	before := e.readSum(e.file, e.hashType())
	contents, err := archive.List(e.c.Call, e.file, e.file, e.format, e.ListOptions)
	switch {
	case err != nil && e.c.Ctx.Err() != nil:
		return states.Plan{}, err
	case err != nil:
		return states.Wrong(e.notListed(err)), nil
	case contents.Encrypted && !python.Truth(e.Password):
		return states.Wrong("Archive " + e.shown() + " is password-protected, but no password was specified. Please " +
			"set the " +
			"'password' argument."), nil
	case contents.Harm != nil:
		return states.Wrong("Archive " + e.shown() + " cannot be extracted: " + contents.Harm.Error()), nil
	}
	contents.Strip(e.strip)
	e.contents = contents
	contents.Map() // in order
	if e.TopLevel && (len(contents.TopDirs()) > 1 || len(contents.Top(contents.Files)) > 0) {
		return states.Wrong("Archive does not have a single top-level directory. To allow this archive to be " +
			"extracted, set " +
			"'enforce_toplevel' to False. To avoid a '" + e.format +
			"-bomb' it may also be advisable to set a top-level directory " +
			"by adding it to the 'name' value (for example, setting 'name' to " + e.dir + "some_dir instead of " +
			e.dir + ")."), nil
	}
	if e.Clean && e.CleanParent {
		return states.Wrong("Only one of 'clean' and 'clean_parent' can be set to True"), nil
	}
	return e.planFor(before)
}

// notListed tells why the contents are not known, and what would help.
func (e *extraction) notListed(err error) string {
	var help []string
	if !python.Truth(e.IfMissing) {
		help = append(help, "'if_missing' must be set")
	}
	if !python.Truth(e.OwnershipOn) && (python.Truth(e.User) || python.Truth(e.Group)) {
		help = append(help, "Ownership cannot be managed without setting 'enforce_ownership_on'.")
	}
	text := loader.Message(err)
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".?!") {
		text += "."
	}
	text += " Additional info follows:\n\narchive location:\n    " + e.file
	if len(help) == 0 {
		return text
	}
	text += "\n\n"
	if e.format == "tar" {
		text += "If the source archive is a tar archive compressed using a compression type not natively supported " +
			"by the tar " +
			"command, then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if " +
			"Salt is " +
			"unable to determine the files/directories in the archive, the following workaround(s) would need to be " +
			"used for " +
			"this state to proceed"
	} else {
		text += "The following workarounds must be used for this state to proceed"
	}
	text += " (assuming the source file is a valid " + e.format + " archive):\n"
	for _, item := range help {
		text += "\n- " + item
	}
	return text
}

// planFor compares the archive with the directory. before is the sum that it had last.
func (e *extraction) planFor(before string) (states.Plan, error) {
	needed := e.Overwrite
	bad, err := e.compare(&needed)
	if err != nil {
		return states.Wrong(err.Error()), nil
	}
	if len(bad) > 0 {
		if p := e.wrongTypes(bad); p != nil {
			return *p, nil
		}
		needed = true
	}
	if !needed && e.HashUpdate && before != "" {
		now, err := plainfile.Hash(e.c.Ctx, e.file, e.hashType())
		if err != nil {
			return states.Plan{}, err
		}
		needed = now != before
		e.trigger = needed
	}
	if !needed {
		return e.planOwners()
	}
	if e.local && e.sum != nil && !e.SkipVerify {
		have, err := plainfile.Hash(e.c.Ctx, e.file, e.sum.Str("hash_type"))
		if err != nil {
			return states.Plan{}, err
		}
		if have != e.sum.Str("hsum") {
			return states.Wrong(e.shown() + " does not match the desired source_hash " + e.sum.Str("hsum")), nil
		}
	}
	text := "Archive " + e.shown() + " would be extracted to " + e.dir
	if e.Clean {
		text += ", after cleaning destination path(s)"
	}
	return states.Would(text+e.why(), nil, func() (states.Done, error) { return e.extract(bad) }), nil
}

// why is why the archive is unpacked.
func (e *extraction) why() string {
	switch {
	case e.trigger:
		return ", due to source_hash update"
	case e.missing:
		return ", due to absence of one or more files/dirs"
	}
	return ""
}

// compare finds what is missing of the archive, and what is of another type.
func (e *extraction) compare(needed *bool) (bad []string, err error) {
	look := func(names []string, right func(fs.FileMode) bool) error {
		for _, name := range names {
			info, err := os.Lstat(strings.TrimRight(filepath.Join(e.dir, name), "/"))
			switch {
			case err == nil && !right(info.Mode()):
				bad = append(bad, name)
			case err == nil || errors.Is(err, syscall.ENOTDIR):
			case errors.Is(err, fs.ErrNotExist):
				*needed, e.missing = true, true
			default:
				return err
			}
		}
		return nil
	}
	isLink := func(m fs.FileMode) bool { return m&fs.ModeSymlink != 0 }
	err = look(e.contents.Dirs, fs.FileMode.IsDir)
	if err == nil {
		err = look(e.contents.Files, func(m fs.FileMode) bool { return !m.IsDir() && !isLink(m) })
	}
	if err == nil {
		err = look(e.contents.Links, isLink)
	}
	return bad, err
}

// wrongTypes is a plan for paths of another type; nil: they are removed.
func (e *extraction) wrongTypes(bad []string) *states.Plan {
	list := "\n\n- " + strings.Join(bad, "\n- ")
	text := "The below paths (relative to " + e.dir + ") exist, but are the incorrect type (file instead of " +
		"directory, symlink " +
		"instead of file, etc.)."
	extract := func() (states.Done, error) { return e.extract(nil) }
	switch {
	case e.Clean:
		p := states.Would(text+" Since the 'clean' option is enabled, the destination paths would be cleared and "+
			"the archive "+
			"would be extracted."+list, nil, extract)
		return &p
	case e.CleanParent:
		p := states.Would(text+" Since the 'clean_parent' option is enabled, the destination parent directory would "+
			"be removed "+
			"first and then re-created and the archive would be extracted", nil, extract)
		return &p
	case !e.Force:
		p := states.Wrong(text + " To proceed with extraction, set 'force' to True. Note that this will remove " +
			"these paths before " +
			"extracting." + list)
		return &p
	}
	return nil
}

// planOwners plans who owns the files, which are there.
func (e *extraction) planOwners() (states.Plan, error) {
	text := "All files in archive are already present"
	o := e.owners()
	if err := o.look(); err != nil {
		return states.Plan{}, err
	}
	finish := func() (states.Done, error) {
		if err := e.keepSum(); err != nil {
			return states.Done{}, err
		}
		if err := o.give(); err != nil {
			return states.Done{}, err
		}
		return o.told(text), nil
	}
	if len(o.wrong) == 0 {
		p := states.Correct(text)
		p.Apply = finish
		return p, nil
	}
	return states.Would(text+". Ownership would be updated on one or more files/directories.", updated(), finish), nil
}

// keepSum keeps the sum of the archive, where that is wanted.
func (e *extraction) keepSum() error {
	if !python.Truth(e.Hash) || !e.HashUpdate || e.SkipVerify {
		return nil
	}
	return e.writeSum()
}
