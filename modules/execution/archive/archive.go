// Package archive is the execution module archive: it lists, unpacks and makes archives. Scan and Unpack are what the
// state module archive calls, too. It answers to salt/modules/archive.py.
//
// Unlike Salt: nothing of an archive comes to be outside of the directory that it is unpacked in. An archive with a
// name, a link, a device or a size that looks like harm is refused before anything of it is written (see Member and
// limits.go), and a file is in its place when it is whole. tar and zip are read in this process; xz, lzma and zstd are
// unpacked by their programs.
package archive

import (
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// Module is archive.
func Module() loader.Module {
	return loader.Module{File: "archive", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("list", list, "List the files and directories in a tar, zip, or rar archive.",
				"archive.list /path/to/myfile.tar.gz strip_components=1",
				"archive.list salt://foo.tar.gz").Named("list_"),
			loader.Fn("tar", runTar, "Pack or unpack files with tar.",
				"archive.tar -cjvf /tmp/a.tar.bz2 /tmp/file_1,/tmp/file_2"),
			loader.Fn("gzip", zipped("gzip"), "Compress a file with gzip.", "archive.gzip /tmp/sourcefile.txt"),
			loader.Fn("gunzip", gunzip, "Uncompress a file with gunzip.", "archive.gunzip /tmp/sourcefile.txt.gz"),
			loader.Fn("cmd_zip", cmdZip, "Pack files with zip.",
				"archive.cmd_zip /tmp/zipfile.zip /tmp/file_1,/tmp/file_2"),
			loader.Fn("zip", makeZip, "Pack files into a zip archive.",
				"archive.zip /tmp/zipfile.zip /tmp/file_1,/tmp/file_2").
				Named("zip_"),
			loader.Fn("cmd_unzip", cmdUnzip, "Unpack a zip archive with unzip.",
				"archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2"),
			loader.Fn("unzip", unzip, "Unpack a zip archive.", "archive.unzip /tmp/zipfile.zip /home/strongbad/"),
			loader.Fn("is_encrypted", isEncrypted, "Tell whether a zip archive needs a password.",
				"archive.is_encrypted /path/to/a.zip"),
			loader.Fn("rar", rar, "Pack files with rar.", "archive.rar /tmp/rarfile.rar /tmp/file_1,/tmp/file_2"),
			loader.Fn("unrar", unrar, "Unpack a rar archive.", "archive.unrar /tmp/rarfile.rar /home/strongbad/"),
		}
	}}
}

// which finds a program on the PATH of the job.
func which(c *loader.Call, names ...string) string {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	for _, name := range names {
		if found := program.WhichOn(path, name); found != "" {
			return found
		}
	}
	return ""
}

// run runs a program that has to be there, and gives the lines of its output.
func run(c *loader.Call, argv []string, operands []string, more *payload.Map) ([]any, error) {
	if which(c, argv[0]) == "" {
		return nil, &loader.CommandNotFoundError{Message: "The '" + argv[0] + "' binary was not found in $PATH."}
	}
	for _, word := range operands {
		if word != "-" && cmdmod.Operand(word) != nil {
			return nil, cmdmod.Operand(word)
		}
	}
	text, err := cmdmod.Run(c, append(argv, operands...), more)
	return payload.AnyList(cmdmod.Output{Stdout: text}.Lines()), err
}

// rendered are two names, as templates where that is wanted.
type how struct {
	Template any `arg:"template=None"`
	RunAs    any `arg:"runas=None"`
}

func (a how) more(cwd any) *payload.Map {
	return payload.M("cwd", cwd, "template", a.Template, "runas", a.RunAs)
}

func runTar(c *loader.Call, a struct {
	Options string `arg:"options"`
	Tarfile string `arg:"tarfile"`
	Sources any    `arg:"sources=None"`
	Dest    any    `arg:"dest=None"`
	Cwd     any    `arg:"cwd=None"`
	how
}) ([]any, error) {
	if a.Options == "" {
		return nil, loader.InvocErr("Tar options can not be empty")
	}
	argv := append([]string{"tar"}, strings.Fields(a.Options)...)
	operands := []string{a.Tarfile}
	if python.Truth(a.Dest) {
		argv, operands = append(argv, a.Tarfile, "-C", python.Str(a.Dest)), nil
		if err := cmdmod.Operand(a.Tarfile); err != nil && a.Tarfile != "-" {
			return nil, err
		}
	}
	return run(c, argv, append(operands, sources(a.Sources)...), a.more(a.Cwd))
}

// packed is a file that a program of one argument works on.
type packed struct {
	Source  string `arg:"sourcefile"`
	Options any    `arg:"options=None"`
}

// zipped is a function of a program that takes one file.
func zipped(name string) func(*loader.Call, struct {
	Source string `arg:"sourcefile"`
	how
	Options any `arg:"options=None"`
}) ([]any, error) {
	return func(c *loader.Call, a struct {
		Source string `arg:"sourcefile"`
		how
		Options any `arg:"options=None"`
	}) ([]any, error) {
		return onFile(c, name, packed{a.Source, a.Options}, a.how)
	}
}

func gunzip(c *loader.Call, a struct {
	Source string `arg:"gzipfile"`
	how
	Options any `arg:"options=None"`
}) ([]any, error) {
	return onFile(c, "gunzip", packed{a.Source, a.Options}, a.how)
}

func onFile(c *loader.Call, name string, a packed, h how) ([]any, error) {
	argv := []string{name}
	if python.Truth(a.Options) {
		argv = append(argv, python.Str(a.Options))
	}
	return run(c, argv, []string{a.Source}, h.more(nil))
}

func cmdZip(c *loader.Call, a struct {
	File     string `arg:"zip_file"`
	Sources  any    `arg:"sources"`
	Template any    `arg:"template=None"`
	Cwd      any    `arg:"cwd=None"`
	RunAs    any    `arg:"runas=None"`
}) ([]any, error) {
	operands := append([]string{a.File}, sources(a.Sources)...)
	return run(c, []string{"zip", "-r"}, operands, how{a.Template, a.RunAs}.more(a.Cwd))
}

func rar(c *loader.Call, a struct {
	File     string `arg:"rarfile"`
	Sources  any    `arg:"sources"`
	Template any    `arg:"template=None"`
	Cwd      any    `arg:"cwd=None"`
	RunAs    any    `arg:"runas=None"`
}) ([]any, error) {
	operands := append([]string{a.File}, sources(a.Sources)...)
	return run(c, []string{"rar", "a", "-idp"}, operands, how{a.Template, a.RunAs}.more(a.Cwd))
}

func unrar(c *loader.Call, a struct {
	File     string `arg:"rarfile"`
	Dest     string `arg:"dest"`
	Excludes any    `arg:"excludes=None"`
	how
	Trim any `arg:"trim_output=False"`
}) ([]any, error) {
	found := which(c, "unrar", "rar")
	if found == "" {
		return nil, &loader.CommandNotFoundError{
			Message: `None of provided binaries(["'unrar'", "'rar'"]) were found in $PATH.`}
	}
	argv := []string{found, "x", "-idp"}
	for _, word := range words(a.Excludes) {
		argv = append(argv, "-x"+word)
	}
	if err := cmdmod.Operand(a.Dest); err != nil {
		return nil, err
	}
	out, err := run(c, argv, []string{a.File, a.Dest}, a.more(nil))
	return trimmed(out, a.Trim), err
}

func cmdUnzip(c *loader.Call, a struct {
	File     string `arg:"zip_file"`
	Dest     string `arg:"dest"`
	Excludes any    `arg:"excludes=None"`
	Options  any    `arg:"options=None"`
	how
	Trim     any `arg:"trim_output=False"`
	Password any `arg:"password=None"`
}) ([]any, error) {
	if which(c, "unzip") == "" {
		return nil, &loader.CommandNotFoundError{Message: "The 'unzip' binary was not found in $PATH."}
	}
	if python.Truth(a.Password) { // unlike Salt, where every user sees it among the arguments
		if python.Truth(a.Options) {
			return nil, loader.ExecErr("A password cannot be given to unzip safely: leave the options away, and the " +
				"archive " +
				"is unpacked without that program")
		}
		return unzipped(c, unzipArgs{File: a.File, Dest: a.Dest, Excludes: a.Excludes, how: a.how, Trim: a.Trim,
			Password: a.Password, Perms: true})
	}
	argv := []string{"unzip"}
	if python.Truth(a.Options) {
		opts, err := shlex.Split(python.Str(a.Options))
		if err != nil {
			return nil, loader.Raise("ValueError", "%s", err)
		}
		argv = append(argv, opts...)
	}
	excludes := words(a.Excludes)
	if err := cmdmod.Operand(append([]string{a.File, a.Dest}, excludes...)...); err != nil {
		return nil, err
	}
	argv = append(argv, a.File, "-d", a.Dest)
	if a.Excludes != nil {
		argv = append(append(argv, "-x"), excludes...)
	}
	out, err := cmdmod.RunAll(c, argv, a.more(nil).Set("redirect_stderr", true))
	switch {
	case err != nil:
		return nil, err
	case out.Code != 0:
		return nil, loader.ExecErr("%s", out.Stdout)
	}
	return trimmed(payload.AnyList(out.Lines()), a.Trim), nil
}

// words are a list of texts, or one text with commas.
func words(v any) []string {
	switch x := v.(type) {
	case nil:
		return nil
	case string:
		var out []string
		for part := range strings.SplitSeq(x, ",") {
			out = append(out, strings.TrimSpace(part))
		}
		return out
	case []any:
		out := make([]string, len(x))
		for i := range x {
			out[i] = python.Str(x[i])
		}
		return out
	}
	return []string{python.Str(v)}
}

// sources are names of files, and what is found by patterns.
func sources(v any) []string {
	out := []string{}
	for _, name := range words(v) {
		if !strings.ContainsAny(name, "*?[") {
			out = append(out, name)
			continue
		}
		found, _ := filepath.Glob(name) // a pattern that is none finds nothing, as in Salt
		hidden := strings.HasPrefix(filepath.Base(name), ".")
		for _, path := range found {
			if hidden || !strings.HasPrefix(filepath.Base(path), ".") {
				out = append(out, path)
			}
		}
	}
	return out
}

// trimmed is a list of files of at most so many: 100 for True.
func trimmed(files []any, trim any) []any {
	count := int64(100)
	if b, isBool := trim.(bool); isBool && !b {
		return files
	} else if !isBool {
		n, err := loader.ToInt(trim)
		if err != nil {
			return files
		}
		count = n
	}
	if int64(len(files)) <= count {
		return files
	}
	return append(files[:count:count], "List trimmed after "+python.Str(count)+" files.")
}
