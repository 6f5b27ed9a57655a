package jobrecord

import (
	"testing"

	"brine/modules/outputters"
	"brine/wire/payload"
)

// Records are what salt.utils.jid.format_jid_instance of Salt 3008.3 makes of these loads.
func TestDated(t *testing.T) {
	for _, tt := range []struct {
		jid  string
		load *payload.Map
		want string
	}{
		{"20261121105327000651", payload.M("fun", "test.ping", "arg", []any{}, "tgt", "*", "tgt_type", "glob", "user",
			"root"),
			`{"Function": "test.ping", "Arguments": [], "Target": "*", "Target-type": "glob", "User": "root", "StartTime": "2026, Nov 21 10:53:27.000651"}`},
		{"20261121105327000651_77", payload.M("arg", []any{payload.M("__kwarg__", true, "metadata", "m")}),
			`{"Function": "unknown-function", "Arguments": [{"__kwarg__": true, "metadata": "m"}], "Target": "unknown-target", ` +
				`"Target-type": "list", "User": "root", "Metadata": "m", "StartTime": "2026, Nov 21 10:53:27.000651"}`},
		{"x", payload.M("kwargs", payload.M("metadata", int64(1))),
			`{"Function": "unknown-function", "Arguments": [], "Target": "unknown-target", "Target-type": "list", "User": "root", "Metadata": 1, "StartTime": ""}`},
	} {
		if got := outputters.JSON(Dated(tt.jid, tt.load)); got != tt.want {
			t.Errorf("job %s:\ngot  %s\nwant %s", tt.jid, got, tt.want)
		}
	}
}
