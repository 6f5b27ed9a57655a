package core

import (
	"strconv"
	"strings"

	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/modules/text/pattern"
	"brine/wire/payload"
)

// cpu reads /proc/cpuinfo, whose field names differ by architecture.
func (h *machine) cpu() *payload.Map {
	count, model, flags := int64(0), "Unknown", []any{}
	for line := range strings.Lines(h.Read("proc/cpuinfo")) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(value, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			count++
		case "# processors": // s390
			count, _ = strconv.ParseInt(value, 10, 64)
		case "vendor_id", "model name", "cpu":
			model = value
		case "flags", "Features":
			if flags = payload.AnyList(strings.Fields(value)); flags == nil {
				flags = []any{}
			}
		case "Processor": // ARM
			model, _, _ = strings.Cut(value, "-")
			count = 1
		}
	}
	return payload.M("num_cpus", count, "cpu_model", model, "cpu_flags", flags)
}

func (h *machine) memory() *payload.Map {
	out := payload.M("mem_total", int64(0), "swap_total", int64(0))
	for line := range strings.Lines(h.Read("proc/meminfo")) {
		key, value, _ := strings.Cut(line, ":")
		f := strings.Fields(value)
		if len(f) == 0 {
			continue
		}
		name := map[string]string{"MemTotal": "mem_total", "SwapTotal": "swap_total"}[key]
		if kib, err := strconv.ParseInt(f[0], 10, 64); err == nil && name != "" {
			out.Set(name, kib/1024)
		}
	}
	return out
}

var (
	lspciField = pattern.New(`^\w+:\s+.*`)
	notLetters = pattern.New(`[^A-Za-z0-9]`)
)

// gpus lists graphics devices by lspci; none where it is not installed or not wanted.
func (h *machine) gpus() *payload.Map {
	devices := []any{}
	if tool := program.Which("lspci"); tool != "" && h.Enabled("enable_lspci") && h.Enabled("enable_gpu_grains") {
		text, _ := grains.Output(tool, "-vmm")
		devices = parseGPUs(text)
	}
	return payload.M("num_gpus", int64(len(devices)), "gpus", devices)
}

func parseGPUs(text string) []any {
	out := []any{}
	device := map[string]string{}
	for _, line := range append(strings.Split(text, "\n"), "") {
		if line == "" {
			if isGPU(device["Class"]) {
				out = append(out, payload.M("vendor", gpuVendor(device["Vendor"]), "model", device["Device"]))
			}
			device = map[string]string{}
			continue
		}
		if lspciField.MatchString(line) {
			key, value, _ := strings.Cut(line, ":")
			device[key] = strings.TrimSpace(value)
		}
	}
	return out
}

func isGPU(class string) bool {
	switch strings.ToLower(class) {
	case "3d controller", "display controller", "processing accelerators", "vga compatible controller":
		return true
	}
	return false
}

func gpuVendor(text string) string {
	words := notLetters.Split(strings.ToLower(text), -1)
	for _, known := range []string{"nvidia", "amd", "ati", "intel", "vmware", "matrox", "aspeed"} {
		if contains(words, known) {
			return known
		}
	}
	return "unknown"
}
