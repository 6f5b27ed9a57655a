package key_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution/key"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestKeyFinger: the fingerprints of files in pki_dir, as Salt 3008.3 gave them for the same text.
func TestKeyFinger(t *testing.T) {
	dir := t.TempDir()
	text := "-----BEGIN PUBLIC KEY-----\nMIIB\n\nAQAB\n-----END PUBLIC KEY-----\n"
	if err := os.WriteFile(filepath.Join(dir, "minion.pub"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := modtest.Env(t, payload.M("id", "web1", "pki_dir", dir, "hash_type", "md5"))
	env.Registry.Offer(loader.Listed{key.Module()})
	for _, tt := range []struct {
		fun  string
		args []any
		want string
	}{
		{"key.finger", nil, "36:9b:23:3b:4d:12:20:a9:77:77:8b:d7:66:32:75:1f"},
		{"key.finger", []any{"sha1"}, "ae:ee:57:e6:f3:e1:79:4f:be:e7:67:49:a5:47:7a:3c:5c:92:b4:0f"},
		{"key.finger_master", nil, ""},
	} {
		got, _, err := modtest.Call(t, env, tt.fun, tt.args, nil)
		if err != nil || got != tt.want {
			t.Errorf("%s%v: %v, %v, want %v", tt.fun, tt.args, got, err, tt.want)
		}
	}
	const unknown = "module 'hashlib' has no attribute 'nope'"
	_, _, err := modtest.Call(t, env, "key.finger", []any{"nope"}, nil)
	if err == nil || !strings.Contains(err.Error(), unknown) {
		t.Errorf("an unknown hash: %v", err)
	}
}
