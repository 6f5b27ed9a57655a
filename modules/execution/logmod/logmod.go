// Package logmod is the execution module log: a template writes to the log of the process that renders it. It answers
// to salt/modules/logmod.py.
package logmod

import (
	"log/slog"

	"brine/modules/loader"
	"brine/wire/python"
)

// logger is the name under which the reference's lines come: that of the file, as its loader calls it.
const logger = "salt.loaded.int.module.logmod"

// levelCritical is Salt's CRITICAL, which slog has no name for (see cmd/saltlog).
const levelCritical = slog.Level(12)

// Module is the module log.
//
// Unlike Salt: log.exception writes no second line "NoneType: None". No function is called while Python handles an
// exception.
func Module() loader.Module {
	return loader.Module{File: "logmod", Name: "log", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			at("debug", slog.LevelDebug),
			at("info", slog.LevelInfo),
			at("warning", slog.LevelWarn),
			at("error", slog.LevelError),
			at("critical", levelCritical),
			at("exception", slog.LevelError),
		}
	}}
}

type line struct {
	Message any `arg:"message"`
}

// at is the function that writes at a level.
func at(name string, level slog.Level) loader.Func {
	write := func(c *loader.Call, a line) (bool, error) {
		c.LogAs(logger, level, python.Str(a.Message))
		return true, nil
	}
	return loader.Fn(name, write, "Write a line to the log at the level "+name+".",
		"log."+name+" 'what a template wants to tell'")
}
