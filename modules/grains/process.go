package grains

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"brine/modules/host/program"
	"brine/wire/payload"
)

func (h *host) cwd() *payload.Map {
	dir, err := os.Getwd()
	if err != nil {
		return none()
	}
	return one("cwd", dir)
}

func (h *host) searchPath() *payload.Map {
	path := strings.TrimSpace(os.Getenv("PATH"))
	return payload.M("path", path, "systempath", payload.AnyList(strings.Split(path, ":")))
}

// python stands for the interpreter a Salt of this release would have: templates ask pythonversion which
// language level they may use. There is none here, so there is no path.
func (h *host) python() *payload.Map {
	return payload.M("pythonexecutable", program.Which("python3"), "pythonpath", []any{},
		"pythonversion", []any{int64(3), int64(10), int64(0), "final", int64(0)})
}

// salt tells the release this program answers as, and where the program is.
func (h *host) salt() *payload.Map {
	dir := ""
	if exe, err := os.Executable(); err == nil {
		dir = filepath.Dir(exe)
	}
	var parts []any
	for p := range strings.SplitSeq(h.opt.Version, ".") {
		parts = append(parts, numberOrText(p))
	}
	out := payload.M("saltpath", dir, "saltversion", h.opt.Version, "saltversioninfo", parts)
	if h.opt.ZMQVersion != "" {
		out.Set("zmqversion", h.opt.ZMQVersion)
	}
	return out
}

func (h *host) shell() *payload.Map {
	if shell, ok := os.LookupEnv("SHELL"); ok {
		return one("shell", shell)
	}
	return one("shell", "/bin/sh")
}

func (h *host) process() *payload.Map {
	uid, gid := os.Geteuid(), os.Getegid()
	name, group := strconv.Itoa(uid), ""
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
		if g, err := user.LookupGroupId(u.Gid); err == nil {
			group = g.Name
		}
	}
	return payload.M("username", name, "groupname", group, "pid", int64(os.Getpid()), "gid", int64(gid), "uid",
		int64(uid))
}

func (h *host) allOpts() *payload.Map {
	if on, _ := h.opt.Opts.Value("grain_opts").(bool); on {
		return one("opts", h.opt.Opts)
	}
	return none()
}

// packageType tells how the program was installed; a single file has no packaging to speak of.
func (h *host) packageType() *payload.Map { return one("package", nil) }

func (h *host) resources() *payload.Map {
	if m := h.opt.Opts.Map("resources"); m.Len() > 0 {
		return one("salt_resources", m)
	}
	return none()
}

// truststore names the certificates TLS is checked against: those of the system.
func (h *host) truststore() *payload.Map { return one("ca_truststore", "os") }
