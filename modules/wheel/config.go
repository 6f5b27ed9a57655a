package wheel

import (
	"fmt"
	"os"
	"path/filepath"

	"brine/modules/fleet/keys"
	"brine/modules/host/wholefile"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/wire/payload"
)

const sourceConfig = "salt/wheel/config.py"

// Modes of the configuration files and folders written here.
const (
	configFileMode = 0o644
	configDirMode  = 0o755
)

func (w *wheel) configFuncs() []loader.Func {
	return []loader.Func{
		{Name: "config.values", Source: sourceConfig, Run: w.configValues,
			Doc: "Show the options of the master as its files and defaults give them."},
		{Name: "config.apply", Source: sourceConfig, Run: w.configApply,
			Params: []loader.Param{loader.Req("key"), loader.Req("value")},
			Doc:    "Set one option and write every option to the configuration file; comments are lost."},
		{Name: "config.update_config", Source: sourceConfig, Run: w.configUpdate,
			Params: []loader.Param{loader.Req("file_name"), loader.Req("yaml_contents")},
			Doc:    "Write options to a file of the folder of default_include (master.d)."},
	}
}

func (w *wheel) values(c *loader.Call) (*payload.Map, error) {
	if w.Values == nil {
		return c.Opts(), nil
	}
	return w.Values()
}

func (w *wheel) configValues(c *loader.Call, _ loader.Args) (any, error) {
	return w.values(c)
}

func (w *wheel) configApply(c *loader.Call, a loader.Args) (any, error) {
	path := c.Opts().Str("conf_file")
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "master")
	}
	values, err := w.values(c)
	if err != nil {
		return nil, err
	}
	values = values.Clone().Set(a.Str("key"), a.Get("value"))
	return nil, replaceText(path, outputters.DumpYAML(values, outputters.FlowNever, 0))
}

func (w *wheel) configUpdate(c *loader.Call, a loader.Args) (any, error) {
	opts := c.Opts()
	include := opts.Str("default_include")
	if include == "" {
		include = "master.d/*.conf"
	}
	dir := filepath.Join(opts.Str("config_dir"), filepath.Dir(include))
	name := a.Str("file_name") + ".conf"
	if !keys.ValidID(name) || name == ".conf" {
		return "Invalid path", nil
	}
	if err := os.MkdirAll(dir, configDirMode); err != nil {
		return err.Error(), nil
	}
	text := outputters.DumpYAML(a.Get("yaml_contents"), outputters.FlowNever, 0)
	if err := replaceText(filepath.Join(dir, name), text); err != nil {
		return err.Error(), nil
	}
	return "Wrote " + name, nil
}

// replaceText writes a file whole: a master that starts meanwhile reads all of it. A file that was there keeps its mode, for
// options hold passwords.
func replaceText(path, text string) error {
	if err := wholefile.Write(path, []byte(text), wholefile.Options{Mode: configFileMode, KeepMode: true}); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}
