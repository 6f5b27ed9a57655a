package saltlog

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/config"
)

// TestLevelsOfConfiguration: the log and the configuration know the same level names.
func TestLevelsOfConfiguration(t *testing.T) {
	names := config.LogLevels()
	slices.Sort(names)
	own := Names()
	slices.Sort(own)
	if !slices.Equal(names, own) {
		t.Errorf("got %v, want %v", names, own)
	}
}

func TestConsole(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(New(&b, Options{Level: LevelTrace}))
	log.Error("EOF when reading a line")
	log.Warn("two words", "minion", "web1", "why", "no answer", "err", errors.New("x=1"), "empty", "")
	log.Log(t.Context(), LevelCritical, "bad")
	log.Log(t.Context(), LevelGarbage, "not shown")
	log.With("actor", "Publisher").WithGroup("g").Debug("sent", "n", 3, slog.Group("k", "a", 1))
	want := `[ERROR   ] EOF when reading a line
[WARNING ] two words minion=web1 why="no answer" err="x=1" empty=""
[CRITICAL] bad
[DEBUG   ] sent g.n=3 g.k.a=1
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestFormats(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.Local)
	pid := strconv.Itoa(os.Getpid())
	for _, tt := range []struct{ format, date, want string }{
		{ConsoleFormat, "", "[INFO    ] hi"},
		{FileFormat, FileDate, "2026-03-04 05:06:07,089 [salt.master      :0   ][INFO    ][" + pid + "] hi"},
		{"%(asctime)s %(message)s", "", "05:06:07 hi"},
		{"%(asctime)s|%(message)5s|", "%d.%m.%y %f %% %q", "04.03.26 089000 % %q|   hi|"},
		{"%(colorlevel)s %(colormsg)s", "", "\x1b[0;1;32m[INFO    ]\x1b[0;0m \x1b[0;32mhi\x1b[0;0m"},
		{"%(asctime)s.%(msecs)03.0f %(processName)s|%(processName)-13s|%(processName).4s", "%H",
			"05.089 MainProcess|MainProcess  |Main"},
		{"%(created).3f %(msecs)f %(msecs)s %(process)d", "", strconv.FormatInt(at.Unix(), 10) + ".089 89.000000 89 " +
			pid},
		{"%(msecs).x", "", "%(msecs).x"},
		{"%(bracketname)s%(bracketlevel)s", "", "[salt.master      ][INFO    ]"},
		{"100%% %(nosuch)s%(levelname)", "", "100% %(levelname)"},
	} {
		r := record{time: at, level: "INFO", name: "salt.master", message: "hi"}
		if got := string(render(compile(tt.format), &r, firstOf(tt.date, ConsoleDate))); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.format, got, tt.want)
		}
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestLevels(t *testing.T) {
	want := "all, debug, error, critical, garbage, info, profile, quiet, trace, warning"
	if got := strings.Join(Names(), ", "); got != want {
		t.Errorf("names %s", got)
	}
	if got := strings.Join(SortedNames(), " "); got != "all garbage trace debug profile info warning error critical "+
		"quiet" {
		t.Errorf("sorted names %s", got)
	}
	if l, ok := Level("Warning"); !ok || l != slog.LevelWarn {
		t.Errorf("Warning is %v, %v", l, ok)
	}
	if _, ok := Level("loud"); ok {
		t.Error("loud is no level")
	}
}

func TestFileFollowsRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master")
	f, err := OpenFile(path, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(s string) {
		t.Helper()
		if _, err := f.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("two\n")
	for name, want := range map[string]string{path + ".1": "one\n", path: "two\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(FileFormat, FileDate)
	f.Add("%(name)-99999s%%%(", "%")
	f.Fuzz(func(t *testing.T, format, date string) {
		render(compile(format), &record{level: "INFO"}, date)
	})
}

func BenchmarkHandle(b *testing.B) {
	log := slog.New(New(discard{}, Options{Level: slog.LevelInfo, Format: FileFormat, Date: FileDate}))
	b.ReportAllocs()
	for b.Loop() {
		log.Info("job returned", "minion", "web1", "jid", "20260102030405060708")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
