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

// Job is what a master says of a job before it publishes it, under TagJobNew, and what a syndic forwards of that.
//
//	jid       text  job id
//	tgt_type, tgt, user, fun, arg: as in the publish request
//	minions   list  ids that are expected to return
//	missing   list  ids of a list target that the master does not know
type Job struct {
	JID     string
	Minions []string // nil: it does not say who
	Missing []string
}

// ReadJob reads the data of such an event. What is no text in a list is left out.
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

// NewShortJob is the data of the event under a bare job id, for which tools older than 3008 wait.
func NewShortJob(minions []string) *payload.Map {
	return payload.M(fieldMinions, payload.AnyList(minions))
}

// Refuses tells whether an event under TagJobError ends the job.
func Refuses(data *payload.Map) bool { return data.Has(fieldError) }

// Author is the id that an event names, of whatever type, and whether it names one.
func Author(data *payload.Map) (id any, named bool) { return data.Get(payload.FieldID) }

// ByMinion tells whether an event was fired by a minion with a request of its own: the load of that is its data.
func ByMinion(data *payload.Map) bool { return payload.Command(data) == payload.CmdMinionEvent }

// BatchHalt is what somebody says who ends a batch, under TagBatch.
//
//	jid     text  of the batch
//	reason  text  why; none: somebody has stopped it
type BatchHalt struct{ JID, Reason string }

// stopped is the reason where none is given.
const stopped = "stop"

// ReadBatchHalt reads the data of such an event.
func ReadBatchHalt(data *payload.Map) BatchHalt {
	h := BatchHalt{JID: data.Str(payload.FieldJID), Reason: data.Str(fieldReason)}
	if h.Reason == "" {
		h.Reason = stopped
	}
	return h
}

// Presence is the data of TagPresent: the ids of all minions that are connected.
func Presence(present []any) *payload.Map { return payload.M("present", present) }

// PresenceChange is the data of TagPresenceChange: the ids that have come, and those that have gone.
func PresenceChange(come, gone []any) *payload.Map { return payload.M("new", come, "lost", gone) }

// MinionRefresh is the data of TagMinionRefresh; ResourceRefresh is that of TagResourceRefresh.
func MinionRefresh(id string) *payload.Map   { return payload.M("Minion data cache refresh", id) }
func ResourceRefresh(id string) *payload.Map { return payload.M("Resource cache refresh", id) }

// RotateKey is the data of TagRotateKey.
func RotateKey() *payload.Map { return payload.M("rotate_aes_key", true) }
