package ps

import (
	"context"
	"math"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pytime"
	"brine/wire/payload"
	"brine/wire/python"
)

func figures() []loader.Func {
	return []loader.Func{
		loader.Fn("cpu_percent", cpuPercent, "Tell in percent how busy the processors are.", "ps.cpu_percent"),
		loader.Fn("cpu_times", cpuTimes, "Show the seconds that processors spent in each state.", "ps.cpu_times"),
		loader.Fn("virtual_memory", virtualMemory, "Show the memory.", "ps.virtual_memory"),
		loader.Fn("swap_memory", swapMemory, "Show the swap areas.", "ps.swap_memory"),
		loader.Fn("total_physical_memory", totalMemory, "Tell the bytes of memory.", "ps.total_physical_memory"),
		loader.Fn("num_cpus", numCPUs, "Tell the number of processors.", "ps.num_cpus"),
		loader.Fn("boot_time", bootTime, "Tell when the machine was started.", "ps.boot_time"),
		loader.Fn("disk_partitions", partitions, "List the file systems that are mounted.", "ps.disk_partitions"),
		loader.Fn("disk_usage", diskUsage, "Tell how full the file system of a path is.", "ps.disk_usage /home"),
		loader.Fn("disk_partition_usage", partitionUsage, "List file systems, and how full they are.",
			"ps.disk_partition_usage"),
		loader.Fn("network_io_counters", networkCounters, "Show what went through the network, or one interface.",
			"ps.network_io_counters interface=eth0"),
	}
}

func proc(name string) (string, error) {
	data, err := plainfile.Read("/proc/"+name, program.MaxOutput())
	return string(data), err
}

const timeNames = "user nice system idle iowait irq softirq steal guest guest_nice"

// times are the lines of /proc/stat on processors: first the sum, then each.
func times() ([][]float64, error) {
	text, err := proc("stat")
	var out [][]float64
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "cpu") {
			continue
		}
		row := make([]float64, len(strings.Fields(timeNames)))
		for i, word := range strings.Fields(line)[1:] {
			if n, err := strconv.ParseFloat(word, 64); err == nil && i < len(row) {
				const ticks = 100 // a second, in what the kernel tells programs
				row[i] = n / ticks
			}
		}
		out = append(out, row)
	}
	if err == nil && len(out) == 0 {
		err = loader.ExecErr("/proc/stat tells of no processor")
	}
	return out, err
}

func timesMap(row []float64) *payload.Map {
	out := payload.NewMap(len(row))
	for i, name := range strings.Fields(timeNames) {
		out.Set(name, row[i])
	}
	return out
}

type perCPU struct {
	PerCPU bool `arg:"per_cpu=False"`
}

func cpuTimes(_ *loader.Call, a perCPU) (any, error) {
	rows, err := times()
	if err != nil {
		return nil, err
	}
	if !a.PerCPU {
		return timesMap(rows[0]), nil
	}
	out := []any{}
	for _, row := range rows[1:] {
		out = append(out, timesMap(row))
	}
	return out, nil
}

type watched struct {
	Interval any  `arg:"interval=0.1"`
	PerCPU   bool `arg:"per_cpu=False"`
}

func cpuPercent(c *loader.Call, a watched) (any, error) {
	seconds, ok := python.Number(a.Interval)
	if !ok || seconds < 0 {
		return nil, loader.Raise("ValueError", "interval is not positive (got %s)", python.Str(a.Interval))
	}
	before, err := times()
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(time.Duration(seconds * float64(time.Second))):
	case <-c.Ctx.Done():
		return nil, context.Cause(c.Ctx)
	}
	after, err := times()
	if err != nil || len(after) != len(before) {
		return nil, err
	}
	out := []any{}
	for i := range after {
		out = append(out, busy(before[i], after[i]))
	}
	if a.PerCPU {
		return out[1:], nil
	}
	return out[0], nil
}

// busy is in percent how much of the time between two looks a processor was not idle. The times of guests stand in
// others, too.
func busy(before, after []float64) float64 {
	const idle, iowait, guests = 3, 4, 8
	all, idled := 0.0, 0.0
	for i := range guests {
		d := max(0, after[i]-before[i])
		all += d
		if i == idle || i == iowait {
			idled += d
		}
	}
	if all == 0 {
		return 0
	}
	return tenths((all - idled) / all * 100)
}

func tenths(f float64) float64 { return math.RoundToEven(f*10) / 10 }

func percentOf(used, total uint64) float64 {
	if total == 0 {
		return 0
	}
	return tenths(float64(used) / float64(total) * 100)
}

// meminfo are the bytes of /proc/meminfo.
func meminfo() (map[string]uint64, error) {
	text, err := proc("meminfo")
	out := map[string]uint64{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 {
			n, _ := strconv.ParseUint(words[1], 10, 64) // what is no number is 0
			out[strings.TrimSuffix(words[0], ":")] = n * 1024
		}
	}
	return out, err
}

func virtualMemory(*loader.Call, struct{}) (*payload.Map, error) {
	m, err := meminfo()
	total := m["MemTotal"]
	available := m["MemAvailable"]
	if available > total {
		available = m["MemFree"]
	}
	used := total - available
	return payload.M("total", total, "available", available, "percent", percentOf(used, total), "used", used,
		"free", m["MemFree"], "active", m["Active"], "inactive", m["Inactive"], "buffers", m["Buffers"],
		"cached", m["Cached"]+m["SReclaimable"], "shared", m["Shmem"], "slab", m["Slab"]), err
}

func swapMemory(*loader.Call, struct{}) (*payload.Map, error) {
	m, err := meminfo()
	if err != nil {
		return nil, err
	}
	text, err := proc("vmstat")
	moved := map[string]uint64{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) == 2 && strings.HasPrefix(words[0], "pswp") {
			n, _ := strconv.ParseUint(words[1], 10, 64) // what is no number is 0
			const page = 4096
			moved[words[0]] = n * page
		}
	}
	used := m["SwapTotal"] - m["SwapFree"]
	return payload.M("total", m["SwapTotal"], "used", used, "free", m["SwapFree"], "percent",
		percentOf(used, m["SwapTotal"]), "sin", moved["pswpin"], "sout", moved["pswpout"]), err
}

func totalMemory(*loader.Call, struct{}) (any, error) {
	m, err := meminfo()
	return int64(m["MemTotal"]), err
}

func numCPUs(*loader.Call, struct{}) (any, error) {
	rows, err := times()
	if err != nil {
		return int64(runtime.NumCPU()), nil
	}
	return int64(len(rows) - 1), nil
}

type shownAs struct {
	Format any `arg:"time_format=None"`
}

func bootTime(_ *loader.Call, a shownAs) (any, error) {
	text, err := proc("stat")
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(text, "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	seconds, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil || !python.Truth(a.Format) {
		return seconds, err
	}
	format, ok := a.Format.(string)
	if !ok {
		return nil, loader.InvocErr("Invalid format string: strftime() argument 1 must be str, not %s",
			python.Type(a.Format))
	}
	return pytime.Strftime(time.Unix(seconds, 0), format), nil
}

type everything struct {
	All bool `arg:"all=False"`
}

func partitions(_ *loader.Call, a everything) ([]any, error) {
	kinds, err := proc("filesystems")
	if err != nil {
		return nil, err
	}
	onDevices := map[string]bool{"zfs": strings.Contains(kinds, "\tzfs\n")}
	for line := range strings.Lines(kinds) {
		if !strings.HasPrefix(line, "nodev") {
			onDevices[strings.TrimSpace(line)] = true
		}
	}
	text, err := proc("self/mounts")
	out := []any{}
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		device := plain.Replace(words[0])
		if device == "none" {
			device = ""
		}
		if a.All || device != "" && onDevices[words[2]] {
			out = append(out, payload.M("device", device, "mountpoint", plain.Replace(words[1]), "fstype", words[2],
				"opts", words[3]))
		}
	}
	return out, err
}

type ofPath struct {
	Path string `arg:"path"`
}

func diskUsage(_ *loader.Call, a ofPath) (*payload.Map, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(a.Path, &st); err != nil {
		number, _ := program.Errno(err)
		return nil, loader.Raise(loader.OSErrorClass(number), "%s", loader.OSErrorText(number, a.Path))
	}
	size := uint64(st.Frsize)
	used, free := (st.Blocks-st.Bfree)*size, st.Bavail*size
	return payload.M("total", st.Blocks*size, "used", used, "free", free, "percent", percentOf(used, used+free)), nil
}

func partitionUsage(c *loader.Call, a everything) ([]any, error) {
	all, err := partitions(c, a)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		m := v.(*payload.Map)
		used, err := diskUsage(c, ofPath{m.Str("mountpoint")})
		if err != nil {
			return nil, err
		}
		m.Update(used)
	}
	return all, nil
}

type ofInterface struct {
	Interface any `arg:"interface=None"`
}

const counterNames = "bytes_sent bytes_recv packets_sent packets_recv errin errout dropin dropout"

func networkCounters(_ *loader.Call, a ofInterface) (any, error) {
	text, err := proc("net/dev")
	if err != nil {
		return nil, err
	}
	sum := make([]uint64, len(strings.Fields(counterNames)))
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		words := strings.Fields(rest)
		const columns = 16
		if !ok || len(words) < columns {
			continue
		}
		row := make([]uint64, len(sum))
		for i, column := range []int{8, 0, 9, 1, 2, 10, 3, 11} { // received first, then sent
			row[i], _ = strconv.ParseUint(words[column], 10, 64) // the kernel writes numbers
			sum[i] += row[i]
		}
		if strings.TrimSpace(name) == a.Interface {
			return countersMap(row), nil
		}
	}
	if python.Truth(a.Interface) {
		return false, nil
	}
	return countersMap(sum), nil
}

func countersMap(row []uint64) *payload.Map {
	out := payload.NewMap(len(row))
	for i, name := range strings.Fields(counterNames) {
		out.Set(name, row[i])
	}
	return out
}
