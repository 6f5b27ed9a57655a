package event

import "strings"

// Fixed tags of the master's bus.
const (
	TagAuth           = "salt/auth"             // a sign-in: result, act, id, pub
	TagKey            = "salt/key"              // a key was accepted, rejected or deleted: result, act, id
	TagRotateKey      = "key"                   // rotate the shared key: rotate_aes_key
	TagPresent        = "salt/presence/present" // present
	TagPresenceChange = "salt/presence/change"  // new, lost
	TagMinionStart    = "minion_start"          // only with enable_legacy_startup_events
	TagMinionPing     = "minion_ping"           // sent every ping_interval
	TagJobErrorNoJID  = "salt/job/error"        // a refused publish without a jid
	TagReturnStart    = "salt/event_listen/start"
	TagReturnExit     = "salt/event/exit" // stops event returners
	TagNudge          = "brine/bus/nudge" // an empty event of a brine master, for tools that have just connected
)

// Join joins the non-empty parts to a tag.
func Join(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "/")
}

// TagJobNew is fired before a job is published: jid, tgt_type, tgt, user, fun, arg, minions, missing.
func TagJobNew(jid string) string { return "salt/job/" + jid + "/new" }

// TagJobPublish is fired with the whole publication.
func TagJobPublish(jid string) string { return "salt/job/" + jid + "/publish" }

// TagJobStart is fired by a minion when it starts a job, if the job asks for it.
func TagJobStart(jid, id string) string { return "salt/job/" + jid + "/start/" + id }

// TagJobReturn is fired with the whole load of a minion's return.
func TagJobReturn(jid, id string) string { return "salt/job/" + jid + "/ret/" + id }

// TagJobSubError is fired for every failed state of a return.
func TagJobSubError(jid, id, fun string) string {
	return "salt/job/" + jid + "/sub/" + id + "/error/" + fun
}

// TagJobError is fired when a publish request was refused.
func TagJobError(jid string) string {
	if jid == "" {
		return TagJobErrorNoJID
	}
	return "salt/job/" + jid + "/error"
}

// TagMinionStarted is fired by a minion that has signed in.
func TagMinionStarted(id string) string { return "salt/minion/" + id + "/start" }

// TagSyndicStarted is fired by a syndic that has signed in.
func TagSyndicStarted(id string) string { return "salt/syndic/" + id + "/start" }

// TagMinionRefresh is fired when the cached grains and pillar of a minion changed.
func TagMinionRefresh(id string) string { return "minion/refresh/" + id }

// TagResourceRefresh is fired when a 3008 minion registered its resources.
func TagResourceRefresh(id string) string { return "resource/refresh/" + id }

// TagRun begins the tags of one run of a runner function: TagRun/new, TagRun/ret, and the tags that the function itself
// fires.
func TagRun(jid string) string { return PrefixRun + jid }

// TagWheel is TagRun for a wheel function.
func TagWheel(jid string) string { return PrefixWheel + jid }

// Prefixes of the tags of runs.
const (
	PrefixRun   = "salt/run/"
	PrefixWheel = "salt/wheel/"
)

// TagSyndicJob is fired by a syndic that knows which of its minions will answer.
func TagSyndicJob(jid string) string { return "syndic/job/" + jid }

// TagStats is fired with the statistics of one worker if master_stats is on.
func TagStats(worker string) string { return "salt/stats/" + worker }

// TagBatch is fired during an asynchronous batch job; step is new, progress, complete, halted, recover or stop.
func TagBatch(jid, step string) string { return "salt/batch/" + jid + "/" + step }

// TagFileserver is fired when a backend of the file server has looked for changes (fileserver_events).
func TagFileserver(backend string) string { return "salt/fileserver/" + backend + "/update" }
