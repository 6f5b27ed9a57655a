package cmdmod

import (
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/loader"
	"brine/wire/python"
)

// levelQuiet stands for a command nothing is logged of.
const levelQuiet = slog.Level(1000)

// levelOf reads output_loglevel; an unknown one is info and not known.
func levelOf(v any) (level slog.Level, known bool) {
	name, ok := v.(string)
	if !ok {
		return slog.LevelInfo, false
	}
	switch strings.ToLower(name) {
	case "quiet":
		return levelQuiet, true
	case "critical":
		return slog.LevelError + 4, true
	case "error":
		return slog.LevelError, true
	case "warning":
		return slog.LevelWarn, true
	case "info":
		return slog.LevelInfo, true
	case "profile", "debug":
		return slog.LevelDebug, true
	case "trace", "garbage", "all":
		return slog.LevelDebug - 4, true
	}
	return slog.LevelInfo, false
}

func logUnknownLevel(c *loader.Call, v any) {
	c.Log(slog.LevelError, fmt.Sprintf("Invalid output_loglevel '%s'. Valid levels are: warning, trace, quiet, "+
		"profile, info, garbage, error, debug, critical, all. Falling back to 'info'.", python.Str(v)))
}
