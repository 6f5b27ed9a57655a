package state_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/modtest"
	"brine/wire/payload"
)

// manyStates is a tree of ten SLS with thirty states each, which require each other.
func manyStates() *payload.Map {
	files, names := payload.NewMap(0), []string{}
	for i := range 10 {
		var b strings.Builder
		for j := range 30 {
			fmt.Fprintf(&b, "/tmp/s%d-%d:\n  file.managed:\n    - contents: text of {{ sls }}\n    - mode: '0644'\n"+
				"    - user: root\n", i, j)
			if j > 0 {
				fmt.Fprintf(&b, "    - require:\n      - file: /tmp/s%d-%d\n", i, j-1)
			}
			if j%10 == 9 {
				fmt.Fprintf(&b, "    - watch_in:\n      - file: /tmp/s%d-0x\n", i)
			}
		}
		fmt.Fprintf(&b, "/tmp/s%d-0x:\n  file.touch: []\n", i)
		names = append(names, fmt.Sprintf("s%d", i))
		files.Set("base/"+names[i]+".sls", b.String())
	}
	return files.Set("base/top.sls", "base: {'*': ["+strings.Join(names, ", ")+"]}\n")
}

// BenchmarkShowLowstate compiles 310 states to chunks.
func BenchmarkShowLowstate(b *testing.B) {
	env, _ := minionOf(b, manyStates(), nil)
	before := processorTime(b)
	for b.Loop() {
		v, _, err := modtest.Call(b, env, "state.show_lowstate", nil, nil)
		if list, _ := v.([]any); err != nil || len(list) != 310 {
			b.Fatal(len(list), err, v)
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
}

// processorTime is that of this process so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
