package session

import (
	"log/slog"
	"testing"

	"brine/config"
)

// TestFollowLevels: an open log adopts another level. The log file has the console's level unless it has its
// own.
func TestFollowLevels(t *testing.T) {
	s := &Session{}
	console, file := s.levels.console.at(slog.LevelWarn), s.levels.file.at(slog.LevelWarn)
	for _, tt := range []struct {
		level, ofFile   string
		console, inFile slog.Level
	}{
		{"debug", "", slog.LevelDebug, slog.LevelDebug},
		{"error", "info", slog.LevelError, slog.LevelInfo},
		{"", "", slog.LevelWarn, slog.LevelWarn},
	} {
		s.FollowLevels(&config.Common{LogLevel: tt.level, LogLevelLogfile: tt.ofFile})
		if console.Level() != tt.console || file.Level() != tt.inFile {
			t.Errorf("%q, %q: got %v and %v", tt.level, tt.ofFile, console.Level(), file.Level())
		}
	}
}
