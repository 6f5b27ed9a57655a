package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
	"brine/wire/python/shlex"
)

// contents are the functions that read files.
func contents() []loader.Func {
	return []loader.Func{
		loader.Fn("read", read, "Show what is in a file.", "file.read /path/to/file"),
		loader.Fn("seek_read", seekRead, "Show some bytes of a file from a place on.",
			"file.seek_read /path/to/file 4096 0"),
		loader.Fn("get_sum", getSum, "Show the hash sum of a file, or a text that there is none.",
			"file.get_sum /etc/passwd sha512"),
		loader.Fn("get_hash", getHash, "Show the hash sum of a file.", "file.get_hash /etc/shadow"),
		loader.Fn("check_hash", checkHash,
			"Tell whether a file has a hash sum, with or without the name of the hash before it.",
			"file.check_hash /etc/fstab md5:<md5sum>"),
		loader.Fn("grep", grep, "Run grep on a file, or on those that fit a pattern.",
			"file.grep /etc/passwd nobody", "file.grep /etc/sysconfig/network-scripts/ifcfg-eth0 ipaddr -- -i"),
	}
}

// textOf is a file that is text in UTF-8.
func textOf(name string) (string, error) {
	data, err := plainfile.Read(name, program.MaxOutput())
	if err != nil {
		return "", err
	}
	if wrong := python.UTF8Error(data); wrong != "" {
		return "", loader.Raise("UnicodeDecodeError", "%s", wrong)
	}
	return string(data), nil
}

// entire is a file to read from its beginning to its end.
type entire struct {
	location
	Binary any `arg:"binary=False"`
}

func read(_ *loader.Call, a entire) (any, error) {
	name, err := raw(a.Path)
	if err != nil {
		return nil, err
	}
	if a.Binary == true {
		return plainfile.Read(name, program.MaxOutput())
	}
	text, err := textOf(name)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// piece is a part of a file.
type piece struct {
	location
	Size   any `arg:"size"`
	Offset any `arg:"offset"`
}

func seekRead(c *loader.Call, a piece) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	f, err := plainfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	offset, err := loader.ToInt(a.Offset)
	if err != nil {
		return nil, err
	}
	size, err := loader.ToInt(a.Size)
	if err != nil {
		return nil, err
	}
	if offset < 0 || size < 0 {
		return nil, loader.Raise("OSError", "%s", loader.OSErrorText(syscall.EINVAL, ""))
	}
	if most := program.MaxOutput(); size > most {
		size = most
	}
	return io.ReadAll(io.NewSectionReader(f, offset, size))
}

type (
	hashed struct {
		location
		Form any `arg:"form=sha256"`
	}
	hashedInChunks struct {
		hashed
		ChunkSize any `arg:"chunk_size=65536"` // of how many bytes at once is no matter
	}
)

func getSum(c *loader.Call, a hashed) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return "File not found", nil
	}
	return hashOf(c, name, a.Form)
}

func getHash(c *loader.Call, a hashedInChunks) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	return hashOf(c, name, a.Form)
}

// lengths are the digits of each hash that is known by them, in their order.
var lengths = []struct {
	digits int
	form   string
}{{32, "md5"}, {40, "sha1"}, {56, "sha224"}, {64, "sha256"}, {96, "sha384"}, {128, "sha512"}}

// withHash is a file and the hash that it may have.
type withHash struct {
	location
	Hash any `arg:"file_hash"`
}

func checkHash(c *loader.Call, a withHash) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	sum, ok := a.Hash.(string)
	if !ok {
		return nil, loader.InvocErr("hash must be a string")
	}
	form, value, named := strings.Cut(sum, ":")
	if !named {
		form, value, named = strings.Cut(sum, "=")
	}
	if !named {
		var known []string
		form, value = "", sum
		for _, l := range lengths {
			known = append(known, fmt.Sprintf("%s (%d)", l.form, l.digits))
			if l.digits == len([]rune(sum)) {
				form = l.form
			}
		}
		if form == "" {
			return nil, loader.InvocErr("Hash %s (length: %d) could not be matched to a supported hash type. "+
				"The supported hash types and lengths are: %s",
				sum, len([]rune(sum)), strings.Join(known, ", "))
		}
	}
	got, err := hashOf(c, name, form)
	return got == any(value), err
}

// grepped is a file, a pattern and options of grep.
type grepped struct {
	location
	Pattern any   `arg:"pattern"`
	Options []any `arg:"*args"`
}

func grep(c *loader.Call, a grepped) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	argv := []any{"grep"}
	for _, opt := range a.Options {
		words, err := shlex.Split(python.Str(opt))
		if err != nil {
			return nil, loader.Raise("ValueError", "%s", err)
		}
		if len(words) > 1 {
			return nil, loader.InvocErr("Passing multiple command line arguments in a single string is not supported, "+
				"please pass the following arguments separately: %s", python.Str(opt))
		}
		for _, w := range words {
			argv = append(argv, w)
		}
	}
	argv = append(argv, a.Pattern)
	paths := pypath.Glob(name)
	if len(paths) == 0 {
		paths = []string{name} // grep says that it is not there
	}
	for _, p := range paths {
		argv = append(argv, p)
	}
	return c.Call("cmd.run_all", []any{argv}, payload.M("python_shell", false))
}

// search is what the functions for one text in one file have in common: what is not there, or cannot be read, has it
// not.
func search(c *loader.Call, v any, in func(text string) (bool, error)) (any, error) {
	name, err := path(c, v)
	if err != nil {
		return nil, err
	}
	text, err := textOf(name)
	var system *fs.PathError
	if errors.As(err, &system) {
		return false, nil
	}
	if err != nil {
		return nil, err
	}
	return in(text)
}

// badPattern is Python's error of a pattern that is none.
func badPattern(err error) error { return loader.Raise("re.error", "%s", err) }

// regexpOf is a pattern of Python for the lines of a file.
func regexpOf(v any) (*re.Pattern, error) {
	text, ok := v.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
	}
	re, err := re.CompileSearch(text)
	if err != nil {
		return nil, badPattern(err)
	}
	return re, nil
}
