package daemon

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const smapsOfTest = `c0000000-c0001000 r--p 00000000 fe:00 1                          /bin/x
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me sd
c0001000-c0003000 r-xp 00001000 fe:00 1                          /bin/x
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me sd
c0003000-c0004000 r--p 00003000 fe:00 1                          /bin/relocated
Anonymous:             4 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac sd
c0004000-c0005000 r--p 00003000 fe:00 1                          /bin/relocated and swapped
Anonymous:             0 kB
Swap:                  4 kB
VmFlags: rd mr mw me ac sd
c0005000-c0006000 rw-p 00003000 fe:00 1                          /bin/x
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac sd
7f0000000000-7f0000001000 r--s 00000000 fe:00 2                          /var/jobs.db
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd sh mr mw me ms sd
7f0000001000-7f0000002000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me de sd
7f0000002000-7f0000003000 r--p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac sd
`

func TestCleanFileAreas(t *testing.T) {
	got, err := cleanFileAreas(strings.NewReader(smapsOfTest))
	want := []area{{0xc0000000, 0xc0001000}, {0xc0001000, 0xc0003000}}
	if err != nil || !cmp.Equal(got, want, cmp.AllowUnexported(area{})) {
		t.Errorf("got %x, %v, want %x", got, err, want)
	}
	if _, err := cleanFileAreas(strings.NewReader("nonsense r-xp 0 0 0 /bin/x\n")); err == nil {
		t.Error("no error for an area that is none")
	}
}

func TestSettling(t *testing.T) {
	const ms = time.Millisecond
	begin := time.Unix(1000, 0)
	s := settling{cost: 20 * ms}
	for i, tt := range []struct {
		after time.Duration // since the start
		used  time.Duration // in total
		want  bool
	}{
		{2 * time.Second, 300 * ms, false},  // starting
		{4 * time.Second, 310 * ms, true},   // resting
		{6 * time.Second, 311 * ms, false},  // no work since
		{8 * time.Second, 900 * ms, false},  // working
		{10 * time.Second, 901 * ms, false}, // resting, but too soon
		{14 * time.Second, 902 * ms, true},
		{60 * time.Second, 990 * ms, false}, // not much
		{70 * time.Second, 1020 * ms, true}, // enough now
		{90 * time.Second, 1300 * ms, false},
		{92 * time.Second, 1400 * ms, false}, // still working
		{94 * time.Second, 1440 * ms, true},
	} {
		if got := s.due(tt.used, begin.Add(tt.after)); got != tt.want {
			t.Errorf("look %d: got %v", i, got)
		}
	}
	short := newSettling()
	if short.due(50*ms, begin) || !short.due(51*ms, begin.Add(2*time.Second)) ||
		short.due(52*ms, begin.Add(20*time.Second)) {
		t.Error("a short start is not settled once")
	}
	short.settled(60 * ms) // it cost 9 ms
	if short.due(104*ms, begin.Add(38*time.Second)) || !short.due(105*ms, begin.Add(40*time.Second)) {
		t.Error("work worth five settlings is not settled")
	}
	short.settled(106 * ms)
	if short.due(125*ms, begin.Add(60*time.Second)) || !short.due(126*ms, begin.Add(62*time.Second)) {
		t.Error("the least work is another")
	}
	busy := newSettling()
	busy.due(50*ms, begin)
	busy.due(50*ms, begin.Add(2*time.Second))
	busy.settled(450 * ms) // most of this was the start, which had to wait
	looks := 0
	for busy.due(1450*ms, begin.Add(2*time.Second)); !busy.due(1450*ms,
		begin.Add(time.Duration(looks)*2*time.Second)); looks++ {
		if looks > 100 {
			t.Fatal("a start that took long keeps the memory of later work")
		}
	}
	if looks < 10 {
		t.Errorf("settled at look %d, for half of what it is worth", looks)
	}
	if processorTime() <= 0 {
		t.Error("this test took no processor time")
	}
}

// TestOddParts: an area is divided at the same addresses even if it is divided already.
func TestOddParts(t *testing.T) {
	const s = divideSize
	for _, tt := range []struct {
		area area
		want []area
	}{
		{area{0, 5 * s}, []area{{s, 2 * s}, {3 * s, 4 * s}}},
		{area{s / 2, s}, nil},
		{area{s + 4096, 2 * s}, []area{{s + 4096, 2 * s}}},
		{area{s + 4096, 3*s + 4096}, []area{{s + 4096, 2 * s}, {3 * s, 3*s + 4096}}},
	} {
		if got := oddParts(tt.area); !cmp.Equal(got, tt.want, cmp.AllowUnexported(area{})) {
			t.Errorf("%x: got %x, want %x", tt.area, got, tt.want)
		}
	}
}

// TestReleaseFilePages: the program runs on afterwards, with fewer of its own pages in memory.
func TestReleaseFilePages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	resident := func() string {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "RssFile:") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}
	before := resident()
	if err := releaseFilePages(); err != nil {
		t.Fatal(err)
	}
	t.Logf("before %q, after %q", before, resident())
	for range 3 {
		runtime.GC()
	}
}
