package mount

import (
	"errors"
	"io/fs"
	"path/filepath"

	"brine/config/yaml"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// cacheFile is where states keep the options with which they mounted. They may be secrets: nobody else reads it.
func cacheFile(c *loader.Call) string { return filepath.Join(c.Opts().Str("cachedir"), "mounts") }

func cached(c *loader.Call) (*payload.Map, error) {
	text, err := plainfile.Read(cacheFile(c), program.MaxOutput())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := yaml.Load(text)
	all, _ := v.(*payload.Map)
	return all, err
}

func keep(c *loader.Call, all *payload.Map) (bool, error) {
	text := outputters.DumpYAML(all, outputters.FlowLeaves, 0)
	if err := wholefile.Write(cacheFile(c), []byte(text), wholefile.Options{Mode: 0o600}); err != nil {
		return false, loader.ExecErr("Unable to write mount cache.")
	}
	return true, nil
}

type cacheName struct {
	Name any `arg:"name"`
}

func readCache(c *loader.Call, a cacheName) (*payload.Map, error) {
	all, err := cached(c)
	if m, ok := all.Map("mounts").Value(a.Name).(*payload.Map); ok {
		return m, err
	}
	return payload.NewMap(0), err
}

type cacheEntry struct {
	Name   any `arg:"real_name"`
	Device any `arg:"device"`
	Mkmnt  any `arg:"mkmnt"`
	FSType any `arg:"fstype"`
	Opts   any `arg:"mount_opts"`
}

func writeCache(c *loader.Call, a cacheEntry) (bool, error) {
	all, err := cached(c)
	if err != nil {
		return false, err
	}
	mounts := all.Map("mounts").Clone()
	mounts.Set(a.Name, payload.M("device", a.Device, "fstype", a.FSType, "mkmnt", a.Mkmnt, "opts", a.Opts))
	return keep(c, all.Clone().Set("mounts", mounts))
}

type cacheGone struct {
	Name any `arg:"real_name"`
}

func deleteCache(c *loader.Call, a cacheGone) (bool, error) {
	all, err := cached(c)
	mounts := all.Map("mounts").Clone()
	if err != nil || !mounts.Has(a.Name) {
		return err == nil, err
	}
	mounts.Delete(a.Name)
	return keep(c, all.Clone().Set("mounts", mounts))
}
