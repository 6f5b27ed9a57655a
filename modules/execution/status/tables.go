package status

import (
	"slices"
	"strings"

	"brine/wire/payload"
)

func readCPUInfo(out *payload.Map, text string) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), ":")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(value, ":")
		if name = strings.TrimSpace(name); name == "flags" {
			out.Set(name, listOf(strings.Fields(value)))
			continue
		}
		out.Set(name, strings.TrimSpace(value))
	}
}

func listOf(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

func readCPUStats(out *payload.Map, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "cpu":
			m := named(words, 1, "user nice system idle iowait irq softirq steal")
			out.Set("cpu", sortedByName(m))
		case "intr":
			out.Set("intr", payload.M("total", number(words[1]), "irqs", numbers(words[2:])))
		case "softirq":
			out.Set("softirq", payload.M("total", number(words[1]), "softirqs", numbers(words[2:])))
		default:
			out.Set(words[0], number(words[1]))
		}
	}
}

// sortedByName is a map in the order of its names, as the reference writes these down.
func sortedByName(m *payload.Map) *payload.Map {
	var names []string
	for k := range m.All() {
		names = append(names, k.(string))
	}
	slices.Sort(names)
	out := payload.NewMap(len(names))
	for _, name := range names {
		out.Set(name, m.Value(name))
	}
	return out
}

func readMemInfo(out *payload.Map, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		m := payload.M("value", words[1])
		if len(words) > 2 {
			m.Set("unit", words[2])
		}
		out.Set(strings.ReplaceAll(words[0], ":", ""), m)
	}
}

func readDiskStats(out *payload.Map, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 14 {
			continue
		}
		out.Set(words[2], named(words, 0,
			"major minor device reads_issued reads_merged sectors_read ms_spent_reading writes_completed "+
				"writes_merged sectors_written ms_spent_writing io_in_progress ms_spent_in_io weighted_ms_spent_in_io"))
	}
}

func readVMStats(out *payload.Map, text string) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 {
			out.Set(words[0], number(words[1]))
		}
	}
}

// readNetStats reads pairs of lines: one of names, one of numbers.
func readNetStats(out *payload.Map, text string) {
	names := []string{""}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] != names[0] {
			names = words
			continue
		}
		row := payload.NewMap(len(names))
		for i := 1; i < len(names)-1; i++ { // the reference leaves the last one out
			row.Set(names[i], number(word(words, i)))
		}
		out.Set(strings.ReplaceAll(names[0], ":", ""), row)
	}
}

func readNetDev(out *payload.Map, text string) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		m := named(words, 0,
			"rx_bytes rx_packets rx_errs rx_drop rx_fifo rx_frame rx_compressed rx_multicast "+
				"tx_bytes tx_packets tx_errs tx_drop tx_fifo tx_colls tx_carrier tx_compressed")
		name = strings.TrimSpace(name)
		out.Set(name, sortedByName(m.Set("iface", name)))
	}
}
