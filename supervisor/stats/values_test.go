package stats

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestMapHasTheFieldsOfChild: the reply and the JSON of Child have the same names.
func TestMapHasTheFieldsOfChild(t *testing.T) {
	death := Death{Reason: "x"}
	slow, apart := Slow{Message: "y"}, Quarantined{Hash: "ab"}
	c := Child{Name: "a", LastDeath: &death, LastSlow: &slow, Deaths: []Death{death}, Quarantine: []Quarantined{apart},
		Children: []Child{{Name: "b"}}}
	if diff := cmp.Diff(jsonNames(t, c), mapNames(c.Map())); diff != "" {
		t.Errorf("child (-json +map):\n%s", diff)
	}
	if diff := cmp.Diff(jsonNames(t, c.Handling), mapNames(c.Handling.Map())); diff != "" {
		t.Errorf("spread (-json +map):\n%s", diff)
	}
	if diff := cmp.Diff(jsonNames(t, apart), mapNames(apart.Map())); diff != "" {
		t.Errorf("quarantined (-json +map):\n%s", diff)
	}
	names := mapNames(death.Map())
	for _, want := range []string{"time", "reason", "message", "stack", "name", "path", "incarnation", "status"} {
		if !names[want] {
			t.Errorf("death has no %s", want)
		}
	}
}

func jsonNames(t *testing.T, v any) map[string]bool {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range m {
		names[name] = true
	}
	return names
}

func mapNames(m *payload.Map) map[string]bool {
	names := map[string]bool{}
	for _, k := range m.Keys() {
		names[reflect.ValueOf(k).String()] = true
	}
	return names
}

// TestParseChild: the received value equals the sent one.
func TestParseChild(t *testing.T) {
	at := time.Date(2024, 5, 17, 12, 0, 0, 123000, time.UTC)
	death := Death{Time: at, Reason: "x", Message: "*a.B", Stack: "s", Name: "a", Path: "m/a", Incarnation: 2,
		Status: 1, Lived: 3 * time.Second, Delay: time.Millisecond}
	spread := Spread{Count: 3, P50US: 1, P99US: 2, MaxUS: 3, SumUS: 4, Buckets: []uint64{0, 3}}
	want := Child{Name: "a", Path: "m/a", PID: "a#3", State: StateRunning, Since: at, Incarnation: 3, Restarts: 2,
		Mailbox: 4, OldestMS: 5, Received: 6, Sent: 7, Failed: 8, Abandoned: 9, Lost: 10, Unhandled: 11, Rate: 1.5,
		Busy: 0.25, BusyMS: 12, InHand: "*a.B", InHandMS: 13, Note: "n", Handling: spread, Waiting: spread,
		LastDeath: &death, Deaths: []Death{death},
		Children: []Child{{Name: "b", Since: at, DeadLetters: map[string]uint64{}}}, RestartsHour: 14, Stuck: 15,
		Slow: 16, Quarantined: 17, DeadLetters: map[string]uint64{"gone": 4, "full": 6},
		LastSlow: &Slow{Time: at, Name: "a", Path: "m/a", Incarnation: 2, Message: "*a.B", Running: time.Second,
			Stack: "t", Abandoned: true},
		Quarantine: []Quarantined{{Time: at, Name: "a", Path: "m/a", Message: "*a.B", Hash: "ab", Size: 18,
			Reason: "boom"}}}
	b, err := payload.MarshalBin(want.Map())
	if err != nil {
		t.Fatal(err)
	}
	m, err := payload.UnmarshalBinMap(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ParseChild(m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := ParseChild(payload.M("name", 1, "since", "soon", "children", []any{1}, "last_death", nil, "rate",
		"x")); got.Name != "" || got.LastDeath != nil {
		t.Errorf("nonsense: got %+v", got)
	}
}
