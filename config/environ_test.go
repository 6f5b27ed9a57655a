package config

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	env := Environment{User: currentUser(), Dirs: []string{dir + "/pki", dir + "/pki/minions", "",
		dir + "/var/cache/jobs"}, PKIDirs: []string{dir + "/pki"}}
	notices, err := env.Verify()
	if err != nil || len(notices) != 0 {
		t.Fatalf("got %v, %v", notices, err)
	}
	for path, mode := range map[string]os.FileMode{"pki": 0o700, "pki/minions": 0o755, "var/cache/jobs": 0o755,
		"var": 0o755} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode {
			t.Errorf("%s: got mode %o, want %o", path, info.Mode().Perm(), mode)
		}
	}
	if err := os.Chmod(dir+"/pki", 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := env.Verify(); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(dir + "/pki"); info.Mode().Perm() != 0o750 {
		t.Errorf("0750 became %o", info.Mode().Perm())
	}
}

func TestVerifyFailures(t *testing.T) {
	dir := write(t, "file", "")
	for _, tt := range []struct {
		name string
		env  Environment
		code int
		text string
	}{
		{"unknown user", Environment{User: "no-such-user"}, 67,
			"Failed to prepare the Salt environment for user no-such-user. The user is not available."},
		{"file in the way", Environment{User: currentUser(), Dirs: []string{dir + "/file/sub"}}, int(syscall.ENOTDIR),
			`Failed to create directory path "` + dir + `/file/sub" - [Errno 20] Not a directory: '` + dir +
				`/file/sub'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.env.Verify()
			var e *Error
			if !errors.As(err, &e) || e.Code != tt.code || !strings.HasPrefix(e.Error(), tt.text) {
				t.Errorf("got %v (%+v), want code %d, %q", err, e, tt.code, tt.text)
			}
		})
	}
}

func TestEnvironmentDirs(t *testing.T) {
	m := loadMaster(t, "master", "root_dir: /r\nid: x")
	want := []string{
		"/r/etc/salt/pki/master", "/r/etc/salt/pki/master/minions", "/r/etc/salt/pki/master/minions_pre",
		"/r/etc/salt/pki/master/minions_denied", "/r/etc/salt/pki/master/minions_autosign",
		"/r/etc/salt/pki/master/minions_rejected", "/r/var/cache/salt/master", "/r/var/cache/salt/master/jobs",
		"/r/var/cache/salt/master/proc", "/r/var/run/salt/master", "/r/var/cache/salt/master/tokens",
		"/r/var/cache/salt/master/syndics", "/r/var/cache/salt/master/queues",
	}
	if diff := cmp.Diff(want, m.Environment().Dirs); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	n := loadMinion(t, "minion", "root_dir: /r\nid: x")
	want = []string{
		"/r/etc/salt/pki/minion", "/r/var/cache/salt/minion", "/r/var/cache/salt/minion/proc", "/r/var/run/salt/minion",
		"/r/var/cache/salt/minion/extmods", n.ConfigDir + "/minion.d",
	}
	if diff := cmp.Diff(want, n.Environment().Dirs); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAccessKeys(t *testing.T) {
	dir := t.TempDir()
	n := 0
	keyOf := func(n int) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n)}, 56)) }
	newKey := func() string { n++; return keyOf(n) }
	var told []setaside.Damage
	tell := func(d setaside.Damage) { told = append(told, d) }
	first, err := AccessKeys(dir, []string{"root", "web.*", "root", "../evil", ""}, newKey, tell)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"root": keyOf(1), "web.*": keyOf(2)}, first); diff != "" {
		t.Errorf("first run (-want +got)\n%s", diff)
	}
	again, err := AccessKeys(dir, []string{"root"}, newKey, tell)
	if err != nil || again["root"] != keyOf(1) {
		t.Errorf("second run: got %v, %v; want the first key", again, err)
	}
	file := filepath.Join(dir, ".root_key")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want mode 0600", info, err)
	}
	for name, spoil := range map[string]func() error{
		"empty":    func() error { return os.WriteFile(file, nil, 0o600) },
		"half":     func() error { return os.WriteFile(file, []byte(keyOf(1)[:38]), 0o600) },
		"noise":    func() error { return os.WriteFile(file, []byte("\xfe\x00\nnoise"), 0o600) },
		"readable": func() error { return os.Chmod(file, 0o644) },
		"link": func() error {
			if err := os.Rename(file, file+"2"); err != nil {
				return err
			}
			return os.Symlink(file+"2", file)
		},
	} {
		before := n
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		told = nil
		got, err := AccessKeys(dir, []string{"root"}, newKey, tell)
		if damaged := name == "empty" || name == "half" || name == "noise"; damaged != (len(told) == 1) || damaged &&
			!setaside.Is(told[0].Kept) {
			t.Errorf("%s file: told of %v", name, told)
		}
		if err != nil || n != before+1 {
			t.Errorf("%s file: got %v, %v; want a new key", name, got, err)
		}
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
			t.Errorf("%s file: afterwards %v, %v", name, info, err)
		}
	}
	left, _ := filepath.Glob(dir + "/.brine-*")
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMasterAccessKeys(t *testing.T) {
	m := loadMaster(t, "master", "id: x\npublisher_acl: {no-such-user: [test.*], 'ro[o]t': [test.*]}")
	m.CacheDir = t.TempDir()
	key, tell := base64.StdEncoding.EncodeToString(make([]byte, 56)), func(d setaside.Damage) { t.Error(d) }
	if err := os.Chmod(m.CacheDir, 0o700); err != nil {
		t.Fatal(err)
	}
	keys, err := m.AccessKeys(func() string { return key }, tell)
	if err != nil {
		t.Fatal(err)
	}
	if keys["root"] != key || keys["no-such-user"] != "" {
		t.Errorf("got %v, want a key for root and none for no-such-user", keys)
	}
	if info, _ := os.Stat(m.CacheDir); info.Mode().Perm() != 0o701 {
		t.Errorf("cachedir: got mode %o, want 0701", info.Mode().Perm())
	}
	m.ClientACLVerify = false
	m.PublisherACL = payload.M("no-such-user", []any{})
	if keys, err = m.AccessKeys(func() string { return key }, tell); err != nil || keys["no-such-user"] != key {
		t.Errorf("without verification: got %v, %v", keys, err)
	}
}
