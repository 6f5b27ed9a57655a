package daemon

import (
	"os"
	"path/filepath"

	"brine/cmd/session"
	"brine/modules/host/program/custody"
)

// programsRecord is the file in the cache directory that names the running programs.
const programsRecord = "programs"

// KeepPrograms makes sure that the programs which this process starts end with it, however it ends. It also
// ends programs that a predecessor has left running. See docs/decisions/0069. state is the folder below the
// cache directory that belongs to this daemon alone. Call it when the process has its final user.
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
