package event

import "brine/wire/payload"

// Views of the data of events. A return is a payload.Return, under TagJobReturn as well as at the end of a run; a
// publication is a payload.Job.

// Names of fields.
const (
	fieldError   = "error"
	fieldMinions = "minions"
	fieldMissing = "missing"
	fieldReason  = "reason"
)

// Job is a master's description of a job before it publishes it, under TagJobNew, and the part that a syndic forwards.
//
//	jid       text  job id
//	tgt_type, tgt, user, fun, arg: as in the publish request
//	minions   list  ids that are expected to return
//	missing   list  ids of a list target that the master does not know
type Job struct {
	JID     string
	Minions []string // nil: not given
	Missing []string
}

// ReadJob reads the data of such an event. It skips list members that are not texts.
func ReadJob(data *payload.Map) Job {
	j := Job{JID: data.Str(payload.FieldJID), Missing: payload.Texts(data.Value(fieldMissing))}
	if list := data.List(fieldMinions); list != nil {
		j.Minions = payload.Texts(list)
	}
	return j
}

// NewJob is the data of TagJobNew for a publish request.
func NewJob(ask payload.PublishRequest, minions, missing []string) *payload.Map {
	return payload.M(payload.FieldJID, ask.JID(), payload.FieldTgtType, ask.Field(payload.FieldTgtType),
		payload.FieldTgt, ask.Tgt(), payload.FieldUser, ask.Field(payload.FieldUser), payload.FieldFun, ask.Fun(),
		payload.FieldArg, ask.Arg(), fieldMinions, payload.AnyList(minions), fieldMissing, payload.AnyList(missing))
}

// NewShortJob is the data of the event under a bare job id. Tools older than 3008 wait for it.
func NewShortJob(minions []string) *payload.Map {
	return payload.M(fieldMinions, payload.AnyList(minions))
}

// Refuses tells whether an event under TagJobError ends the job.
func Refuses(data *payload.Map) bool { return data.Has(fieldError) }

// Author is the id in an event, of whatever type, and whether there is one.
func Author(data *payload.Map) (id any, named bool) { return data.Get(payload.FieldID) }

// ByMinion tells whether a minion fired an event with a request of its own. The data of such an event is the load of
// the request.
func ByMinion(data *payload.Map) bool { return payload.Command(data) == payload.CmdMinionEvent }

// BatchHalt is the data of an event that ends a batch, under TagBatch.
//
//	jid     text  of the batch
//	reason  text  why; default: a user has stopped it
type BatchHalt struct{ JID, Reason string }

// stopped is the default reason.
const stopped = "stop"

// ReadBatchHalt reads the data of such an event.
func ReadBatchHalt(data *payload.Map) BatchHalt {
	h := BatchHalt{JID: data.Str(payload.FieldJID), Reason: data.Str(fieldReason)}
	if h.Reason == "" {
		h.Reason = stopped
	}
	return h
}

// Presence is the data of TagPresent: the ids of all connected minions.
func Presence(present []any) *payload.Map { return payload.M("present", present) }

// PresenceChange is the data of TagPresenceChange: the ids that connected and those that disconnected.
func PresenceChange(come, gone []any) *payload.Map { return payload.M("new", come, "lost", gone) }

// MinionRefresh is the data of TagMinionRefresh, ResourceRefresh that of TagResourceRefresh.
func MinionRefresh(id string) *payload.Map   { return payload.M("Minion data cache refresh", id) }
func ResourceRefresh(id string) *payload.Map { return payload.M("Resource cache refresh", id) }

// RotateKey is the data of TagRotateKey.
func RotateKey() *payload.Map { return payload.M("rotate_aes_key", true) }
