package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want Series
	}{
		{nil, Series{}},
		{[]float64{3}, Series{N: 1, Min: 3, P50: 3, Max: 3}},
		{[]float64{9, 1, 5}, Series{N: 3, Min: 1, P50: 5, Max: 9}},
		{[]float64{4, 1, 2, 9}, Series{N: 4, Min: 1, P50: 3, Max: 9}},
	} {
		if got := summarize(tt.in); got != tt.want {
			t.Errorf("%v: got %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

// TestReport checks verdicts and ratios, and the reasons for empty cells in the table.
func TestReport(t *testing.T) {
	rec := newRecorder([]string{rowKeys, rowRate, rowStart, rowIdleMasterP})
	who := []contender{{name: "Salt 3008"}, {name: ours, ours: true}}
	for row, values := range map[string][2]float64{rowKeys: {300, 10}, rowRate: {7, 700}, rowIdleMasterP: {200, 20}} {
		rec.add(row, "Salt 3008", values[0])
		rec.add(row, ours, values[1])
	}
	rec.fail([]string{rowStart, rowKeys}, ours, errors.New("port taken"))
	rep := rec.report(who, []string{"Salt 3006 is not installed"})
	yes, no := true, false
	for i, want := range []struct {
		key   string
		ratio float64
		met   *bool
	}{{rowKeys, 30, &yes}, {rowRate, 100, &no}, {rowStart, 0, nil}, {rowIdleMasterP, 10, nil}} {
		l := rep.Rows[i]
		if l.Key != want.key || l.Ratios["Salt 3008"] != want.ratio || (l.Met == nil) != (want.met == nil) ||
			(l.Met != nil && *l.Met != *want.met) {
			t.Errorf("row %d: got %+v, want %+v", i, l, want)
		}
	}
	var table, js bytes.Buffer
	if err := errors.Join(rep.WriteTable(&table), rep.WriteJSON(&js)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"port taken", "not installed", "NO", ">= 1500 1/s"} {
		if !strings.Contains(table.String(), text) {
			t.Errorf("%q is missing in\n%s", text, &table)
		}
	}
	var back Report
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || len(back.Rows) != 4 {
		t.Errorf("JSON: %v, %d rows", err, len(back.Rows))
	}
}

// TestRelativeTarget checks a row whose target depends on the better of the other contenders.
func TestRelativeTarget(t *testing.T) {
	for _, tt := range []struct {
		mine float64
		want bool
	}{{199, false}, {200, true}} {
		rec := newRecorder(nil)
		rec.add("x", "a", 100)
		rec.add("x", "b", 50)
		rec.add("x", ours, tt.mine)
		l := rec.line(Row{Key: "x", Limit: 2, Times: true, higher: higher}, []string{"a", "b", ours})
		if l.Met == nil || *l.Met != tt.want {
			t.Errorf("%v: got %+v", tt.mine, l)
		}
	}
}

func TestRowsAreMeasured(t *testing.T) {
	measured := map[string]bool{}
	for _, g := range groups() {
		for _, r := range g.rows {
			measured[r] = true
		}
	}
	for _, r := range rows() {
		if !measured[r.Key] {
			t.Errorf("no group measures %s", r.Key)
		}
		delete(measured, r.Key)
	}
	if len(measured) > 0 {
		t.Errorf("measured and not in the table: %v", measured)
	}
	if checkRows([]string{rowStart}) != nil || checkRows([]string{"nothing"}) == nil {
		t.Error("unknown keys of rows are not told from known ones")
	}
}

func TestReturnTag(t *testing.T) {
	for tag, want := range map[string]bool{"salt/job/20260101/ret/web/1": true, "salt/job/20260101/new": false,
		"salt/auth": false} {
		jid, id, ok := returnTag(tag)
		if ok != want || (ok && (jid != "20260101" || id != "web/1")) {
			t.Errorf("%s: %q %q %v", tag, jid, id, ok)
		}
	}
}

// TestProcess starts a group of two processes, measures it and ends it.
func TestProcess(t *testing.T) {
	p, err := startProcess("shell", t.TempDir()+"/log", os.Environ(), "/bin/sh", "-c", "sleep 60 & echo started; wait")
	if err != nil {
		t.Fatal(err)
	}
	for len(p.members()) < 2 && !p.ended() {
	}
	if rss, pss := p.memory(); rss <= 0 || pss <= 0 || pss > rss {
		t.Errorf("resident %v MB, proportional %v MB", rss, pss)
	}
	if err := p.err(); err != nil {
		t.Errorf("a running process: %v", err)
	}
	took, err := p.stop()
	if err != nil || took <= 0 {
		t.Errorf("stop: %v, %v", took, err)
	}
	if err := p.err(); err == nil || !strings.Contains(err.Error(), "started") {
		t.Errorf("an ended process: %v", err)
	}
	if _, err := p.stop(); err != nil {
		t.Errorf("stop of an ended process: %v", err)
	}
}

func TestCopyProgram(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	data := bytes.Repeat([]byte("brine"), 100000)
	if err := os.WriteFile(from, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyProgram(to, from); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	info, statErr := os.Stat(to)
	if err != nil || statErr != nil || !bytes.Equal(got, data) || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("%d bytes, %v, %v, %v", len(got), info, err, statErr)
	}
	if copyProgram(to, from) == nil || copyProgram(filepath.Join(dir, "x"), filepath.Join(dir, "none")) == nil {
		t.Error("no error for a file that is there, or one that is not")
	}
}
