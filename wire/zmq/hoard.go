package zmq

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// static void brine_trim(void) { malloc_trim(0); }
// #else
// static void brine_trim(void) {}
// #endif
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
)

// outside reads how much memory of this process belongs neither to mapped files nor to Go: the memory of libzmq, and
// the little that other libraries have. It counts resident memory, not reserved memory.
type outside struct {
	statm  *os.File
	buf    [128]byte
	sample [2]metrics.Sample
}

func newOutside() (*outside, error) {
	f, err := os.Open("/proc/self/statm")
	if err != nil {
		return nil, fmt.Errorf("memory of this process: %w", err)
	}
	o := &outside{statm: f}
	o.sample[0].Name, o.sample[1].Name = "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes"
	return o, nil
}

func (o *outside) close() error { return o.statm.Close() }

// bytes returns the current amount.
func (o *outside) bytes() (int64, error) {
	n, err := o.statm.ReadAt(o.buf[:], 0)
	if n == 0 {
		return 0, fmt.Errorf("memory of this process: %w", err)
	}
	pages, err := anonymousPages(o.buf[:n])
	if err != nil {
		return 0, err
	}
	metrics.Read(o.sample[:])
	gos := int64(0)
	if o.sample[0].Value.Kind() == metrics.KindUint64 && o.sample[1].Value.Kind() == metrics.KindUint64 {
		gos = int64(o.sample[0].Value.Uint64() - o.sample[1].Value.Uint64())
	}
	return max(0, pages*int64(os.Getpagesize())-gos), nil
}

// anonymousPages reads the table of proc_pid_statm(5): the resident pages without those of files.
func anonymousPages(statm []byte) (int64, error) {
	words := bytes.Fields(statm)
	if len(words) < 3 {
		return 0, fmt.Errorf("memory of this process: %q", statm)
	}
	resident, err := strconv.ParseInt(string(words[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("memory of this process: %w", err)
	}
	files, err := strconv.ParseInt(string(words[2]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("memory of this process: %w", err)
	}
	return resident - files, nil
}

// trimMalloc returns freed memory that C's allocator keeps to the kernel.
func trimMalloc() { C.brine_trim() }
