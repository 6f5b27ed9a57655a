package file

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/python"
	"brine/wire/python/shlex"

	"golang.org/x/sys/unix"
)

// printOption tells what is asked for of each path: one thing by itself, several in a list.
func printOption(f *finder, v any) error {
	text, err := textFor(v, "replace")
	if err != nil {
		return err
	}
	what := strings.Fields(strings.ReplaceAll(text, ",", " "))
	if len(what) == 0 {
		what = []string{"path"}
	}
	f.actions = append(f.actions, func(p *found) (any, bool, error) {
		out := []any{}
		for _, w := range what {
			v, known, err := f.told(p, w)
			if err != nil {
				return nil, false, err
			}
			if known {
				out = append(out, v)
			}
		}
		if len(out) == 1 {
			return out[0], true, nil
		}
		return out, true, nil
	})
	return nil
}

// told is one thing that print can tell; a word that means nothing is left out.
func (f *finder) told(p *found, what string) (v any, known bool, err error) {
	switch what {
	case "path":
		return p.path, true, nil
	case "name":
		return pypath.Base(p.path), true, nil
	}
	st, err := p.stat()
	if err != nil {
		return nil, false, err
	}
	switch what {
	case "size":
		return st.Size, true, nil
	case "type":
		for i := range kindLetters {
			if st.Mode&unix.S_IFMT == kindOf(kindLetters[i]) {
				return kindLetters[i : i+1], true, nil
			}
		}
		return "?", true, nil
	case "mode":
		return int64(st.Mode & 0o777), true, nil
	case "mtime":
		return st.Mtim.Sec, true, nil
	case "user":
		return userName(int64(st.Uid)), true, nil
	case "group":
		return groupName(int64(st.Gid)), true, nil
	case "md5":
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			return "", true, nil
		}
		sum, err := hashOf(f.call, p.path, "md5")
		return sum, true, err
	}
	return nil, false, nil
}

// deleteOption removes what is of the kinds that it names, and tells what it has removed.
func deleteOption(f *finder, v any) error {
	kinds, ok := v.(string)
	if !ok {
		return &loader.ArgumentError{Message: "argument of type '" + python.Type(v) + "' is not iterable"}
	}
	if strings.Contains(kinds, "a") {
		kinds = "bcdpfls"
	}
	if err := typeOption(f, kinds); err != nil {
		return err
	}
	f.actions = append(f.actions, func(p *found) (any, bool, error) {
		return p.path, f.test || remove(p.path) == nil, nil
	})
	return nil
}

// remove removes a link, a file, or a directory with all that is in it. Unlike Salt, whose find tells a pipe or a
// device as removed and leaves it, it removes these too.
func remove(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeType == fs.ModeDir {
		return os.RemoveAll(name)
	}
	return os.Remove(name)
}

// execOption runs a program with the path in the place of {}.
func execOption(f *finder, v any) error {
	f.actions = append(f.actions, func(p *found) (any, bool, error) {
		command, ok := v.(string)
		if !ok {
			f.call.Log(slog.LevelError,
				fmt.Sprintf("Exception while executing command \"%s\":\n\n'%s' object has no attribute 'replace'",
					python.Str(v), python.Type(v)))
			return p.path + ": Failed", true, nil
		}
		command = strings.ReplaceAll(command, "{}", p.path)
		argv, err := shlex.Split(command)
		var out program.Result
		if err == nil && len(argv) > 0 {
			out, err = program.Run(f.call.Ctx, program.Spec{Argv: argv})
		}
		if f.call.Ctx.Err() != nil {
			return nil, false, err
		}
		if err != nil || len(argv) == 0 {
			f.call.Log(slog.LevelError, fmt.Sprintf("Exception while executing command \"%s\":\n\n%s", command,
				loader.Message(err)))
			return p.path + ": Failed", true, nil
		}
		if len(out.Stderr) > 0 {
			f.call.Log(slog.LevelError, "Error running command: "+command+"\n\n"+python.DecodeUTF8(out.Stderr))
		}
		return command + ":\n" + python.DecodeUTF8(out.Stdout) + "\n", true, nil
	})
	return nil
}
