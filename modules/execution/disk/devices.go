package disk

import (
	"slices"
	"strings"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type blocks struct {
	Device any `arg:"device=None"`
	Token  any `arg:"token=None"`
}

func blkid(c *loader.Call, a blocks) (*payload.Map, error) {
	if err := needs("blkid", "blkid"); err != nil {
		return nil, err
	}
	words := []any{"blkid"}
	switch {
	case python.Truth(a.Device):
		words = append(words, "--", python.Str(a.Device))
	case python.Truth(a.Token):
		words = append(words, "-t", python.Str(a.Token))
	}
	ran, err := run(c, words...)
	out := payload.NewMap(0)
	if code, _ := ran.Int("retcode"); err != nil || code > 0 {
		return out, err
	}
	for line := range strings.Lines(ran.Str("stdout")) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok {
			out.Set(strings.TrimSuffix(name, ":"), tags(rest))
		}
	}
	return out, nil
}

// tags reads words like KEY="value".
func tags(text string) *payload.Map {
	out := payload.NewMap(0)
	for {
		key, rest, ok := strings.Cut(text, `="`)
		if !ok {
			return out
		}
		v, after, _ := strings.Cut(rest, `"`)
		out.Set(strings.TrimSpace(key), v)
		text = after
	}
}

// asked are the properties of a device that blockdev tells, in their order.
const asked = "getro getsz getss getpbsz getiomin getioopt getalignoff getmaxsect getsize getsize64 getra getfra"

type dumped struct {
	Device string `arg:"device"`
	Args   any    `arg:"args=None"`
}

// dump returns False where blockdev fails, as in Salt.
func dump(c *loader.Call, a dumped) (any, error) {
	names := strings.Fields(asked)
	words := []any{"blockdev"}
	for _, name := range names {
		words = append(words, "--"+name)
	}
	ran, err := run(c, append(words, a.Device)...)
	if err != nil || python.Truth(ran.Value("retcode")) {
		return false, err
	}
	out := payload.NewMap(len(names))
	for i, line := range slices.Collect(strings.FieldsSeq(ran.Str("stdout"))) {
		if i < len(names) {
			out.Set(names[i], line)
		}
	}
	wanted, _ := a.Args.([]any)
	if len(wanted) == 0 {
		return out, nil
	}
	some := payload.NewMap(len(wanted))
	for _, name := range wanted {
		v, ok := out.Get(name)
		if !ok {
			return nil, loader.Raise("KeyError", "%s", python.Repr(name))
		}
		some.Set(name, v)
	}
	return some, nil
}

type tuned struct {
	Device string       `arg:"device"`
	KW     *payload.Map `arg:"**kwargs"`
}

func tune(c *loader.Call, a tuned) (any, error) {
	switches := map[any]string{"read-ahead": "setra", "filesystem-read-ahead": "setfra", "read-only": "setro",
		"read-write": "setrw"}
	words, show := []any{"blockdev"}, []any{}
	var wrong []string
	for key, v := range a.KW.All() {
		name, known := switches[key]
		alone := key == "read-only" || key == "read-write"
		switch {
		case strings.HasPrefix(python.Str(key), "__"):
			continue
		case !known, alone && v != true && v != "True":
			wrong = append(wrong, python.Str(key)+"="+python.Str(v))
			continue
		case alone:
			words, show = append(words, "--"+name), append(show, "getro")
		default:
			words = append(words, "--"+name, python.Str(v))
			show = append(show, strings.Replace(name, "set", "get", 1))
		}
	}
	if len(wrong) > 0 {
		return nil, loader.InvocErr("Invalid keyword arguments: %s", strings.Join(wrong, ", "))
	}
	ran, err := run(c, append(words, a.Device)...)
	switch {
	case err != nil:
		return nil, err
	case python.Truth(ran.Value("retcode")):
		return nil, loader.ExecErr("%s", ran.Str("stderr"))
	}
	return dump(c, dumped{a.Device, show})
}

type formatted struct {
	Device    any    `arg:"device"`
	FSType    string `arg:"fs_type=ext4"`
	InodeSize any    `arg:"inode_size=None"`
	Lazy      any    `arg:"lazy_itable_init=None"`
	FAT       any    `arg:"fat=None"`
	Force     bool   `arg:"force=False"`
}

func format(c *loader.Call, a formatted) (bool, error) {
	if err := needs("format", "sync", "mkfs"); err != nil {
		return false, err
	}
	words := []any{"mkfs", "-t", a.FSType}
	ext, xfs := strings.HasPrefix(a.FSType, "ext"), a.FSType == "xfs"
	if a.InodeSize != nil && ext {
		words = append(words, "-i", python.Str(a.InodeSize))
	}
	if a.InodeSize != nil && xfs {
		words = append(words, "-i", "size="+python.Str(a.InodeSize))
	}
	if a.Lazy != nil && ext {
		words = append(words, "-E", "lazy_itable_init="+python.Str(a.Lazy))
	}
	if n, ok := a.FAT.(int64); ok && (n == 12 || n == 16 || n == 32) && strings.HasSuffix(a.FSType, "fat") {
		words = append(words, "-F", python.Str(n))
	}
	if a.Force && ext {
		words = append(words, "-F")
	}
	if a.Force && xfs {
		words = append(words, "-f")
	}
	ignored := payload.M("ignore_retcode", true, "python_shell", false)
	made, err := c.Call("cmd.retcode", []any{append(words, python.Str(a.Device))}, ignored)
	if err != nil {
		return false, err
	}
	synced, err := c.Call("cmd.retcode", []any{[]any{"sync"}}, ignored)
	return !python.Truth(made) && !python.Truth(synced), err
}

// fstype asks lsblk, and df where that knows nothing.
func fstype(c *loader.Call, a device) (string, error) {
	if program.Which("lsblk") == "" && program.Which("df") == "" {
		return "", needs("fstype", "lsblk")
	}
	for _, words := range [][]any{{"lsblk", "-o", "fstype"}, {"df", "-T"}} {
		if program.Which(words[0].(string)) == "" {
			continue
		}
		v, err := c.Call("cmd.run", []any{append(words, a.Device)}, payload.M("python_shell", false))
		if err != nil {
			return "", err
		}
		lines := strings.Split(loader.Text(v), "\n")
		if len(lines) > 1 && strings.TrimSpace(lines[1]) != "" {
			if words[0] == "lsblk" {
				return strings.TrimSpace(lines[1]), nil
			}
			return strings.TrimRight(lines[1], "\r"), nil
		}
	}
	return "", nil
}
