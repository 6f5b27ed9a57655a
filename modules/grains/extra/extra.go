// Package extra holds the grains of the static file (/etc/salt/grains), of the shell, of transactional systems and of
// EFI. Answers to salt/grains/extra.py.
package extra

import (
	"os"
	"path/filepath"

	"brine/config/yaml"
	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/wire/payload"
)

// Module is the grains of extra.
func Module() grains.Module {
	return grains.Module{File: "extra", Groups: func(h *grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "config", Any: true, Run: func() *payload.Map { return config(h) }},
			{Name: "shell", Keys: []string{"shell"}, Run: shell},
			{Name: "transactional", Keys: []string{"transactional"}, Run: transactional},
			{Name: "efi", Keys: []string{"efi", "efi-secure-boot"}, Run: func() *payload.Map { return efi(h) }},
		}
	}}
}

// config reads the static grains file; a missing or broken one holds nothing.
func config(h *grains.Host) *payload.Map {
	conf := h.Opts.Str("conf_file")
	if conf == "" {
		return payload.NewMap(0)
	}
	text, err := os.ReadFile(grains.File(conf))
	if err != nil {
		return payload.NewMap(0)
	}
	v, err := yaml.Load(text)
	if err != nil {
		return payload.NewMap(0)
	}
	if m, ok := v.(*payload.Map); ok {
		return m
	}
	return payload.NewMap(0)
}

func shell() *payload.Map {
	if shell, ok := os.LookupEnv("SHELL"); ok {
		return payload.M("shell", shell)
	}
	return payload.M("shell", "/bin/sh")
}

func transactional() *payload.Map {
	return payload.M("transactional", program.Which("transactional-update") != "")
}

// efi tells whether the machine was booted by EFI, and with secure boot.
func efi(h *grains.Host) *payload.Map {
	secure := false
	dir := ""
	for _, d := range []string{"sys/firmware/efi/efivars", "sys/firmware/efi/vars"} {
		if h.Exists(d) {
			dir = d
			break
		}
	}
	if dir != "" {
		pattern := filepath.Join(h.Path(dir), "SecureBoot-*")
		if filepath.Base(dir) == "vars" {
			pattern = filepath.Join(pattern, "data")
		}
		if found, _ := filepath.Glob(pattern); len(found) == 1 {
			b, err := os.ReadFile(found[0])
			secure = err == nil && len(b) > 0 && b[len(b)-1] == 1
		}
	}
	return payload.M("efi", dir != "", "efi-secure-boot", secure)
}
