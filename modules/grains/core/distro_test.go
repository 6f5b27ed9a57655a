package core

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules/grains"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// root is a host whose / holds these files.
func root(t *testing.T, files map[string]string) *machine {
	t.Helper()
	return newMachine(grains.NewHost(grains.Options{Root: modtest.Files(t, files), Opts: payload.M("id", "web1"),
		Version: "3008.3"}))
}

func TestDistributions(t *testing.T) {
	b, err := os.ReadFile("testdata/distros.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name          string         `json:"name"`
		OSRelease     string         `json:"os_release"`
		LSBRelease    string         `json:"lsb_release"`
		DebianVersion string         `json:"debian_version"`
		Grains        map[string]any `json:"grains"`
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			files := map[string]string{"etc/os-release": c.OSRelease}
			if c.LSBRelease != "" {
				files["etc/lsb-release"] = c.LSBRelease
			}
			if c.DebianVersion != "" {
				files["etc/debian_version"] = c.DebianVersion
			}
			h := root(t, files)
			got := h.distroGrains()
			got.Update(h.release())
			if diff := cmp.Diff(c.Grains, asJSON(t, got)); diff != "" {
				t.Errorf("wanted -, got +:\n%s", diff)
			}
		})
	}
}

func asJSON(t *testing.T, m *payload.Map) map[string]any {
	t.Helper()
	flat := map[string]any{}
	for k, v := range m.All() {
		flat[k.(string)] = v
	}
	b, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOldReleaseFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  *payload.Map
	}{
		{"centos", map[string]string{"etc/centos-release": "CentOS release 6.10 (Final)\n"},
			payload.M("osfullname", "CentOS", "osrelease", "6.10", "oscodename", "Final", "os", "CentOS", "os_family",
				"RedHat")},
		{"suse", map[string]string{"etc/SuSE-release": "SUSE Linux Enterprise Server 11 (x86_64)\nVERSION = " +
			"11\nPATCHLEVEL = 4\n"},
			payload.M("osfullname", "SLES", "osrelease", "11.4", "oscodename", "SUSE Linux Enterprise Server 11 SP4",
				"os", "SUSE", "os_family", "Suse")},
		{"alt", map[string]string{"etc/altlinux-release": "ALT Linux 7.0.5 (Centaurus)\n"},
			payload.M("osfullname", "altlinux", "osrelease", "7.0.5", "oscodename", "Centaurus", "os", "altlinux",
				"os_family", "altlinux")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := root(t, tt.files).distroGrains()
			for k, v := range tt.want.All() {
				if got.Value(k) != v {
					t.Errorf("%s: got %v, want %v", k, got.Value(k), v)
				}
			}
		})
	}
}
