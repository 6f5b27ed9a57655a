package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/modules/renderers/jinja/py"
)

// TestNoPlainFile: pipes and devices are not read, so nobody waits at them or reads without end.
func TestNoPlainFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		for filter, args := range map[string][]any{"is_text_file": {path, int64(-1)}, "is_bin_file": {path}} {
			if got, err := (Machine{}).Ask(t.Context(), filter, args); got != false || err != nil {
				t.Errorf("%s of %s: %v, %v", filter, path, got, err)
			}
		}
		if got, err := (Machine{}).Ask(t.Context(), "file_hashsum", []any{path, "md5", int64(1)}); err == nil ||
			!strings.Contains(err.Error(), "no plain file") {
			t.Errorf("file_hashsum of %s: %v, %v", path, got, err)
		}
	}
}

// TestTooManyFiles: a listing ends at its limit, in one directory or in many.
func TestTooManyFiles(t *testing.T) {
	wide, deep := t.TempDir(), t.TempDir()
	at := deep
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(wide, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at = filepath.Join(at, "d")
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{wide, deep} {
		if got, err := (Machine{MaxFiles: 20}).Ask(t.Context(), "list_files", []any{dir}); err == nil ||
			!strings.Contains(err.Error(), "more than 20 files") {
			t.Errorf("%v, %v", got, err)
		}
		got, err := (Machine{MaxFiles: 31}).Ask(t.Context(), "list_files", []any{dir})
		if list, ok := got.(*py.List); !ok || len(list.Items) != 31 || err != nil {
			t.Errorf("%v, %v, want 31 names", got, err)
		}
	}
	if _, err := (Machine{}).Ask(t.Context(), "list_files", []any{"/"}); err != nil && !strings.Contains(err.Error(),
		"more than 100000 files") {
		t.Error(err)
	}
}

// TestEnded: work stops with the context of the template.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for filter, args := range map[string][]any{"list_files": {filepath.Dir(file)}, "file_hashsum": {file, "md5",
		int64(1)}} {
		if _, err := (Machine{}).Ask(ctx, filter, args); !errors.Is(err, why) {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

// TestDNSCheck: the first address that answers, and an error for a name that has none.
func TestDNSCheck(t *testing.T) {
	got, err := Machine{}.Ask(t.Context(), "dns_check", []any{"::1", int64(1), false, true})
	if got != "[::1]" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, port := range []any{int64(-1), int64(70000), "x"} {
		if got, err := (Machine{}).Ask(t.Context(), "dns_check", []any{"127.0.0.1", port, false, nil}); err == nil {
			t.Errorf("port %v: %v", port, got)
		}
	}
	if got, err := (Machine{}).Ask(t.Context(), "dns_check", []any{"no name at all", int64(1), false,
		nil}); err == nil || !strings.Contains(err.Error(), "DNS lookup or connection check") {
		t.Errorf("%v, %v", got, err)
	}
}
