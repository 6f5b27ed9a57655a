package cron

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

const iso = "2006-01-02T15:04:05"

// line is a row of the recorded file: a line of cron and when it is due, from several dates on.
type line struct {
	text string
	when [][2]any
}

func (l *line) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&l.text, &l.when})
}

// unlike are the lines that we read otherwise: croniter takes a range from a number to itself for every number.
var unlike = map[string]string{"5-5 * * * *": "5 * * * *"}

// TestNext finds the dates that croniter has found (../testdata/dates.py).
func TestNext(t *testing.T) {
	b, err := os.ReadFile("../testdata/cron.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []line
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if unlike[row.text] != "" {
			if *must(t, row.text) != *must(t, unlike[row.text]) {
				t.Errorf("%q is not %q", row.text, unlike[row.text])
			}
			continue
		}
		for _, when := range row.when {
			from, err := time.Parse(iso, when[0].(string))
			if err != nil {
				t.Fatal(err)
			}
			var got any
			if l, err := Parse(row.text); err == nil {
				if at, ok := l.Next(from); ok {
					got = at.Format(iso)
				}
			}
			if got != when[1] {
				t.Errorf("%q from %v: got %v, croniter has %v", row.text, when[0], got, when[1])
			}
		}
	}
}

func must(t *testing.T, text string) *Line {
	t.Helper()
	l, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// FuzzParse reads anything without coming to harm, and what it reads has an end.
func FuzzParse(f *testing.F) {
	f.Add("*/5 0-3 l * mon#2,l5")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := Parse(text); err == nil {
			l.Next(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
		}
	})
}
