package status

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/text/pytime"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"

	"golang.org/x/sys/unix"
)

// withArguments are the functions that take some.
func withArguments() []loader.Func {
	return []loader.Func{
		loader.Fn("time", now, "Show the time of the machine.", "status.time", "status.time '%s'").Named("time_"),
		loader.Fn("diskusage", diskUsage,
			"Show how many bytes file systems have, and have left: those of paths, of types, or all.",
			"status.diskusage / ext4", "status.diskusage 'ext?'"),
		loader.Fn("pid", pids, "List the processes whose line fits a regular expression.", "status.pid <sig>"),
	}
}

type layout struct {
	Format any `arg:"format=%A, %d. %B %Y %I:%M%p"`
}

func now(_ *loader.Call, a layout) (any, error) {
	format, ok := a.Format.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "strftime() argument 1 must be str, not " + python.Type(a.Format)}
	}
	return pytime.Strftime(time.Now(), format), nil
}

// fileSystems are paths and globs of types.
type fileSystems struct {
	Words []any `arg:"*args"`
}

func diskUsage(c *loader.Call, a fileSystems) (any, error) {
	var places, types []string
	for _, v := range a.Words {
		text, ok := v.(string)
		switch {
		case !ok:
			return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'startswith'", python.Type(v))
		case strings.HasPrefix(text, "/"):
			places = append(places, text)
		default:
			types = append(types, text)
		}
	}
	if len(a.Words) == 0 {
		types = []string{"*"}
	}
	mounted, err := mounts(types)
	if err != nil {
		return payload.NewMap(0), nil
	}
	out := payload.NewMap(0)
	for _, place := range append(places, mounted...) {
		if _, err := os.Stat(place); err != nil || out.Has(place) {
			continue
		}
		var fs unix.Statfs_t
		if err := unix.Statfs(place, &fs); err != nil {
			why := loader.Message(&os.PathError{Op: "statfs", Path: place, Err: err})
			c.Log(slog.LevelWarn, "Cannot get stats from '"+place+"': "+why)
			out.Set(place, payload.M("available", nil, "total", nil))
			continue
		}
		block := int64(fs.Bsize)
		out.Set(place, payload.M("available", int64(fs.Bavail)*block, "total", int64(fs.Blocks)*block))
	}
	return out, nil
}

// mounts are the places of file systems whose type fits one of some globs.
func mounts(types []string) ([]string, error) {
	if len(types) == 0 {
		return nil, nil
	}
	text, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for _, glob := range types {
			if len(words) >= 3 && fnmatch.Match(glob, words[2]) {
				out = append(out, words[1])
			}
		}
	}
	return out, nil
}

type signature struct {
	Pattern any `arg:"sig"`
}

// pids leaves out every line with the number of this process in it, as the reference does.
func pids(c *loader.Call, a signature) (any, error) {
	text, ok := a.Pattern.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
	}
	re, err := re.CompileText(text, "")
	if err != nil {
		return nil, loader.Raise("re.error", "%s", err)
	}
	lines, err := processes(c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range lines {
		if strings.Contains(line, strconv.Itoa(os.Getpid())) {
			continue
		}
		fits, err := re.Search(line)
		if err != nil {
			return nil, err
		}
		if words := strings.Fields(line); fits && len(words) > 1 {
			out = append(out, words[1])
		}
	}
	return strings.Join(out, "\n"), nil
}
