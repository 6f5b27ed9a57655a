package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/archive"
	"brine/modules/execution/cmdmod"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// extract unpacks the archive. bad are paths of another type, which go first.
func (e *extraction) extract(bad []string) (states.Done, error) {
	if err := e.keepSum(); err != nil {
		return states.Done{}, err
	}
	if why := e.makeRoom(bad); why != "" {
		return states.Failed(why, e.changes)
	}
	created, err := e.makeDir()
	if err != nil {
		return states.Done{}, err
	}
	files, why, changes, err := e.unpack()
	switch {
	case err != nil:
		return states.Done{}, err
	case why != "" || changes != nil:
		if created && changes == nil {
			_ = os.Remove(strings.TrimRight(e.dir, "/")) // which fails when something is in it
		}
		if changes == nil {
			changes = e.changes
		}
		return states.Failed(why, changes)
	case len(files) == 0:
		return states.Failed("No files were extracted from "+e.shown(), e.changes)
	}
	o := e.owners()
	if err := errors.Join(o.look(), o.give()); err != nil {
		return states.Done{}, err
	}
	if created {
		e.changes.Set("directories_created", []any{e.dir})
	}
	var shown any = payload.AnyList(files)
	if e.format == "tar" && python.Truth(e.Options) && files[0] == "" {
		shown = "no tar output so far"
	}
	e.changes.Set("extracted_files", shown)
	text := e.shown() + " extracted to " + e.dir + e.why()
	if e.trim > 0 {
		text += ". Output was trimmed to " + python.Str(e.trim) + " number of lines"
	}
	return o.told(text), nil
}

// makeRoom removes what is to go before the archive is unpacked; why is what could not be removed.
func (e *extraction) makeRoom(bad []string) (why string) {
	if e.CleanParent {
		dir := strings.TrimRight(e.dir, "/")
		if err := safefile.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "Unable to remove the directory " + e.dir + ". The following errors were observed:\n\n- " +
				err.Error()
		} else if err == nil {
			e.changes.Set("removed", "Directory "+e.dir+" was removed prior to the extraction")
		}
		return ""
	}
	text := "One or more paths existed by were the incorrect type (i.e. file instead of directory or vice-versa), " +
		"but could not " +
		"be removed. The following errors were observed:\n"
	if e.Clean {
		bad = append(e.contents.TopDirs(), e.contents.Top(e.contents.Files)...)
		text = "One or more paths could not be cleaned. The following errors were observed:\n"
	}
	if len(bad) == 0 {
		return ""
	}
	root, err := safefile.OpenRoot(e.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return text + "\n- " + err.Error()
	}
	defer root.Close()
	var errs string
	for _, name := range bad {
		path := strings.TrimRight(filepath.Clean(name), "/")
		if _, err := root.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := root.RemoveAll(path); err != nil {
			errs += "\n- " + err.Error()
			continue
		}
		e.changes.Set("removed", append(e.changes.List("removed"), e.dir+name))
	}
	if errs == "" {
		return ""
	}
	return text + errs
}

// makeDir makes the directory, and those that it is in.
func (e *extraction) makeDir() (created bool, err error) {
	dir := strings.TrimRight(e.dir, "/")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return false, nil
	}
	a := safefile.Attrs{}
	if e.uid >= 0 {
		a.Owner = &safefile.Owner{UID: e.uid, GID: -1}
	}
	for i := 1; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		if _, err := os.Stat(dir[:i]); err == nil {
			continue
		}
		if err := safefile.Mkdir(dir[:i], a); err != nil && !errors.Is(err, fs.ErrExist) {
			return created, loader.ExecErr("%v", err)
		}
		created = true
	}
	return created, nil
}

// unpack unpacks the archive into the directory, which is there. why and changes are those of a failure.
func (e *extraction) unpack() (files []string, why string, changes *payload.Map, err error) {
	var names any
	switch {
	case e.format == "rar":
		names, err = e.c.Salt("archive.unrar", payload.M("trim_output", e.trimArg()), e.file, e.dir)
	case e.format == "zip" && python.Truth(e.CmdUnzip):
		names, err = e.c.Salt("archive.cmd_unzip", payload.M("options", e.Options, "trim_output", e.trimArg(),
			"password",
			e.Password), e.file, e.dir)
	case e.format == "zip":
		names, err = e.c.Salt("archive.unzip", payload.M("trim_output", e.trimArg(), "password", e.Password,
			"extract_perms",
			e.Perms), e.file, e.dir)
	case e.Options != nil:
		return e.tarProgram()
	default:
		files, err := e.untar()
		if err != nil && e.c.Ctx.Err() == nil {
			return nil, "Failed to extract " + e.shown() + ": " + err.Error(), nil, nil
		}
		return files, "", nil, err
	}
	if err != nil {
		return nil, loader.Message(err), nil, nil
	}
	list, _ := names.([]any)
	return payload.Texts(list), "", nil, nil
}

// trimArg is trim_output as the functions take it.
func (e *extraction) trimArg() any {
	if e.trim == 0 {
		return false
	}
	return e.trim
}

// shorten leaves out what is too much.
func (e *extraction) shorten(files []string) []string {
	if e.trim > 0 && int64(len(files)) > e.trim {
		return files[:e.trim]
	}
	return files
}

func (e *extraction) untar() ([]string, error) {
	root, err := safefile.OpenRoot(e.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := archive.Untar(e.c.Ctx, e.file, root)
	return e.shorten(files), err
}

// tarProgram unpacks with tar, as the options say.
func (e *extraction) tarProgram() (files []string, why string, changes *payload.Map, err error) {
	if v, err := e.c.Salt("cmd.which", nil, "tar"); err != nil || v == nil {
		return nil, "tar command not available, it might not be installed on minion", nil, err
	}
	words, err := shlex.Split(python.Str(e.Options))
	if err != nil {
		return nil, "", nil, loader.Raise("ValueError", "%s", err)
	}
	short, long := "xv", []string{}
	first := true
	for _, word := range words {
		if word == "v" || word == "-v" || word == "--verbose" {
			continue
		}
		if strings.HasPrefix(word, "-") || !first {
			long = append(long, word)
		} else {
			short += strings.NewReplacer("x", "", "f", "").Replace(word)
		}
		first = false
	}
	argv := append(append([]string{"tar", short}, long...), "-f", e.file)
	v, err := e.c.Salt("cmd.run_all", payload.M("cwd", e.dir, "python_shell", false), payload.AnyList(argv))
	out, _ := v.(*payload.Map)
	switch code, _ := out.Int("retcode"); {
	case err != nil:
		return nil, "", nil, err
	case code != 0:
		return nil, "", out, nil
	}
	if files = e.shorten(cmdmod.Output{Stdout: out.Str("stdout")}.Lines()); len(files) == 0 {
		files = []string{""}
	}
	return files, "", nil, nil
}
