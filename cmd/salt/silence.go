package salt

import (
	"path/filepath"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/wire/client"
)

// textSilent is Salt's text for a minion that did not return. Scripts look for it.
const textSilent = "Minion did not return. "

// silenceText says why a minion did not return. It is "" if the silent id is a syndic, which is no minion. The
// text is Salt's where Salt knows only that no return arrived.
//
// Unlike Salt: three cases get texts of their own: a minion that is alive but does not run the job, one whose
// find_job fails, and one without an accepted key.
func (t *saltTool) silenceText(jid string, ret client.Return) string {
	later := masterlink.TextStillRunning + "\n\nsalt-run jobs.lookup_jid " + jid
	switch ret.Silence {
	case client.NotConnected:
		if t.known(ret.ID) {
			return textSilent + "[Not connected]"
		}
	case client.NotRunning:
		return textSilent + "[Not running]\nThe minion answers, but it does not run this job: it did not take it, " +
			"or its return was lost. " +
			"To look up the return data for this job later, run the following command:\n\nsalt-run jobs.lookup_jid " +
			jid
	case client.FindJobError:
		return textSilent + "[No response]\nThe minion could not tell whether it still runs this job. " + later
	case client.Unknown:
		return textSilent + t.keyText(ret.ID)
	}
	if t.notConnected(ret.ID) {
		return textSilent + "[Not connected]"
	}
	if session.IsFile(filepath.Join(t.Master.SyndicDir, ret.ID)) {
		return ""
	}
	return textSilent + "[No response]\n" + later
}

// keyText says why the master sends nothing to a minion without an accepted key.
func (t *saltTool) keyText(id string) string {
	store := keys.OpenStore(t.Master)
	status, _, err := store.Get(id)
	switch {
	case err != nil:
		return "[Key not accepted]"
	case status == keys.Pending:
		return "[Key not accepted]\nThe key of this minion waits to be accepted."
	case status == keys.Rejected:
		return "[Key not accepted]\nThe key of this minion is rejected."
	case store.Has(keys.Denied, id):
		return "[Key not accepted]\nThe key of this minion is denied."
	}
	return "[Key not accepted]\nThe master has no key of this minion."
}

// notConnected tells whether a minion is known to be disconnected: its data is cached, other minions are
// connected, and it is not.
func (t *saltTool) notConnected(id string) bool {
	if !t.known(id) {
		return false
	}
	connected, err := masterlink.NewPresence(t.Session).Connected()
	if err != nil {
		t.Log.Debug("connections are not known", "err", err)
		return false
	}
	_, here := connected[id]
	return len(connected) > 0 && !here
}

// known tells whether the master has cached data of a minion. Salt never calls other minions "Not connected".
func (t *saltTool) known(id string) bool {
	if !t.Master.MinionDataCache {
		return false
	}
	grains, err := masterlink.Cache(t.Session).Data(datacache.BankGrains, id)
	return err == nil && grains != nil
}
