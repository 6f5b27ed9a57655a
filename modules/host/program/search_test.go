package program

import (
	"syscall"
	"testing"
)

func TestLookPath(t *testing.T) {
	if got, err := lookPath("sh", []string{"PATH=/nope:/bin:/usr/bin"}); err != nil || got != "/bin/sh" {
		t.Errorf("sh: %s %v", got, err)
	}
	if got, err := lookPath("./x", nil); err != nil || got != "./x" {
		t.Errorf("./x: %s %v", got, err)
	}
	_, err := lookPath("passwd.x", []string{"PATH=/etc"})
	if n, ok := Errno(err); !ok || n != syscall.ENOENT {
		t.Errorf("missing: %v", err)
	}
	_, err = lookPath("passwd", []string{"PATH=/etc"})
	if n, ok := Errno(err); !ok || n != syscall.EACCES {
		t.Errorf("not executable: %v", err)
	}
}
