package dates

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"
)

// iso is the form of dates in the recorded files.
const iso = "2006-01-02T15:04:05"

// recorded reads one of the files that ../testdata/dates.py has made.
func recorded[T any](t *testing.T, name string) (rows []T) {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// read is what a row of the recorded files has for an outcome.
func read(at time.Time, err error) any {
	switch {
	case errors.Is(err, ErrZoned):
		return "zoned"
	case err != nil:
		return nil
	}
	if at.Nanosecond() > 0 {
		return at.Format(iso + ".000000")
	}
	return at.Format(iso)
}

// TestParse reads what dateutil has read.
func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 23, 10, 20, 30, 0, time.UTC)
	for _, row := range recorded[[2]any](t, "dates.json") {
		text := row[0].(string)
		if got := read(Parse(text, now)); got != row[1] {
			t.Errorf("%q: got %v, dateutil has %v", text, got, row[1])
		}
	}
}

// TestScan reads what strptime has read, and writes it as it was.
func TestScan(t *testing.T) {
	for _, row := range recorded[[3]any](t, "scan.json") {
		text, format := row[0].(string), row[1].(string)
		if got := read(Scan(text, format)); got != row[2] {
			t.Errorf("%q, %q: got %v, strptime has %v", text, format, got, row[2])
		}
	}
	at := time.Date(2026, 11, 30, 9, 5, 6, 70000, time.UTC)
	if got, want := Format(at, "%Y-%m-%dT%H:%M:%S.%f %a %A %b %B %d %e %j %p %I %y %w %u %U %W %V %G %% %q %"),
		"2026-11-30T09:05:06.000070 Mon Monday Nov November 30 30 334 AM 09 26 1 1 48 48 49 2026 % %q %"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestWall shows what a clock on the wall shows, whatever the zone.
func TestWall(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	if got := Wall(time.Date(2026, 11, 30, 9, 5, 6, 7, berlin)).Format(
		time.RFC3339Nano); got != "2026-11-30T09:05:06Z" {
		t.Error(got)
	}
}

// FuzzParse reads anything without coming to harm, and only dates that there are.
func FuzzParse(f *testing.F) {
	f.Add("Monday 5:00pm")
	f.Add("2026-11-30T10:20:30.25+02:00")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := Parse(text, time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
		if err == nil && (at.Year() < 1 || at.Year() > 10000) {
			t.Errorf("%q: %v", text, at)
		}
	})
}
