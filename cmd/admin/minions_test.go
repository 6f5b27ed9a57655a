package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/modules/outputters"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// fullRoster is an answer with n minions.
func fullRoster(n int, at time.Time) *payload.Map {
	now := stats.Stamp(at)
	list := make([]any, n)
	for i := range list {
		list[i] = payload.M("id", fmt.Sprintf("minion%05d", i), "key", "accepted", "connected", "yes", "by_address",
			"unknown", "brine", true, "protocol", 3, "heard", now, "signed_in", now, "sign_in", "accept", "last_job",
			payload.M("jid", "20261121160932082976", "fun", "test.ping", "time", now))
	}
	return payload.M("minions", list, "counts", payload.M("accepted", n, "connected_yes", n), "whole", true)
}

func TestRosterText(t *testing.T) {
	now := time.Now()
	m := fullRoster(1, now)
	m.Set("whole", false)
	m.Set("minions", append(m.List("minions"),
		payload.M("id", "salt\x1b[2J1", "key", "accepted", "connected", "unknown", "by_address", "no", "protocol", 2),
		payload.M("id", "off", "key", "accepted", "connected", "no", "by_address", "unknown"),
		payload.M("id", "new", "key", "pending", "connected", "unknown")))
	text := rosterText(m, now)
	for _, want := range []string{
		"minion00000  accepted  yes                       3, brine  0s ago      20261121160932082976 test.ping, 0s " +
			"ago\n",
		"salt [2J1    accepted  unknown (by address: no)  2         -           -\n",
		"new          pending   unknown                   -         -           -\n",
		"keys: 1 accepted, 0 pending, 0 rejected, 0 denied; connected: 1 yes, 0 no, 0 unknown\n", "ask again",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "REFUSED") {
		t.Errorf("refusals of nobody in\n%s", text)
	}
	m.List("minions")[0].(*payload.Map).Set("refused", payload.M("tag", 3, "jobs", 1))
	if text := rosterText(m, now); !strings.Contains(text, "test.ping, 0s ago  tag 3, jobs 1\n") {
		t.Errorf("no refusals in\n%s", text)
	}
	if down := onlyDown(m.List("minions")); len(down) != 1 || down[0].(*payload.Map).Str("id") != "off" {
		t.Errorf("down: %v", down)
	}
}

// BenchmarkRosterShown measures how the command handles an answer with ten thousand minions.
func BenchmarkRosterShown(b *testing.B) {
	packed, err := payload.MarshalBin(fullRoster(10_000, time.Now()))
	if err != nil {
		b.Fatal(err)
	}
	for name, show := range map[string]func(*payload.Map) int{
		"text": func(m *payload.Map) int { return len(rosterText(m, time.Now())) },
		"json": func(m *payload.Map) int { return len(outputters.JSON(m)) },
		"read": func(m *payload.Map) int { return m.Len() },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m, err := payload.UnmarshalBinMap(packed)
				if err != nil || show(m) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
