package mount

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type extent struct {
	Extended bool `arg:"extended=False"`
}

func active(c *loader.Call, a extent) (*payload.Map, error) {
	shown, err := byProgram(c)
	if err != nil {
		return nil, err
	}
	if a.Extended {
		if out, err := fromMountinfo(c, shown); err != nil || out != nil {
			return out, err
		}
	}
	out := payload.NewMap(0)
	text, err := readTable("/proc/self/mounts")
	if err != nil {
		return nil, loader.ExecErr("File not readable /proc/self/mounts")
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		opts, err := resolved(c, words[3])
		if err != nil {
			return nil, err
		}
		out.Set(words[1], payload.M("device", words[0], "alt_device", shown.Value(words[1]), "fstype", words[2],
			"opts", opts))
	}
	return out, nil
}

// readTable reads a table of the kernel or of the operator.
func readTable(path string) (string, error) {
	data, err := plainfile.Read(path, program.MaxOutput())
	return string(data), err
}

// byProgram are the devices as the program mount shows them, by their places.
func byProgram(c *loader.Call) (*payload.Map, error) {
	v, err := c.Call("cmd.run_stdout", []any{[]any{"mount", "-l"}}, payload.M("python_shell", false))
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for line := range strings.Lines(loader.Text(v)) {
		if words := strings.Fields(line); len(words) >= 3 {
			out.Set(words[2], words[0])
		}
	}
	return out, nil
}

// fromMountinfo reads the longer table of the kernel; nil where it is not to be read.
func fromMountinfo(c *loader.Call, shown *payload.Map) (*payload.Map, error) {
	text, err := readTable("/proc/self/mountinfo")
	if err != nil {
		return nil, nil
	}
	v, err := c.Call("disk.blkid", nil, nil)
	if err != nil {
		v = nil // a machine without blkid knows no labels
	}
	blocks, _ := v.(*payload.Map)
	out := payload.NewMap(0)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		sep := slices.Index(words, "-")
		if sep < 6 || len(words) < sep+4 {
			continue
		}
		opts, err := resolved(c, words[5])
		if err != nil {
			return nil, err
		}
		super, err := resolved(c, words[sep+3])
		if err != nil {
			return nil, err
		}
		major, minor, _ := strings.Cut(words[2], ":")
		device := words[sep+2]
		block := blocks.Map(device)
		uuid := block.Value("UUID")
		if text, ok := uuid.(string); ok {
			uuid = strings.ToLower(text)
		}
		out.Set(words[4], payload.M("mountid", words[0], "parentid", words[1], "major", major, "minor", minor,
			"root", words[3], "opts", opts, "fstype", words[sep+1], "device", strings.ReplaceAll(device, `\040`, `\ `),
			"alt_device", shown.Value(words[4]), "superopts", super, "device_uuid", uuid,
			"device_label", block.Value("LABEL")))
	}
	return out, nil
}

// resolved are options with the numbers of users and groups in the place of names.
func resolved(c *loader.Call, text string) ([]any, error) {
	opts := strings.Split(text, ",")
	for i, opt := range opts {
		key, id, ok := strings.Cut(opt, "=")
		fun := map[string]string{"uid": "user.info", "gid": "group.info"}[key]
		if ok && fun != "" && !isNumber(id) {
			v, err := c.Call(fun, []any{id}, nil)
			if err != nil {
				return nil, err
			}
			if info, _ := v.(*payload.Map); info.Has(key) {
				opt = key + "=" + python.Str(info.Value(key))
			}
		}
		opts[i] = strings.ReplaceAll(opt, `\040`, `\ `)
	}
	return payload.AnyList(opts), nil
}

func isNumber(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

type atPlace struct {
	Name any `arg:"name"`
}

func isMounted(c *loader.Call, a atPlace) (bool, error) {
	all, err := active(c, extent{})
	return all.Has(a.Name), err
}

type ofCommand struct {
	Cmd string `arg:"cmd"`
}

func isFuseExec(c *loader.Call, a ofCommand) (bool, error) {
	path := program.Which(a.Cmd)
	if path == "" {
		return false, nil
	}
	if program.Which("ldd") == "" {
		return false, &loader.CommandNotFoundError{Message: "ldd"}
	}
	v, err := c.Call("cmd.run", []any{[]any{"ldd", path}}, payload.M("python_shell", false))
	return strings.Contains(loader.Text(v), "libfuse"), err
}

type ofPath struct {
	Path string `arg:"path"`
}

func mountFromPath(_ *loader.Call, a ofPath) (string, error) { return mountOf(a.Path), nil }

func mountOf(path string) string {
	path = pypath.Real(path)
	for path != "/" && !isMount(path) {
		path = pypath.Dir(path)
	}
	return path
}

// isMount tells whether a directory is on another device than the one above it.
func isMount(path string) bool {
	var here, above syscall.Stat_t
	if syscall.Lstat(path, &here) != nil || here.Mode&syscall.S_IFMT == syscall.S_IFLNK ||
		syscall.Lstat(pypath.Join(path, ".."), &above) != nil {
		return false
	}
	return here.Dev != above.Dev || here.Ino == above.Ino
}

func deviceFromPath(c *loader.Call, a ofPath) (any, error) {
	all, err := active(c, extent{})
	return all.Map(mountOf(a.Path)).Value("device"), err
}

// exists tells whether a path leads to anything.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
