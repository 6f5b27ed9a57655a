package master

import (
	"testing"

	"brine/modules/runners"
	"brine/wire/payload"
)

// TestSaltCmdGrains: execution functions of the runner salt.cmd see the grains of the master's configuration, as
// salt-run beside the master does.
func TestSaltCmdGrains(t *testing.T) {
	r := newRig(t, "grains: {site: ams}")
	res := r.m.core.functions.Run(t.Context(), runners.Request{Kind: runners.KindRunner, Fun: "salt.cmd",
		Args: []any{"grains.get", "site"}, JID: someJID},
		func(string, *payload.Map) {})
	equal(t, "grain of the configuration", res.Return, "ams")
}
