package grains

import (
	"os"
	"path/filepath"
	"time"

	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// File is the path of the static grains file beside a configuration file, or inside a configuration directory.
func File(confFile string) string {
	if fi, err := os.Stat(confFile); err == nil && fi.IsDir() {
		return filepath.Join(confFile, "grains")
	}
	return filepath.Join(filepath.Dir(confFile), "grains")
}

const (
	cacheFile       = "grains.cache.p"
	cacheExpiration = 300 // seconds, the default of grains_cache_expiration
)

// loadCache reads the cache file as long as it is young enough; nil when it is not usable.
func (c *Collector) loadCache() *payload.Map {
	path := filepath.Join(c.opt.Opts.Str("cachedir"), cacheFile)
	fi, err := os.Stat(path)
	if err != nil || c.flag("refresh_grains_cache") {
		return nil
	}
	limit, ok := c.opt.Opts.Int("grains_cache_expiration")
	if !ok {
		limit = cacheExpiration
	}
	if int64(time.Since(fi.ModTime()).Seconds()) > limit {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil || m.Len() == 0 {
		return nil
	}
	return m
}

// saveCache writes the cache file, readable by the owner alone. A failure costs only time later.
func (c *Collector) saveCache(grains *payload.Map) {
	b, err := payload.MarshalBin(grains)
	if err != nil {
		return
	}
	path := filepath.Join(c.opt.Opts.Str("cachedir"), cacheFile)
	_ = wholefile.Write(path, b, wholefile.Options{}) // in the place of a link too: the folder may be somebody else's
}
