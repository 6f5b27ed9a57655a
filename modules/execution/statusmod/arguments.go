package statusmod

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
	"brine/modules/text/pytime"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// withArguments are the functions that take some.
func withArguments() []loader.Func {
	return []loader.Func{
		{Name: "status.time", Params: []loader.Param{loader.Opt("format", "%A, %d. %B %Y %I:%M%p")}, Run: now,
			Doc: `Show the time of the machine.

CLI Example:

    salt '*' status.time
    salt '*' status.time '%s'`},
		{Name: "status.diskusage", VarArgs: true, Run: diskUsage,
			Doc: `Show how many bytes file systems have, and have left: those of paths, of types, or all.

CLI Example:

    salt '*' status.diskusage / ext4
    salt '*' status.diskusage 'ext?'`},
		{Name: "status.pid", Params: []loader.Param{loader.Req("sig")}, Run: pids,
			Doc: `List the processes whose line fits a regular expression.

CLI Example:

    salt '*' status.pid <sig>`},
	}
}

func now(_ *loader.Call, a loader.Args) (any, error) {
	format, ok := a.Get("format").(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "strftime() argument 1 must be str, not " +
			pytext.Type(a.Get("format"))}
	}
	return pytime.Strftime(time.Now(), format), nil
}

func diskUsage(c *loader.Call, a loader.Args) (any, error) {
	var places, types []string
	for _, v := range a.Rest {
		text, ok := v.(string)
		switch {
		case !ok:
			return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'startswith'", pytext.Type(v))
		case strings.HasPrefix(text, "/"):
			places = append(places, text)
		default:
			types = append(types, text)
		}
	}
	if len(a.Rest) == 0 {
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
			c.Log(slog.LevelWarn, "Cannot get stats from '"+place+"': "+loader.Message(&os.PathError{Op: "statfs",
				Path: place, Err: err}))
			out.Set(place, payload.M("available", nil, "total", nil))
			continue
		}
		out.Set(place, payload.M("available", int64(fs.Bavail)*int64(fs.Bsize), "total", int64(fs.Blocks)*int64(fs.Bsize)))
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
			if len(words) >= 3 && matchers.GlobMatch(glob, words[2]) {
				out = append(out, words[1])
			}
		}
	}
	return out, nil
}

// pids leaves out every line with the number of this process in it, as the reference does.
func pids(c *loader.Call, a loader.Args) (any, error) {
	text, ok := a.Get("sig").(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
	}
	re, err := matchers.CompileText(text, "")
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
