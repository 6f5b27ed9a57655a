package jobstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// envChild makes the test binary play another process: "commit", "full", "compact" or "compactfull".
const envChild = "BRINE_RETURNERS_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(envChild) {
	case "commit":
		err = commitForever(os.Args[1])
	case "full":
		err = fillDisk(os.Args[1])
	case "compact":
		err = compactForever(os.Args[1])
	case "compactfull":
		err = compactFull(os.Args[1])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// child is the command that runs this binary as another process.
func child(role, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), envChild+"="+role)
	return cmd
}

// commitForever stores returns in groups and prints the number of the last one of each group once it is stored.
func commitForever(dir string) error {
	s, err := Open(Options{CacheDir: dir})
	if err != nil {
		return err
	}
	for i := 0; ; i += 10 {
		var group []Return
		for k := i; k < i+10; k++ {
			group = append(group, answer(jid1, fmt.Sprintf("minion%06d", k), strings.Repeat("x", 500)))
		}
		if _, err := s.StoreReturns(group); err != nil {
			return err
		}
		fmt.Println(i + 9)
	}
}

// TestKilled kills a process while it commits. What it has acknowledged must be there, and the file must work.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		cmd := child("commit", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last, lines := -1, bufio.NewScanner(out)
		for last < 200*(round+1) && lines.Scan() {
			if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
				t.Fatalf("child said %q", lines.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // acknowledged between the last line read and the kill
			_, _ = fmt.Sscan(lines.Text(), &last)
		}
		_ = cmd.Wait()
		s, err := Open(Options{CacheDir: dir})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		got := getJID(t, s, jid1)
		for i := range last + 1 {
			if !got.Has(fmt.Sprintf("minion%06d", i)) {
				t.Fatalf("round %d: acknowledged return %d of %d is lost", round, i, last)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// fillDisk lets the store reach a limit of the file size, which the kernel answers like a full disk, and checks
// that commits fail with a clear error, lose nothing, and work again when there is room.
func fillDisk(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(Options{CacheDir: dir})
	if err != nil {
		return err
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 400_000, Max: before.Max}); err != nil {
		return err
	}
	stored := 0
	for ; stored < 10_000; stored++ {
		if _, err = s.StoreReturns([]Return{answer(jid1, fmt.Sprintf("m%d", stored),
			strings.Repeat("x", 2000))}); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), syscall.EFBIG.Error()) {
		return fmt.Errorf("no error of the full disk, but after %d returns: %w", stored, err)
	}
	fmt.Println(err)
	if _, err := s.StoreReturns([]Return{answer(jid1, "again", strings.Repeat("x", 100_000))}); err == nil {
		return errors.New("a second commit to the full disk succeeded")
	}
	if got, err := s.GetJID(jid1); err != nil || got.Len() != stored {
		return fmt.Errorf("with the disk full: %d returns, %v; want %d", got.Len(), err, stored)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if _, err := s.StoreReturns([]Return{answer(jid1, "last", strings.Repeat("x", 100_000))}); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if err := s.Close(); err != nil {
		return err
	}
	s, err = Open(Options{CacheDir: dir})
	if err != nil {
		return err
	}
	if got, err := s.GetJID(jid1); err != nil || got.Len() != stored+1 {
		return fmt.Errorf("reopened: %d returns, %v; want %d", got.Len(), err, stored+1)
	}
	return s.Close()
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	out, err := child("full", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := "job store " + dir + "/jobs.db: write 0 loads, 1 returns: "
	if !bytes.HasPrefix(out, []byte(want)) {
		t.Errorf("got %q, want it to begin with %q", out, want)
	}
}
