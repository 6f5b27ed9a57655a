package apiplay

import (
	"slices"
	"testing"
)

func TestStream(t *testing.T) {
	const jid, other = "20261123131532588495", "20261123131532588496"
	s := NewStream("abcdef")
	for _, tt := range [][2]string{
		{"retry: 400\n", "retry: 400⏎"},
		{"tag: salt/job/" + jid + "/ret/m1\n", "tag: salt/job/<JID:1>/ret/m1⏎"},
		{`data: {"data": {"ts": 1795171671.06, "n": 1, "_stamp": "2026-11-23T13:15:32.588495+00:00"}, "tag": "` + jid +
			`"}` + "\n\n",
			`data: {"data": {"ts": <UNIX_FLOAT>, "n": 1, "_stamp": "<ISO_STAMP>"}, "tag": "<JID:1>"}⏎⏎`},
		{`{"jobs": {"` + other + `": {"minions": {"m2": 1, "m1": 2}}}}`,
			`{"jobs": {"<JID:2>": {"minions": {"m1": 2, "m2": 1}}}}`},
		{`{"a": "abcdef", "local": ["host.pem", "host.pub"]}`,
			`{"a": "<SENT>", "local": ["<HOST>.pem", "<HOST>.pub"]}`},
		{`{"id": "m1", "kernel": "Linux", "osfullname": "x"}`, `{"id": "m1", "<OTHER_GRAINS>": "..."}`},
		{"data: {\"b\": \"x\ny\"}", "bad JSON (invalid character '\\n' in string literal): data: {\"b\": \"x⏎y\"}"},
		{`{"a":1}`, `not as Python writes it: {"a":1}`},
		{`{"b": 1, "a": 2}`, `{"b": 1, "a": 2}`},
	} {
		if got := s.Line(tt[0]); got != tt[1] {
			t.Errorf("%q: got\n%s, want\n%s", tt[0], got, tt[1])
		}
	}
}

func TestRecordedStreams(t *testing.T) {
	s := &Step{Raw: []string{"HTTP/1.1 200 OK", "", "b", "retry: 400\n", "1a", "tag: <JID:1>\n", "6c",
		`data: {"tag": "<JID:1>", "t": "<ISO_STAMP>"}` + "\n\n", ""}}
	want := []string{"retry: 400⏎", "tag: <JID:1>⏎", `data: {"tag": "<JID:1>", "t": "<ISO_STAMP>"}⏎⏎`}
	if got := s.Recorded(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (&Step{Frames: []string{"x", "{}"}}).Recorded(); !slices.Equal(got, []string{"x", "{}"}) {
		t.Errorf("frames: %q", got)
	}
}
