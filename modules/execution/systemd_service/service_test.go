package systemd_service_test

import (
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution/systemd_service"
	"brine/modules/loader"
	"brine/modules/modtest"
)

// TestRecorded: the module answers as Salt 3008.3 does, and asks systemctl the same. The first word of a call is the
// host, a folder of testdata.
func TestRecorded(t *testing.T) {
	bin := modtest.Fakes(t)
	modtest.Recorded(t, func(t *testing.T, host string) (*loader.Env, map[string]string) {
		dir, err := filepath.Abs(filepath.Join("testdata", host))
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("BRINE_T_HOST", dir)
		env := modtest.Env(t, nil)
		env.Registry.Offer(loader.Listed{systemd_service.ModuleOf(systemd_service.Options{Root: dir})})
		return env, map[string]string{dir: "DIR", bin: "FAKE"}
	})
}

// TestVirtual: the module loads on Linux that systemd has booted, and says else why not.
func TestVirtual(t *testing.T) {
	booted := filepath.Join("testdata", "debian12")
	for _, tt := range []struct {
		name, root, kernel string
		loads              bool
	}{
		{"booted", booted, "Linux", true},
		{"not booted", filepath.Join("testdata", "centos7"), "Linux", false},
		{"not Linux", booted, "FreeBSD", false},
		{"nothing known", booted, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := systemd_service.ModuleOf(systemd_service.Options{Root: tt.root})
			loads, why := m.Virtual(place(tt.kernel))
			if loads != tt.loads || loads != (why == "") {
				t.Errorf("got %v, %q", loads, why)
			}
		})
	}
}

// place is a host with one grain, kernel.
type place string

func (place) Has(string) bool { return false }

func (p place) Grain(name string) (any, bool) { return string(p), name == "kernel" && p != "" }

// TestNoOption: a name that systemctl would take for an option starts no program.
func TestNoOption(t *testing.T) {
	modtest.Fakes(t)
	dir, err := filepath.Abs(filepath.Join("testdata", "debian12"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BRINE_T_HOST", dir)
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Listed{systemd_service.ModuleOf(systemd_service.Options{Root: dir})})
	for _, fun := range strings.Fields("available missing status enabled disabled masked show start stop restart " +
		"reload force_reload enable disable mask unmask") {
		modtest.StartsNothing(t, env, "service."+fun, "--host=evil.example.com")
	}
}

func (p place) Has(string) bool { return false }
