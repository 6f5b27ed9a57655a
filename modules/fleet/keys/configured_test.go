package keys

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	stdpem "encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"brine/config"
	"brine/modules/fleet/datacache"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// aMaster is the configuration of a master whose folders are below a temporary one.
func aMaster(t *testing.T) *config.Master {
	t.Helper()
	dir := t.TempDir()
	m, err := config.LoadMaster(filepath.Join(dir, "master"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.PKIDir, m.CacheDir, m.ID = filepath.Join(dir, "pki"), filepath.Join(dir, "cache"), "m_master"
	return m
}

// TestOpenStore: the keys of minions are the cluster's where there is one, the key files of the master are its own.
func TestOpenStore(t *testing.T) {
	for _, tt := range []struct {
		name, id, dir string
		shared        bool
	}{
		{"alone", "", "", false},
		{"a folder without a cluster", "", "shared", false},
		{"a cluster", "c1", "shared", true},
		{"a cluster without a folder", "c1", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := aMaster(t)
			want := cfg.PKIDir
			if cfg.ClusterID = tt.id; tt.dir != "" {
				cfg.ClusterPKIDir = filepath.Join(t.TempDir(), tt.dir)
			}
			if tt.shared {
				want = cfg.ClusterPKIDir
			}
			writeFile(t, filepath.Join(want, "minions", "web1"), "key")
			writeFile(t, filepath.Join(cfg.PKIDir, "master.pub"), "key")
			s := OpenStore(cfg)
			for st, id := range map[Status]string{Accepted: "web1", Local: "master.pub"} {
				if got, err := s.IDs(st); err != nil || !slices.Equal(got, []string{id}) {
					t.Errorf("%s: got %v, %v, want %s", st, got, err, id)
				}
			}
			if got := s.Folder(Accepted); got != filepath.Join(want, "minions") {
				t.Errorf("folder of accepted keys: %s, want it below %s", got, want)
			}
		})
	}
}

// weakKey is a public key with the exponent 3.
func weakKey(t *testing.T) string {
	t.Helper()
	own, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: own.N, E: 3})
	if err != nil {
		t.Fatal(err)
	}
	return string(stdpem.EncodeToMemory(&stdpem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// TestConfiguredWeakKeys: a key that others can break is accepted where allow_weak_keys says so, and what is no key
// never.
func TestConfiguredWeakKeys(t *testing.T) {
	weak := weakKey(t)
	for _, tt := range []struct {
		name, pub      string
		allow, refused bool
	}{
		{"weak", weak, false, true}, {"weak and allowed", weak, true, false}, {"no key", "no key", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := aMaster(t)
			cfg.AllowWeakKeys = tt.allow
			writeFile(t, filepath.Join(cfg.PKIDir, "minions_pre", "web1"), tt.pub)
			done, err := NewManager(OpenStore(cfg), Configured(cfg)).Accept(
				Groups{{Status: Pending, IDs: []string{"web1"}}}, Include{})
			if err != nil || (len(done.Invalid) == 1) != tt.refused || (len(done.IDs) == 1) == tt.refused {
				t.Errorf("got %+v, %v, want refused %v", done, err, tt.refused)
			}
		})
	}
}

// TestConfiguredDelete: the data cache of the configuration forgets a minion whose key goes, and the master is asked
// for another shared key.
func TestConfiguredDelete(t *testing.T) {
	cfg := aMaster(t)
	cfg.RotateAESKey = true
	banks, err := datacache.OpenBanks(cfg.CacheDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := banks.Store("grains", "web1", payload.M("os", "Debian")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(cfg.PKIDir, "minions", "web1"), "key")
	if _, err := NewManager(OpenStore(cfg), Configured(cfg)).Delete(
		Groups{{Status: Accepted, IDs: []string{"web1"}}}); err != nil {
		t.Fatal(err)
	}
	if left, err := banks.List("grains"); err != nil || len(left) > 0 {
		t.Errorf("grains of %v are left, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(cfg.CacheDir, ".dfn")); err != nil {
		t.Errorf("no other shared key is asked for: %v", err)
	}
}

// TestConfiguredPair: what a manager generates is a pair of keys, and signs with the algorithm of the configuration.
func TestConfiguredPair(t *testing.T) {
	cfg := aMaster(t)
	m := NewManager(OpenStore(cfg), Configured(cfg))
	pair, err := m.Generate(2048)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := m.opt.Sign(pair.Private, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	pub, err := crypt.ParsePublicKey([]byte(pair.Public))
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Verify(cfg.PublishSigningAlgorithm, []byte("text"), sig); err != nil {
		t.Error(err)
	}
}
