package access

import (
	"testing"
)

func TestGateTable(t *testing.T) {
	for _, tt := range []struct {
		tag string
		who voice
		id  string
	}{
		{"salt/minion/m1/start", itself, "m1"},
		{"salt/beacon/m1/load/", itself, "m1"},
		{"salt/beacon/m1/inotify//etc/passwd", itself, "m1"},
		{"salt/job/" + "20260101000000000001" + "/prog/m1/0", itself, "m1"},
		{"salt/job/" + "20260101000000000001" + "/start/m1", itself, "m1"},
		{"salt/job/" + "20260101000000000001" + "/start/m1/x", nobody, ""},
		{"salt/state_result/" + "20260101000000000001" + "/m1//etc/motd", itself, "m1"},
		{"salt/syndic/m1/start", itself, "m1"},
		{"salt/engines/hook/x", anyone, ""},
		{"salt/job/" + "20260101000000000001" + "/ret/m1", nobody, ""},
		{"salt/job/" + "20260101000000000001" + "/new", nobody, ""},
		{"salt/job/" + "20260101000000000001" + "/error", nobody, ""},
		{"salt//job/" + "20260101000000000001" + "/ret/m1", nobody, ""},
		{"/salt/key", nobody, ""},
		{"salt/key", nobody, ""},
		{"salt/auth", nobody, ""},
		{"salt/run/1/ret", nobody, ""},
		{"salt/wheel/1/ret", nobody, ""},
		{"salt/event/exit", nobody, ""},
		{"salt/batch/1/halted", nobody, ""},
		{"salt/presence/change", nobody, ""},
		{"salt", nobody, ""},
		{"salt/", nobody, ""},
		{"20260101000000000001", nobody, ""},
		{"20260101000000000001" + "_12", nobody, ""},
		{"20260101000000000001" + "/x", nobody, ""},
		{"key", nobody, ""},
		{"minion/refresh/m1", nobody, ""},
		{"resource/refresh/m1", nobody, ""},
		{"brine/minion/refused", nobody, ""},
		{"syndic/m1/salt/job/" + "20260101000000000001" + "/new", bySyndic, "m1"},
		{"syndic", nobody, ""},
		{"minion_start", anyone, ""},
		{"minion_start/x", anyone, ""},
		{"_salt_error", anyone, ""},
		{"myco/build/done", anyone, ""},
		{"pkg.installed", anyone, ""},
		{"20260101000000000001" + "_/x", anyone, ""}, // imitates
		{"", anyone, ""},                             // no tag at all: refused before
	} {
		if who, id, _ := gateFor(tt.tag); who != tt.who || who == itself && id != tt.id {
			t.Errorf("%q: got %v %q, want %v %q", tt.tag, who, id, tt.who, tt.id)
		}
	}
}
