package daemon

import (
	"os"
	"path/filepath"

	"brine/cmd/session"
	"brine/modules/host/program/custody"
)

// programsRecord is the file of the cache directory that names the programs which run.
const programsRecord = "programs"

// KeepPrograms has the programs that this process starts end with it, whatever ends it, and ends what one before it has
// left running: see docs/decisions/0069. state is the folder below the cache directory for what is this daemon's alone.
// It is called when the user of the process is final.
func KeepPrograms(s *session.Session, state string) {
	dir := filepath.Join(s.Common.CacheDir, state)
	if state != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.Log.Warn("programs that run are not recorded", "err", err)
			dir = ""
		}
	}
	o := custody.Options{Log: s.Log}
	if dir != "" {
		o.Path = filepath.Join(dir, programsRecord)
	}
	custody.Begin(o)
}
