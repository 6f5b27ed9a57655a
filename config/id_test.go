package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMinionID(t *testing.T) {
	for _, tt := range []struct {
		name   string
		text   string
		cached string
		names  []string
		want   string
		file   string // content of minion_id afterwards
	}{
		{"configured", "id: web1", "old", []string{"h"}, "web1", "old"},
		{"number", "id: 12", "", nil, "12", ""},
		{"null counts as none", "id:", "", []string{"h"}, "h", "h"},
		{"cached", "", "\ufeffold \nmore", []string{"h"}, "old", "\ufeffold \nmore"},
		{"cached localhost is no id", "", "localhost\n", []string{"h"}, "h", "h"},
		{"no caching", "minion_id_caching: false", "old", []string{"h"}, "h", "old"},
		{"first acceptable", "", "", []string{"localhost.localdomain", "ip6-loopback", "127.0.0.1", "",
			"web1.example.net"}, "web1.example.net", "web1.example.net"},
		{"none acceptable", "", "", []string{"localhost"}, "localhost", "localhost"},
		{"lower case", "minion_id_lowercase: true", "", []string{"Web1"}, "web1", "web1"},
		{"any domain", "minion_id_remove_domain: true", "", []string{"web1.a.b"}, "web1", "web1"},
		{"one domain", "minion_id_remove_domain: A.b", "", []string{"web1.a.b"}, "web1", "web1"},
		{"other domain", "minion_id_remove_domain: c.d", "", []string{"web1.a.b"}, "web1.a.b", "web1.a.b"},
		{"append", "append_domain: a.b", "", []string{"web1"}, "web1.a.b", "web1"},
		{"append once", "append_domain: a.b\nid: web1.a.b", "", nil, "web1.a.b", ""},
		{"final dot", "append_domain: a.b\nid: web1.", "", nil, "web1.", ""},
		{"address", "append_domain: a.b", "", []string{"10.0.0.1"}, "10.0.0.1", "10.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, "minion", tt.text)
			file := filepath.Join(dir, "root/etc/salt/minion_id")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if tt.cached != "" {
				if err := os.WriteFile(file, []byte(tt.cached), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "minion"), []byte("root_dir: "+dir+"/root\n"+tt.text),
				0o644); err != nil {
				t.Fatal(err)
			}
			m, err := Loader{
				Path: filepath.Join(dir, "minion"), Getenv: noEnv, CacheID: true,
				HostNames: func() []string { return tt.names },
			}.Minion()
			if err != nil {
				t.Fatal(err)
			}
			if m.ID != tt.want {
				t.Errorf("id: got %q, want %q", m.ID, tt.want)
			}
			if m.IDFromAddress != (tt.name == "address") {
				t.Errorf("IDFromAddress: got %v", m.IDFromAddress)
			}
			b, _ := os.ReadFile(file)
			if string(b) != tt.file {
				t.Errorf("minion_id: got %q, want %q", b, tt.file)
			}
		})
	}
}

func TestMasterID(t *testing.T) {
	dir := write(t)
	l := Loader{Path: filepath.Join(dir, "master"), Getenv: noEnv, HostNames: func() []string {
		return []string{"web1"}
	}}
	if err := os.WriteFile(l.Path, []byte("root_dir: "+dir+"\nappend_domain: a.b"), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := l.Master()
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != "web1.a.b_master" {
		t.Errorf("got %q, want web1.a.b_master", m.ID)
	}
	if _, err := os.Stat(filepath.Join(dir, "etc/salt/minion_id")); err == nil {
		t.Error("a master wrote minion_id")
	}
}

func TestNamesOf(t *testing.T) {
	got := namesOf("127.0.0.1 localhost web1 # web2\n::1 ip6 web3\n10.0.0.1 other\nalone\n# none\n")
	want := []string{"127.0.0.1", "localhost", "web1", "::1", "ip6", "web3", "alone"}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
