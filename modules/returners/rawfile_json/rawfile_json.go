// Package rawfile_json is the returner rawfile_json: it appends JSON, a line for each return or event, to a file
// (option rawfile_json.filename). Answers to salt/returners/rawfile_json.py.
package rawfile_json

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/options"
	"brine/wire/payload"
)

// wanted is where the returner finds its one option.
var wanted = options.Lookup{Name: "rawfile_json", Options: []string{"filename"},
	Defaults: options.Values{"filename": "/var/log/salt/events"}}

// Module is the returner rawfile_json.
func Module() loader.Module {
	return loader.Module{File: "rawfile_json", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			functions.Returner("rawfile_json", "Append the return to a file on the minion, as a line of JSON.", take),
			functions.EventReturn("rawfile_json", "Append events to a file on the master, a line of JSON for each.",
				takeEvents),
		}
	}}
}

func take(c *loader.Call, ret *payload.Map) error {
	opt, err := wanted.Read(c, ret)
	if err != nil {
		return err
	}
	return appendLines(opt.Text("filename"), []any{ret})
}

func takeEvents(c *loader.Call, events []any) error {
	opt, err := wanted.Read(c, nil)
	if err != nil {
		return err
	}
	return appendLines(opt.Text("filename"), events)
}

// appendLines adds all values or, when one of them cannot be written as JSON, none. The file is locked meanwhile, as
// Salt does it, and cut to its former length when the disk is full, so that no line is half there.
// Unlike Salt: a new file is private; bytes are written as Python prints them, where Salt fails in the midst of a line.
func appendLines(path string, values []any) (err error) {
	var lines strings.Builder
	for _, v := range values {
		line, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: -1})
		if !ok {
			return returners.Refuse("rawfile_json: a key of the value has no form in JSON")
		}
		lines.WriteString(line)
		lines.WriteByte('\n')
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("rawfile_json: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("rawfile_json: lock %s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("rawfile_json: %w", err)
	}
	if _, err := f.WriteString(lines.String()); err != nil {
		if info.Mode().IsRegular() {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
		return fmt.Errorf("rawfile_json: %w", err)
	}
	return nil
}
