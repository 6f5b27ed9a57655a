// Package status is the execution module status: what the kernel counts, how long the machine is up, who is logged in,
// what time it is. It reads Linux's /proc. It answers to salt/modules/status.py; master, ping_master and
// proxy_reconnect are not there.
package status

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module status.
func Module() loader.Module {
	return loader.Module{File: "status", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(counts(), machine(), withArguments())
	}}
}

// counts are a function for each table.
func counts() []loader.Func {
	var out []loader.Func
	for _, t := range tables() {
		show := func(*loader.Call, struct{}) (any, error) { return t.value(), nil }
		out = append(out, loader.Fn(t.name, show, t.doc, "status."+t.name))
	}
	return out
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
	unsigned := strings.ToLower(strings.TrimLeft(text, "+-"))
	if f, err := strconv.ParseFloat(text, 64); err == nil && !strings.HasPrefix(unsigned, "0x") {
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
