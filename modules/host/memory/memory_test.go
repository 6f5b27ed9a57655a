package memory

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// TestForGo: the limit that the collector has just now is not what Go may take; an operator's, and a limit of data,
// are.
func TestForGo(t *testing.T) {
	if os.Getenv("BRINE_TEST_FORGO") != "" {
		os.Stdout.WriteString("may take " + strconv.FormatInt(ForGo(), 10) + "\n")
		return
	}
	before := debug.SetMemoryLimit(64 << 20)
	defer debug.SetMemoryLimit(before)
	if got := ForGo(); got == 64<<20 {
		t.Errorf("it goes by the collector's limit: %d", got)
	}
	for _, tt := range []struct{ how, env, want string }{
		{"exec \"$0\" -test.run '^TestForGo$'", "GOMEMLIMIT=96MiB", strconv.Itoa(96 << 20)},
		{"ulimit -d 4000000; exec \"$0\" -test.run '^TestForGo$'", "X=", strconv.FormatInt(4000000<<10, 10)},
	} {
		c := exec.Command("/bin/sh", "-c", tt.how, os.Args[0])
		c.Env = append(os.Environ(), "BRINE_TEST_FORGO=1", tt.env)
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "may take "+tt.want+"\n") {
			t.Errorf("%s, %s: got %s, %v, want %s", tt.how, tt.env, out, err, tt.want)
		}
	}
}

func TestOfGroup(t *testing.T) {
	for _, tt := range []struct {
		name, own string
		files     map[string]string
		want      int64
	}{
		{"v2", "0::/system.slice/brine.service\n",
			map[string]string{"/cg/system.slice/brine.service/memory.max": "134217728\n"}, 128 << 20},
		{"v2, above it", "0::/a/b\n", map[string]string{"/cg/a/b/memory.max": "max\n", "/cg/a/memory.max": "1000000\n",
			"/cg/a/memory.high": "900000\n"}, 900000},
		{"v2, in a container", "0::/../x\n", map[string]string{"/cg/memory.max": "500000\n"}, 500000},
		{"v1", "9:name=systemd:/x\n4:memory:/docker/1\n0::/\n",
			map[string]string{"/cg/memory/docker/1/memory.limit_in_bytes": "99999744\n"}, 99999744},
		{"v1, none", "4:memory:/\n", map[string]string{"/cg/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"none", "0::/\n", nil, 0},
		{"rubbish", "x\n0::/\n", map[string]string{"/cg/memory.max": "-1\n"}, 0},
	} {
		got := limitOf(tt.own, "/cg", func(path string) ([]byte, error) {
			if text, ok := tt.files[path]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}
