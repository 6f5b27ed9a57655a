package core

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/program"
	"brine/wire/payload"
)

func (h *machine) cwd() *payload.Map {
	dir, err := os.Getwd()
	if err != nil {
		return payload.NewMap(0)
	}
	return payload.M("cwd", dir)
}

func (h *machine) searchPath() *payload.Map {
	path := strings.TrimSpace(os.Getenv("PATH"))
	return payload.M("path", path, "systempath", payload.AnyList(strings.Split(path, ":")))
}

// python stands for the interpreter a Salt of this release would have: templates ask pythonversion which
// language level they may use. There is none here, so there is no path.
func (h *machine) python() *payload.Map {
	return payload.M("pythonexecutable", program.Which("python3"), "pythonpath", []any{},
		"pythonversion", []any{int64(3), int64(10), int64(0), "final", int64(0)})
}

// salt tells the release this program answers as, and where the program is.
func (h *machine) salt() *payload.Map {
	dir := ""
	if exe, err := os.Executable(); err == nil {
		dir = filepath.Dir(exe)
	}
	var parts []any
	for p := range strings.SplitSeq(h.Version, ".") {
		parts = append(parts, numberOrText(p))
	}
	out := payload.M("saltpath", dir, "saltversion", h.Version, "saltversioninfo", parts)
	if h.ZMQVersion != "" {
		out.Set("zmqversion", h.ZMQVersion)
	}
	return out
}
