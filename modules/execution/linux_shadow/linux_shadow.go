// Package linux_shadow is the execution module shadow of Linux: it reads /etc/shadow, and changes passwords and their
// ages by chpasswd, passwd and chage. The hash of a password goes to a program by its standard input, never in a command
// line, which other users can read. It answers to salt/modules/linux_shadow.py.
package linux_shadow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module shadow of Linux.
func Module() loader.Module {
	return loader.Module{File: "linux_shadow", Name: "shadow", Virtual: virtual, Funcs: func() []loader.Func {
		return slices.Concat(lookups(), passwords(), ages())
	}}
}

// virtual wants Linux. The reason is empty, as in Salt.
func virtual(p loader.Place) (bool, string) {
	kernel, _ := p.Grain("kernel")
	return kernel == "Linux", ""
}

func lookups() []loader.Func {
	return []loader.Func{
		loader.Fn("default_hash", func(*loader.Call, struct{}) (string, error) { return "!", nil },
			"Show the hash of a user who has no password.", "shadow.default_hash"),
		loader.Fn("info", info, "Show the password of a user and its ages, as /etc/shadow has them.",
			"shadow.info root"),
		loader.Fn("list_users", listUsers, "List the users of /etc/shadow.", "shadow.list_users"),
	}
}

// under is the directory in which the files of passwords lie.
type under struct {
	Root any `arg:"root=None"`
}

// rooted is the option of a program for another root directory. It goes before the name of a user.
func (a under) rooted(argv ...string) []string {
	if a.Root == nil {
		return argv
	}
	return append(argv, "-R", loader.Text(a.Root))
}

// file is that of the passwords.
func (a under) file() string { return filepath.Join("/", loader.Text(a.Root), "etc/shadow") }

// fields are those of a line, without the last one, which nobody uses.
var fields = []string{"name", "passwd", "lstchg", "min", "max", "warn", "inact", "expire"}

// rows are the lines of the file.
func (a under) rows() ([][]string, error) {
	text, err := os.ReadFile(a.file())
	if err != nil {
		return nil, err
	}
	var out [][]string
	for line := range strings.Lines(string(text)) {
		if row := strings.Split(strings.TrimSpace(line), ":"); row[0] != "" {
			out = append(out, row)
		}
	}
	return out, nil
}

type named struct {
	Name string `arg:"name"`
	under
}

func info(_ *loader.Call, a named) (*payload.Map, error) { return a.look() }

// look is what the file says of a user: empty texts where it says nothing, or cannot be read.
func (a named) look() (*payload.Map, error) {
	rows, err := a.rows()
	for _, row := range rows {
		if row[0] == a.Name {
			return described(row)
		}
	}
	out := payload.NewMap(len(fields))
	for _, key := range fields {
		out.Set(key, "")
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		err = nil
	}
	return out, err
}

// described is a line as a map. Unlike Salt: numbers that the line does not have are -1, as empty ones are.
func described(row []string) (*payload.Map, error) {
	out := payload.NewMap(len(fields))
	for i, key := range fields {
		switch {
		case i < 2 && i < len(row):
			out.Set(key, row[i])
		case i < 2:
			out.Set(key, "")
		case i >= len(row) || row[i] == "":
			out.Set(key, int64(-1))
		default:
			n, err := loader.ToInt(row[i])
			if err != nil {
				return nil, err
			}
			out.Set(key, n)
		}
	}
	return out, nil
}

func listUsers(_ *loader.Call, a under) ([]any, error) {
	rows, err := a.rows()
	if err != nil {
		return nil, loader.ExecErr("%s cannot be read: %s", a.file(), loader.Message(err))
	}
	var names []string
	for _, row := range rows {
		names = append(names, row[0])
	}
	slices.Sort(names)
	return payload.AnyList(names), nil
}

// hash is the password of a line.
func hash(row *payload.Map) string { return python.Str(row.Value("passwd")) }
