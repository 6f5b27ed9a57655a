package schedule

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"brine/config/yaml"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// iso is the form of times in the recorded files.
const iso = "2006-01-02T15:04:05"

// unlike are the recorded schedules that we evaluate otherwise, and why.
var unlike = map[string]string{
	"no map":                  "one line says so, and the other jobs are run",
	"list":                    "one line says so, and the other jobs are run",
	"number":                  "one line says so, and the other jobs are run",
	"splay map wrong way":     "the splay is ignored, as the line says",
	"after and until":         "all limits must agree",
	"until and skip range":    "all limits must agree",
	"skip_explicit":           "a time to be skipped does not stop the job before it",
	"skip_explicit far":       "a time to be skipped does not stop the job before it",
	"skip_function, explicit": "a time to be skipped does not stop the job before it",
	"an hour back":            "an interval is not prolonged by a clock that is set back",
	"when of the afternoon":   "a time that was missed is given up",
	"an hour ahead by when":   "a time that was missed is given up",
	"when late":               "a look that comes some seconds late does not lose the run",
	"once late":               "a look that comes some seconds late does not lose the run",
}

// evaluation is one row of testdata/evaluations.json.
type evaluation struct {
	Name                             string
	Schedule, Pillar, Grains, Change json.RawMessage
	Loop                             int64
	Running                          map[string]int
	Times                            []string
	Out                              []outcome
}

// outcome is what one evaluation has led to.
type outcome struct {
	Ran   [][3]any
	Log   [][2]string
	Error *string
	Jobs  map[string]map[string]any
}

func mapOf(t *testing.T, raw json.RawMessage) *payload.Map {
	t.Helper()
	v, err := yaml.Load(raw)
	m, ok := v.(*payload.Map)
	if err != nil || !ok {
		t.Fatal(err, string(raw))
	}
	return m
}

func wall(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(iso, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// options are those of the recording: the random number is the middle one.
func options(row evaluation) Options {
	return Options{
		Loop:    time.Duration(row.Loop) * time.Second,
		Random:  func(low, high int64) int64 { return (low + high) / 2 },
		Known:   func(fun string) bool { return strings.HasPrefix(fun, "test.") },
		Running: func(name string) int { return row.Running[name] },
		JID:     func() string { return "JID" },
	}
}

// TestEvaluations evaluates what Salt 3008.3 has evaluated (testdata/evaluations.py): the same runs, lines and notes.
func TestEvaluations(t *testing.T) {
	b, err := os.ReadFile("testdata/evaluations.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []evaluation
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 120 {
		t.Fatalf("%d schedules", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			same := compare(t, row)
			if why := unlike[row.Name]; why != "" && same {
				t.Errorf("it is as Salt's, but for %q it should not be", why)
			}
		})
		seen[row.Name] = true
	}
	for name := range unlike {
		if !seen[name] {
			t.Errorf("no schedule is called %q", name)
		}
	}
}

// compare evaluates a row; it fails for what differs, unless that is meant.
func compare(t *testing.T, row evaluation) bool {
	opt := options(row)
	opt.Pillar, opt.Grains = mapOf(t, row.Pillar), mapOf(t, row.Grains)
	changes := mapOf(t, row.Change)
	s := New(mapOf(t, row.Schedule), opt.Pillar.Map("schedule"))
	for i, at := range row.Times {
		for k, v := range changes.Map(string(rune('0' + i))).All() {
			s.options.Set(k, v)
		}
		var runs []Run
		var said []Message
		s, runs, said = s.Next(wall(t, at), opt)
		if diff := cmp.Diff(expected(row.Out[i]), got(s, runs, said)); diff != "" {
			if unlike[row.Name] == "" {
				t.Errorf("evaluation %d at %s, Salt - ours +:\n%s", i, at, diff)
			}
			return false
		}
	}
	return true
}

// expected is an outcome in the form in which ours is compared. Salt's way to stumble is a line of ours.
func expected(out outcome) outcome {
	if out.Ran == nil {
		out.Ran = [][3]any{}
	}
	if out.Error != nil {
		out.Log, out.Error = append(out.Log, [2]string{"error", "Exception occurred in scheduled job"}), nil
		for _, job := range out.Jobs {
			delete(job, "_skip_reason") // of a decision that was not come to
		}
	}
	return out
}

// noted are the notes that were recorded.
var noted = []string{"_next_fire_time", "_skip_reason", "_error", "_last_run", "_splay", "_seconds"}

func got(s State, runs []Run, said []Message) outcome {
	out := outcome{Ran: [][3]any{}, Log: [][2]string{}, Jobs: map[string]map[string]any{}}
	for _, r := range runs {
		var fun any = r.Fun
		if r.Fun == "" {
			fun = nil
		}
		out.Ran = append(out.Ran, [3]any{r.Name, fun, r.Dry})
	}
	stumbled := false
	for _, m := range said {
		if strings.HasPrefix(m.Text, "Exception ") {
			m.Text, stumbled = "Exception occurred in scheduled job", true
		}
		if m.Level >= slog.LevelInfo {
			out.Log = append(out.Log, [2]string{strings.ToLower(m.Level.String()), m.Text})
		}
	}
	for k, v := range s.Jobs().All() {
		job, ok := v.(*payload.Map)
		if !ok || !job.Has("function") {
			continue
		}
		notes := map[string]any{}
		for _, note := range noted {
			if at := TimeOf(job.Value(note)); !at.IsZero() {
				notes[note] = map[string]any{"at": recordedTime(at)}
				continue
			}
			switch v := job.Value(note).(type) {
			case nil:
			case int64:
				notes[note] = float64(v)
			default:
				if note != "_error" || !stumbled {
					notes[note] = v
				}
			}
		}
		out.Jobs[k.(string)] = notes
	}
	return out
}

func recordedTime(at time.Time) string {
	if at.Nanosecond() > 0 {
		return at.Format(iso + ".000000")
	}
	return at.Format(iso)
}
