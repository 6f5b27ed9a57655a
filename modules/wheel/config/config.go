// Package config is the wheel module config: it shows and changes the options of the master. It answers to
// salt/wheel/config.py.
package config

import (
	"fmt"
	"os"
	"path/filepath"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/wheel"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// Modes of the configuration files and folders written here.
const (
	configFileMode = 0o644
	configDirMode  = 0o755
)

// Module is the module config.
func Module(o wheel.Options) loader.Module {
	m := &master{o.Values}
	return loader.Module{File: "config", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("values", m.values, "Show the options of the master as its files and defaults give them."),
			loader.Fn("apply", m.apply,
				"Set one option and write every option to the configuration file; comments are lost."),
			loader.Fn("update_config", updateConfig,
				"Write options to a file of the folder of default_include (master.d)."),
		}
	}}
}

// master reads the configuration again; nil: the options of the call count.
type master struct{ read func() (*payload.Map, error) }

func (m *master) values(c *loader.Call, _ struct{}) (*payload.Map, error) {
	if m.read == nil {
		return c.Opts(), nil
	}
	return m.read()
}

type applied struct {
	Key   string `arg:"key"`
	Value any    `arg:"value"`
}

func (m *master) apply(c *loader.Call, a applied) (any, error) {
	path := c.Opts().Str("conf_file")
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "master")
	}
	values, err := m.values(c, struct{}{})
	if err != nil {
		return nil, err
	}
	values = values.Clone().Set(a.Key, a.Value)
	return nil, replaceText(path, outputters.DumpYAML(values, outputters.FlowNever, 0))
}

type included struct {
	FileName string `arg:"file_name"`
	Contents any    `arg:"yaml_contents"`
}

func updateConfig(c *loader.Call, a included) (string, error) {
	opts := c.Opts()
	include := opts.Str("default_include")
	if include == "" {
		include = "master.d/*.conf"
	}
	dir := filepath.Join(opts.Str("config_dir"), filepath.Dir(include))
	name := a.FileName + ".conf"
	if !keys.ValidID(name) || name == ".conf" {
		return "Invalid path", nil
	}
	if err := os.MkdirAll(dir, configDirMode); err != nil {
		return err.Error(), nil
	}
	text := outputters.DumpYAML(a.Contents, outputters.FlowNever, 0)
	if err := replaceText(filepath.Join(dir, name), text); err != nil {
		return err.Error(), nil
	}
	return "Wrote " + name, nil
}

// replaceText writes a file whole: a master that starts meanwhile reads all of it. A file that was there keeps its
// mode: options hold passwords.
func replaceText(path, text string) error {
	if err := wholefile.Write(path, []byte(text), wholefile.Options{Mode: configFileMode, KeepMode: true}); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}
