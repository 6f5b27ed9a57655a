// Package logmod holds the execution functions of the module log: a template writes to the log of the process that
// renders it. It answers to salt/modules/logmod.py.
package logmod

import (
	"log/slog"

	"brine/modules/loader"
	"brine/modules/text/pytext"
)

// logger is the name under which the reference's lines come: that of the file, as its loader calls it.
const logger = "salt.loaded.int.module.logmod"

// levelCritical is Salt's CRITICAL, which slog has no name for (see cmd/saltlog).
const levelCritical = slog.Level(12)

// Functions lists the functions, one a level.
//
// Unlike Salt: log.exception writes no second line "NoneType: None". No function is called while Python handles an
// exception.
func Functions() []loader.Func {
	var out []loader.Func
	for _, f := range []struct {
		name  string
		level slog.Level
	}{
		{"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"warning", slog.LevelWarn}, {"error", slog.LevelError},
		{"critical", levelCritical}, {"exception", slog.LevelError},
	} {
		name := "log." + f.name
		out = append(out, loader.Func{Name: name, Source: "salt/modules/logmod.py",
			Params: []loader.Param{loader.Req("message")},
			Run: func(c *loader.Call, a loader.Args) (any, error) {
				c.LogAs(logger, f.level, pytext.Str(a.Get("message")))
				return true, nil
			},
			Doc: "Write a line to the log at the level " + f.name + ".\n\nCLI Example:\n\n    salt '*' " + name +
				" 'what a template wants to tell'"})
	}
	return out
}
