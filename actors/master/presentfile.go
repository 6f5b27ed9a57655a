package master

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// presentFile, in the cache directory, holds who was connected (presence_events), so that the next process tells who
// has gone meanwhile and does not tell of those who come back as if they were new. Its form is that of Salt 3008
// (CacheDisk in salt/utils/cache.py), which reads it, too: {"CacheDisk_data": {"present": [id]}, "CacheDisk_cachetime":
// {"present": seconds}}.
const presentFile = "presence-data"

const (
	presentFor   = time.Hour        // as long the file counts, as in Salt
	presentAnew  = 10 * time.Minute // so often it is written, though nothing has changed
	presentField = "present"
	cacheData    = "CacheDisk_data"
	cacheTime    = "CacheDisk_cachetime"
)

// readPresent reads who was connected; none when the file is not there, or of another time.
func readPresent(dir string, now time.Time) (map[string]bool, error) {
	present := map[string]bool{}
	v, err := packedfile.Read(filepath.Join(dir, presentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return present, nil
	}
	if err != nil {
		return present, fmt.Errorf("who was connected is not known: %w", err)
	}
	m, _ := v.(*payload.Map)
	written := seconds(m.Map(cacheTime).Value(presentField))
	if age := now.Sub(written); age < 0 || age > presentFor {
		return present, nil
	}
	list, _ := m.Map(cacheData).Value(presentField).([]any)
	for _, id := range list {
		if id, ok := id.(string); ok && payload.ValidID(id) {
			present[id] = true
		}
	}
	return present, nil
}

// seconds is a moment from the number of seconds since 1970; anything else is 1970.
func seconds(v any) time.Time {
	switch v := v.(type) {
	case float64:
		if v > 0 && v < 1e11 {
			return time.UnixMilli(int64(v * 1000))
		}
	case int64:
		return time.Unix(v, 0)
	}
	return time.Unix(0, 0)
}

// writePresent writes down who is connected.
func writePresent(dir string, ids []any, now time.Time) error {
	v := payload.M(cacheData, payload.M(presentField, ids), cacheTime,
		payload.M(presentField, float64(now.UnixMilli())/1000))
	if err := packedfile.Write(filepath.Join(dir, presentFile), v,
		wholefile.Options{Mode: os.FileMode(0o600)}); err != nil {
		return fmt.Errorf("who is connected is not kept: %w", err)
	}
	return nil
}
