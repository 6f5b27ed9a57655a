package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"brine/cmd/optparse"
	"brine/config"
)

// TestMayPass: an error of the machine may pass, however it is wrapped. An error in a text that a user wrote
// does not.
func TestMayPass(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"none", nil, false},
		{"a usage", &optparse.UsageError{}, false},
		{"a value that is refused", &config.Error{Code: config.ExitUsage, Err: errors.New("no number")}, false},
		{"several", config.Faults{{Code: config.ExitNotYet, Err: errors.New("not honoured")}}, false},
		{"words of its own", Exit(1, "An instance is already running"), false},
		{"a full disk", fmt.Errorf("open job store: %w", full), true},
		{"a full disk among others", errors.Join(errors.New("a"), full), true},
		{"a directory that cannot be made", &config.Error{Code: 28, Err: full}, true},
		{"no descriptors", syscall.EMFILE, true},
		{"a port that is taken", ExitFor(&fs.PathError{Err: syscall.EADDRINUSE}, 4, "taken"), true},
		{"an actor that is not ready in time", errors.New("start Publisher: context deadline exceeded"), true},
	} {
		if got := MayPass(tt.err); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestExitFor: the error has the code and the text.
func TestExitFor(t *testing.T) {
	var e *ExitError
	if err := ExitFor(syscall.ENOSPC, 4, "taken"); !errors.As(err, &e) || e.code != 4 || e.Text != "taken\n" ||
		!errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %#v", e)
	}
}
