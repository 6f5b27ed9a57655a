package work_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// manyOf is a tree with one SLS of so many states, each made by a function of its number.
func manyOf(n int, state func(i int) string) *payload.Map {
	var b strings.Builder
	for i := range n {
		b.WriteString(state(i))
	}
	return payload.M("base/t.sls", b.String())
}

// applied measures state.apply of a tree: processor time, compilation included.
func applied(b *testing.B, files *payload.Map, n int, kw *payload.Map) {
	env, _ := statetest.Minion(b, files, nil)
	before := processorTime(b)
	for b.Loop() {
		v, _, err := modtest.Call(b, env, "state.apply", []any{"t"}, kw)
		if m, _ := v.(*payload.Map); err != nil || m.Len() != n {
			b.Fatal(err, v)
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/float64(n)/1e3, "cpu-µs/state")
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

// BenchmarkNop runs 1,000 test.nop, each requiring the one before.
func BenchmarkNop(b *testing.B) {
	files := manyOf(1000, func(i int) string {
		if i == 0 {
			return "s0: test.nop\n"
		}
		return fmt.Sprintf("s%d: {test.nop: [{require: [{test: s%d}]}]}\n", i, i-1)
	})
	applied(b, files, 1000, nil)
}

// BenchmarkManaged runs 300 file.managed with contents that are in place.
func BenchmarkManaged(b *testing.B) {
	files := manyOf(300, func(i int) string {
		return fmt.Sprintf("ROOT/w/f%d: {file.managed: [{contents: text of %d}, {mode: '0644'}]}\n", i, i)
	})
	applied(b, files, 300, nil)
}

// BenchmarkTemplate runs 300 file.managed from a template that are in place.
func BenchmarkTemplate(b *testing.B) {
	files := manyOf(300, func(i int) string {
		return fmt.Sprintf("ROOT/w/f%d: {file.managed: [{source: salt://f.jinja}, {template: jinja}, {context: {n: %d}}]}\n",
			i, i)
	})
	applied(b, files.Set("base/f.jinja", "number {{ n }} of {{ grains.id }}\n"), 300, nil)
}
