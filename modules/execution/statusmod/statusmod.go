// Package statusmod holds the execution functions of the module status: what the kernel counts, how long the machine is
// up, who is logged in, what time it is. It reads Linux's /proc. It answers to salt/modules/status.py; master,
// ping_master and proxy_reconnect are not there.
package statusmod

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Functions lists the functions of the module.
func Functions() []loader.Func {
	var all []loader.Func
	add := func(name, doc string, run func(*loader.Call) (any, error)) {
		all = append(all, loader.Func{Name: "status." + name,
			Doc: doc + "\n\nCLI Example:\n\n    salt '*' status." + name,
			Run: func(c *loader.Call, _ loader.Args) (any, error) { return run(c) }})
	}
	for _, t := range tables() {
		add(t.name, t.doc, func(*loader.Call) (any, error) { return t.value(), nil })
	}
	add("loadavg", "Show how many processes wanted to run, on average of one, five and fifteen minutes.", loadavg)
	add("uptime", "Show since when the machine runs, and how many users are logged in.", uptime)
	add("nproc", "Show how many processors this process may use.", nproc)
	add("w", "List who is logged in and does what.", loggedIn)
	add("procs", "List the processes with their users and commands.", procs)
	add("custom", "Show what the options status.FUNCTION.custom name.", custom)
	add("all_status", "Show what most other functions of the module show.", allStatus)
	all = append(all, withArguments()...)
	for i := range all {
		all[i].Source = "salt/modules/status.py"
		if all[i].Name == "status.time" {
			all[i].PyName = "time_"
		}
	}
	return all
}

// elsewhere is the answer on systems other than Linux.
const elsewhere = "This method is unsupported on the current operating system!"

// table is a file of the kernel and how it is read.
type table struct {
	name, doc, file string
	read            func(out *payload.Map, text string)
}

// value is what a table holds; nothing where the file cannot be read.
func (t table) value() any {
	if runtime.GOOS != "linux" {
		return elsewhere
	}
	text, err := os.ReadFile(t.file)
	if t.read == nil {
		if err != nil {
			return payload.NewMap(0)
		}
		return strings.TrimSpace(string(text))
	}
	out := payload.NewMap(0)
	if err == nil {
		t.read(out, string(text))
	}
	return out
}

func tables() []table {
	return []table{
		{"cpuinfo", "Show what the kernel knows of the processors; of several the last one.", "/proc/cpuinfo",
			readCPUInfo},
		{"cpustats", "Show what the processors have done, and how many interrupts and switches there were.",
			"/proc/stat", readCPUStats},
		{"meminfo", "Show how much memory there is for what.", "/proc/meminfo", readMemInfo},
		{"diskstats", "Show what was read from disks and written to them.", "/proc/diskstats", readDiskStats},
		{"vmstats", "Show what the kernel counts of memory.", "/proc/vmstat", readVMStats},
		{"netstats", "Show what the kernel counts of its network protocols.", "/proc/net/netstat", readNetStats},
		{"netdev", "Show what went through the network interfaces.", "/proc/net/dev", readNetDev},
		{"version", "Show the version of the kernel.", "/proc/version", nil},
	}
}

// number is a whole or another number where a text is one, else the text.
func number(text string) any {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !strings.HasPrefix(strings.ToLower(strings.TrimLeft(text,
		"+-")), "0x") {
		return f
	}
	return text
}

func numbers(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = number(w)
	}
	return out
}

// word is one of a line; "" where it has fewer.
func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// named puts numbers of a line under names: the first name is that of the word at from, and so on.
func named(words []string, from int, names string) *payload.Map {
	out := payload.NewMap(0)
	for i, name := range strings.Fields(names) {
		out.Set(name, number(word(words, from+i)))
	}
	return out
}
