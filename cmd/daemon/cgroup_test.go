package daemon

import (
	"os"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for _, tt := range []struct {
		name, own string
		files     map[string]string
		want      int64
	}{
		{"v2", "0::/system.slice/brine.service\n", map[string]string{"/cg/system.slice/brine.service/memory.max": "134217728\n"}, 128 << 20},
		{"v2, above it", "0::/a/b\n", map[string]string{"/cg/a/b/memory.max": "max\n", "/cg/a/memory.max": "1000000\n", "/cg/a/memory.high": "900000\n"}, 900000},
		{"v2, in a container", "0::/../x\n", map[string]string{"/cg/memory.max": "500000\n"}, 500000},
		{"v1", "9:name=systemd:/x\n4:memory:/docker/1\n0::/\n", map[string]string{"/cg/memory/docker/1/memory.limit_in_bytes": "99999744\n"}, 99999744},
		{"v1, none", "4:memory:/\n", map[string]string{"/cg/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"none", "0::/\n", nil, 0},
		{"rubbish", "x\n0::/\n", map[string]string{"/cg/memory.max": "-1\n"}, 0},
	} {
		got := memoryLimit(tt.own, "/cg", func(path string) ([]byte, error) {
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
