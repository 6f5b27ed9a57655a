package status

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// machine are the functions of the machine that take no arguments.
func machine() []loader.Func {
	return []loader.Func{
		loader.Fn("loadavg", loadavg,
			"Show how many processes wanted to run, on average of one, five and fifteen minutes.", "status.loadavg"),
		loader.Fn("uptime", uptime, "Show since when the machine runs, and how many users are logged in.",
			"status.uptime"),
		loader.Fn("nproc", nproc, "Show how many processors this process may use.", "status.nproc"),
		loader.Fn("w", loggedIn, "List who is logged in and does what.", "status.w"),
		loader.Fn("procs", procs, "List the processes with their users and commands.", "status.procs"),
		loader.Fn("custom", custom, "Show what the options status.FUNCTION.custom name.", "status.custom"),
		loader.Fn("all_status", allStatus, "Show what most other functions of the module show.", "status.all_status"),
	}
}

func loadavg(*loader.Call, struct{}) (any, error) {
	text, err := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	if err != nil || len(words) < 3 {
		return nil, loader.ExecErr("status.loadavag is not available on your platform")
	}
	return payload.M("1-min", number(words[0]), "5-min", number(words[1]), "15-min", number(words[2])), nil
}

func uptime(c *loader.Call, _ struct{}) (any, error) {
	const file = "/proc/uptime"
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, loader.ExecErr("File %s was not found.", file)
	}
	up, err := strconv.ParseFloat(word(strings.Fields(string(text)), 0), 64)
	if err != nil {
		return nil, err
	}
	seconds, now := int64(up), float64(time.Now().UnixMicro())/1e6
	since := now - float64(seconds)
	rest := seconds % 86400
	out := payload.M("seconds", seconds,
		"since_iso", time.UnixMicro(int64(math.Round(since*1e6))).UTC().Format("2006-01-02T15:04:05.000000"),
		"since_t", int64(since), "days", seconds/86400, "time", fmt.Sprintf("%d:%d", rest/3600, rest%3600/60))
	path, _ := environ.Of(c.Ctx).Get("PATH")
	if program.WhichOn(path, "who") == "" {
		return out, nil
	}
	who, err := output(c, "who -s")
	return out.Set("users", int64(strings.Count(who, "\n")+1)), err
}

// output is what a command writes, as cmd.run tells it.
func output(c *loader.Call, line string) (string, error) {
	v, err := c.Call("cmd.run", []any{line}, nil)
	return loader.Text(v), err
}

func nproc(c *loader.Call, _ struct{}) (any, error) {
	text, err := output(c, "nproc")
	if err != nil {
		return nil, err
	}
	return number(strings.TrimSpace(text)), nil
}

func loggedIn(c *loader.Call, _ struct{}) (any, error) {
	if runtime.GOOS != "linux" {
		return elsewhere, nil
	}
	text, err := output(c, "w -fh")
	out := []any{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 5 {
			out = append(out, payload.M("idle", words[3], "jcpu", words[4], "login", words[2], "pcpu", words[5],
				"tty", words[1], "user", words[0], "what", strings.Join(words[6:], " ")))
		}
	}
	return out, err
}

// processes are the lines of the program that the grain ps names.
func processes(c *loader.Call) ([]string, error) {
	ps, _ := c.Grain("ps")
	v, err := c.Call("cmd.run", []any{python.Str(ps)}, payload.M("python_shell", true))
	return strings.Split(loader.Text(v), "\n"), err
}

func procs(c *loader.Call, _ struct{}) (any, error) {
	lines, err := processes(c)
	if err != nil {
		return nil, err
	}
	head := strings.Fields(lines[0])
	column := func(names ...string) int {
		for _, name := range names {
			for i, h := range head {
				if h == name {
					return i
				}
			}
		}
		return 0
	}
	user, pid, command := column("USER", "UID"), column("PID"), column("COMMAND", "CMD")
	out := payload.NewMap(len(lines))
	for _, line := range lines[1:] {
		if words := strings.Fields(line); len(words) > max(user, pid, command) {
			out.Set(words[pid], payload.M("user", words[user], "cmd", strings.Join(words[command:], " ")))
		}
	}
	return out, nil
}

// custom calls the functions that options such as status.cpustats.custom name, and shows of each what is listed there.
func custom(c *loader.Call, _ struct{}) (any, error) {
	conf, err := c.Call("config.dot_vals", []any{"status"}, nil)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	wanted, _ := conf.(*payload.Map)
	for key, items := range wanted.All() {
		name := python.Str(key)
		fun := name[:max(0, strings.LastIndexByte(name, '.'))]
		if fun == "status.custom" {
			continue
		}
		if _, there := c.Registry().Lookup(fun); !there {
			c.Log(slog.LevelWarn, "custom status "+fun+" isn't loaded")
			continue
		}
		v, err := c.Call(fun, nil, nil)
		if err != nil {
			return nil, err
		}
		values, _ := v.(*payload.Map)
		list, _ := items.([]any)
		for _, item := range list {
			value, known := values.Get(item)
			if !known {
				c.Log(slog.LevelWarn, "val "+python.Str(item)+" not in return of "+fun)
				value = "UNKNOWN"
			}
			out.Set(item, value)
		}
	}
	return out, nil
}

func allStatus(c *loader.Call, _ struct{}) (any, error) {
	out := payload.NewMap(11)
	const names = "cpuinfo cpustats diskstats diskusage loadavg meminfo netdev netstats uptime vmstats w"
	for _, name := range strings.Fields(names) {
		v, err := c.Call("status."+name, nil, nil)
		if err != nil {
			return nil, err
		}
		out.Set(name, v)
	}
	return out, nil
}
