package salt

import (
	"path/filepath"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/wire/client"
)

// Salt's words for a minion that did not return, and what scripts look for.
const textSilent = "Minion did not return. "

// silenceText says why a minion did not return; "" when there is nothing to say, for a syndic is no minion. Where
// Salt knows no more than that nothing came, the text is Salt's.
//
// Unlike Salt: a minion that is known to be alive without the job, one whose find_job fails, and one without an
// accepted key are told from those that do not answer.
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

// keyText says why the master sends nothing to a minion that is no accepted one.
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

// notConnected tells whether a minion is known to have no connection: its addresses are cached, others are connected,
// and it is not.
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

// known tells whether the master has cached data of a minion. Of others Salt never says that they are not connected.
func (t *saltTool) known(id string) bool {
	if !t.Master.MinionDataCache {
		return false
	}
	grains, err := masterlink.Cache(t.Session).Data(datacache.BankGrains, id)
	return err == nil && grains != nil
}
