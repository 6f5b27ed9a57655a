package link

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// fates are the times of arrival, in milliseconds, of frames that enter one millisecond apart. -1 is a lost
// frame.
func fates(l *lane, frames int) []int {
	var all []int
	for i := range frames {
		begin := time.Unix(0, 0).Add(time.Duration(i) * time.Millisecond)
		due, ok := l.enter(begin)
		if !ok {
			all = append(all, -1)
			continue
		}
		all = append(all, int(due.Sub(time.Unix(0, 0))/time.Millisecond))
	}
	return all
}

func TestLaneFollowsItsSeed(t *testing.T) {
	shaped := func(seed, way uint64) []int {
		l := &lane{}
		l.shape(50*time.Millisecond, 20*time.Millisecond, 30, rand.NewPCG(seed, way))
		return fates(l, 1000)
	}
	one := shaped(1, 1)
	if !slices.Equal(one, shaped(1, 1)) {
		t.Error("the same seed: another outcome")
	}
	if slices.Equal(one, shaped(2, 1)) || slices.Equal(one, shaped(1, 2)) {
		t.Error("another seed or direction: the same outcome")
	}
	again := &lane{}
	again.shape(50*time.Millisecond, 20*time.Millisecond, 30, rand.NewPCG(1, 1))
	fates(again, 17)
	again.last = time.Time{}
	again.shape(50*time.Millisecond, 20*time.Millisecond, 30, rand.NewPCG(1, 1))
	if !slices.Equal(one, fates(again, 1000)) {
		t.Error("shaped once more with the same seed: another outcome")
	}
}

func TestLaneDraws(t *testing.T) {
	for _, tt := range []struct {
		name             string
		delay, jitter    time.Duration
		loss             int
		lostMin, lostMax int
		early, late      int // of a frame, relative to its entry, in milliseconds
	}{
		{"nothing", 0, 0, 0, 0, 0, 0, 0},
		{"delay", 50 * time.Millisecond, 0, 0, 0, 0, 50, 50},
		{"jitter", 50 * time.Millisecond, 20 * time.Millisecond, 0, 0, 0, 30, 70},
		{"more jitter than delay", 5 * time.Millisecond, 20 * time.Millisecond, 0, 0, 0, 0, 25},
		{"loss", 0, 0, 5, 20, 100, 0, 0},
		{"all is lost", 0, 0, 100, 1000, 1000, 0, 0},
		{"negative values", -time.Second, -time.Second, -1, 0, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &lane{}
			l.shape(tt.delay, tt.jitter, tt.loss, rand.NewPCG(1, 1))
			lost, before := 0, 0
			var took []int
			for i, at := range fates(l, 1000) {
				if at < 0 {
					lost++
					continue
				}
				if at < before {
					t.Errorf("frame %d overtakes", i)
				}
				before = at
				took = append(took, at-i)
			}
			if lost < tt.lostMin || lost > tt.lostMax {
				t.Errorf("%d of 1000 frames are lost", lost)
			}
			if len(took) > 0 && (slices.Min(took) < tt.early || slices.Max(took) > tt.late) {
				t.Errorf("frames take %d to %d ms", slices.Min(took), slices.Max(took))
			}
			if tt.jitter > 0 && slices.Min(took) == slices.Max(took) {
				t.Error("all frames take the same time")
			}
		})
	}
}

// kernels are the other sides of the ends of a cable, as the kernel's side of a TUN device.
type kernels struct {
	t            *testing.T
	cable        *cable
	minion, site net.Conn
}

// newKernels makes a cable. Call it in a bubble of synctest.
func newKernels(t *testing.T) *kernels {
	t.Helper()
	minion, far := net.Pipe()
	site, near := net.Pipe()
	return &kernels{t: t, cable: newCable(far, near), minion: minion, site: site}
}

// send sends frames one after another.
func (k *kernels) send(from net.Conn, frames ...string) {
	k.t.Helper()
	for _, f := range frames {
		if _, err := from.Write([]byte(f)); err != nil {
			k.t.Fatal(err)
		}
	}
}

// comes reads one frame and returns the time until its arrival.
func (k *kernels) comes(to net.Conn, want string) time.Duration {
	k.t.Helper()
	began := time.Now()
	_ = to.SetReadDeadline(began.Add(time.Hour))
	buf := make([]byte, maxFrame)
	n, err := to.Read(buf)
	if err != nil || string(buf[:n]) != want {
		k.t.Fatalf("got %q, %v, want %q", buf[:n], err, want)
	}
	return time.Since(began)
}

// silent waits an hour in which no frame may arrive.
func (k *kernels) silent(to net.Conn) {
	k.t.Helper()
	_ = to.SetReadDeadline(time.Now().Add(time.Hour))
	buf := make([]byte, maxFrame)
	if n, err := to.Read(buf); err == nil {
		k.t.Fatalf("%q came", buf[:n])
	}
}

func (k *kernels) counted(lane int, want Frames) {
	k.t.Helper()
	synctest.Wait()
	l := k.cable.lanes[lane]
	if got := (Frames{l.passed.Load(), l.lost.Load()}); got != want {
		k.t.Errorf("direction %d: %+v, want %+v", lane, got, want)
	}
}

func TestCable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernels(t)
		k.send(k.minion, "one", "two")
		if took := k.comes(k.site, "one") + k.comes(k.site, "two"); took != 0 {
			t.Errorf("took %v", took)
		}
		k.cable.lanes[0].shape(50*time.Millisecond, 0, 0, rand.NewPCG(1, 1))
		k.send(k.minion, "late", "later")
		k.send(k.site, "prompt")
		if took := k.comes(k.minion, "prompt"); took != 0 {
			t.Errorf("the other direction took %v", took)
		}
		if first, second := k.comes(k.site, "late"), k.comes(k.site, "later"); first != 50*time.Millisecond ||
			second != 0 {
			t.Errorf("took %v and %v", first, second)
		}
		k.counted(0, Frames{Passed: 4})
		k.counted(1, Frames{Passed: 1})
		k.cable.close()
		if _, err := k.site.Write([]byte("x")); err == nil {
			t.Error("the end of a closed cable takes a frame")
		}
	})
}

func TestCableCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernels(t)
		defer k.cable.close()
		toSite := k.cable.lanes[0]
		toSite.shape(time.Minute, 0, 0, rand.NewPCG(1, 1))
		k.send(k.minion, "under way")
		synctest.Wait()
		toSite.setCut(true)
		k.send(k.minion, "sent")
		k.send(k.site, "back")
		k.comes(k.minion, "back")
		k.silent(k.site)
		k.counted(0, Frames{Lost: 2})
		toSite.setCut(false)
		k.send(k.minion, "again")
		k.comes(k.site, "again")
		toSite.setCut(true)
		k.send(k.minion, "while it was cut for less than a frame takes")
		synctest.Wait()
		toSite.setCut(false)
		k.send(k.minion, "and again")
		k.comes(k.site, "and again")
		k.counted(0, Frames{Passed: 2, Lost: 3})
	})
}

func TestCableLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernels(t)
		defer k.cable.close()
		const seed, frames = 7, 200
		k.cable.lanes[1].shape(time.Millisecond, 0, 20, rand.NewPCG(seed, 1))
		twin := &lane{}
		twin.shape(time.Millisecond, 0, 20, rand.NewPCG(seed, 1))
		lost := uint64(0)
		for i := range frames {
			k.send(k.site, fmt.Sprint(i))
			if _, ok := twin.enter(time.Now()); ok {
				k.comes(k.minion, fmt.Sprint(i))
			} else {
				lost++
			}
		}
		k.counted(1, Frames{Passed: frames - lost, Lost: lost})
		if lost == 0 {
			t.Error("nothing was lost")
		}
	})
}

func TestCableClosesWhileFramesAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernels(t)
		k.cable.lanes[0].shape(time.Hour, 0, 0, rand.NewPCG(1, 1))
		began := time.Now()
		k.send(k.minion, "a", "b")
		k.cable.close()
		if took := time.Since(began); took != 0 {
			t.Errorf("closing took %v", took)
		}
	})
}
