package mount

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type mounting struct {
	Name   string `arg:"name"`
	Device any    `arg:"device=False"`
	Mkmnt  bool   `arg:"mkmnt=False"`
	FSType any    `arg:"fstype=''"`
	Opts   any    `arg:"opts=defaults"`
	User   any    `arg:"user=None"`
	Util   any    `arg:"util=mount"`
}

// mount returns True, or what the program wrote as its error.
func mount(c *loader.Call, a mounting) (any, error) {
	switch a.Util {
	case "mount":
	case "guestfs":
		return c.Call("guestfs.mount", []any{a.Name}, payload.M("root", a.Device))
	case "qemu_nbd":
		return c.Call("qemu_nbd.init", []any{a.Name, a.Device}, nil)
	default:
		return false, nil
	}
	if !exists(a.Name) && a.Mkmnt {
		if _, err := c.Call("file.mkdir", []any{a.Name}, payload.M("user", a.User)); err != nil {
			return nil, err
		}
	}
	words, env := []any{"mount"}, payload.NewMap(0)
	if python.Truth(a.Device) {
		opts := optionsOf(a.Opts)
		words, env = arguments(opts, a.FSType)
		words = append(words, ends(python.Str(a.Device), a.Name)...)
	} else {
		words = append(words, ends(a.Name)...)
	}
	return asked(c, words, env, a.User)
}

// optionsOf is the list of options; nil is none.
func optionsOf(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return strings.Split(v, ",")
	}
	return loader.StringList(v)
}

// arguments are the words of mount before device and place. The password of a share is no word, which everybody on the
// machine could read: the helper of the file system takes it from its environment.
func arguments(opts []string, fstype any) (words []any, env *payload.Map) {
	words, env = []any{"mount"}, payload.NewMap(0)
	var shown []string
	for _, opt := range opts {
		key, v, _ := strings.Cut(opt, "=")
		secret := key == "password" || key == "pass"
		if secret && (fstype == "cifs" || fstype == "smb3") {
			env.Set("PASSWD", v)
		} else {
			shown = append(shown, opt)
		}
	}
	if len(shown) > 0 {
		words = append(words, "-o", strings.Join(shown, ","))
	}
	if python.Truth(fstype) {
		words = append(words, "-t", python.Str(fstype))
	}
	return words, env
}

// ends are the last words of a command, which must not be taken for options.
func ends(names ...string) []any {
	var out []any
	for _, name := range names {
		if strings.HasPrefix(name, "-") && len(out) == 0 {
			out = append(out, "--")
		}
	}
	return append(out, payload.AnyList(names)...)
}

// asked runs a program: True, or what it wrote as its error.
func asked(c *loader.Call, words []any, env *payload.Map, user any) (any, error) {
	kw := payload.M("runas", user, "python_shell", false)
	if env.Len() > 0 {
		kw.Set("env", env)
	}
	v, err := c.Call("cmd.run_all", []any{words}, kw)
	if err != nil {
		return nil, err
	}
	ran, _ := v.(*payload.Map)
	if python.Truth(ran.Value("retcode")) {
		return ran.Value("stderr"), nil
	}
	return true, nil
}

type remounting struct {
	Name   string `arg:"name"`
	Device any    `arg:"device"`
	Mkmnt  bool   `arg:"mkmnt=False"`
	FSType any    `arg:"fstype=''"`
	Opts   any    `arg:"opts=defaults"`
	User   any    `arg:"user=None"`
}

func remount(c *loader.Call, a remounting) (any, error) {
	all, err := active(c, extent{})
	if err != nil {
		return nil, err
	}
	if !all.Has(a.Name) {
		return mount(c, mounting{a.Name, a.Device, a.Mkmnt, a.FSType, a.Opts, a.User, "mount"})
	}
	opts := optionsOf(a.Opts)
	again := false
	for _, opt := range opts {
		again = again || opt == "remount"
	}
	if !again {
		opts = append(opts[:len(opts):len(opts)], "remount")
	}
	words, env := arguments(opts, a.FSType)
	return asked(c, append(words, ends(python.Str(a.Device), a.Name)...), env, a.User)
}

type unmounting struct {
	Name   string `arg:"name"`
	Device any    `arg:"device=None"`
	User   any    `arg:"user=None"`
	Util   any    `arg:"util=mount"`
	Lazy   bool   `arg:"lazy=False"`
}

func umount(c *loader.Call, a unmounting) (any, error) {
	if a.Util == "guestfs" {
		_, err := c.Call("guestfs.umount", []any{a.Name}, payload.M("disk", a.Device))
		return nil, err
	}
	all, err := active(c, extent{})
	if err != nil {
		return nil, err
	}
	// Unlike Salt: a blank in the name does not hide that something is mounted.
	if !all.Has(a.Name) && !all.Has(escaped(a.Name)) {
		return a.Name + " does not have anything mounted", nil
	}
	words := []any{"umount"}
	if a.Lazy {
		words = append(words, "-l")
	}
	what := a.Name
	if python.Truth(a.Device) {
		what = python.Str(a.Device)
	}
	return asked(c, append(words, ends(what)...), nil, a.User)
}
