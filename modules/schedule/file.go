package schedule

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/config/yaml"
	"brine/modules/outputters"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// Path is the file in which a minion keeps what was changed of its schedule: _schedule.conf in the folder of
// default_include, from where it is read as a part of the configuration.
func Path(opts *payload.Map) string {
	dir := opts.Str("conf_dir")
	if dir == "" {
		dir = filepath.Dir(opts.Str("conf_file"))
	}
	include := opts.Str("default_include")
	if include == "" {
		include = "minion.d/*.conf"
	}
	return filepath.Join(dir, filepath.Dir(include), "_schedule.conf")
}

// Save writes jobs into the file, whole or not at all, and makes its folder.
//
// Unlike Salt: nobody else may read a new file, for arguments of jobs may be secrets; and a reader never finds half of
// it.
func Save(path string, jobs *payload.Map) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save the schedule: %w", err)
	}
	text := outputters.DumpYAML(payload.M("schedule", jobs), outputters.FlowLeaves, 0)
	if err := wholefile.Write(path, []byte(text), wholefile.Options{Mode: 0o600, KeepMode: true,
		Sync: true}); err != nil {
		return fmt.Errorf("save the schedule: %w", err)
	}
	return nil
}

// Load reads the jobs that were written into the file; there are none where there is no file.
func Load(path string) (*payload.Map, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return payload.NewMap(0), nil
	} else if err != nil {
		return nil, fmt.Errorf("read the schedule: %w", err)
	}
	v, err := yaml.Load(b)
	if err != nil {
		return nil, fmt.Errorf("read the schedule: %w", err)
	}
	all, _ := v.(*payload.Map)
	jobs, _ := all.Value("schedule").(*payload.Map)
	if jobs == nil {
		jobs = payload.NewMap(0)
	}
	return jobs, nil
}
