package payload

import "strings"

// Job is a job as a master publishes it and a minion gets it: the load in the envelope of a Publication. It must not
// change after publication. Source: salt/master.py, ClearFuncs._prep_pub; salt/minion.py,
// Minion._handle_decoded_payload.
//
//	jid         text      job id
//	fun         text, or a list of texts: several functions in one job
//	arg         list of arguments; with several functions a list of such lists
//	tgt         text, or a list of ids with tgt_type list
//	tgt_type    text      kind of target; default: glob
//	delimiter   text      between the parts of a grain or pillar target; default: ":"
//	user        text      who asked, as the master knows the user
//	ret         text      names of returners, with commas
//	ret_config  any       alternative configuration of those
//	ret_kwargs  any       arguments of those
//	metadata    map       copied into the return
//	schedule    text      name in the schedule, for a job that the minion started itself
//	master_id   text      with a master of masters
//	start_event bool      the minion sends an event when the job starts (3008)
//	module_executors, executor_opts, id, to, auth_list, nocache: passed on
type Job struct{ view }

// AimAt replaces the target of a job, before a master publishes it, by the minions that the master compared with the
// user's rules. A minion might match the original target by grains that this master does not know. Unlike Salt: it
// publishes the original target.
func (j *Job) AimAt(ids []string) { j.aim(AnyList(ids), "list") }

// Aim replaces the target of a job, before a master publishes it, by one without a delimiter.
func (j *Job) Aim(tgt any, tgtType string) { j.aim(tgt, tgtType) }

// Restrict adds the rules by which a lower master must judge the job: auth_list.
func (j *Job) Restrict(list []any) { j.load.Set(fieldAuthList, list) }

// NewJob is the view of a load.
func NewJob(load *Map) *Job { return &Job{view{load}} }

// Lacks returns a required field that is missing, or "". Types do not matter. Salt silently drops such a load.
func (j *Job) Lacks() string {
	return j.lacks(FieldTgt, FieldJID, FieldFun, FieldArg)
}

// JID is the job id; "" if it is not a text: no minion can answer such a job.
func (j *Job) JID() string { return j.load.Str(FieldJID) }

// Fun is the function to call, unchanged: a text, or a list of texts.
func (j *Job) Fun() any { return j.load.Value(FieldFun) }

// Function is the single function to call; "" if there are several or it is not a text.
func (j *Job) Function() string { return j.load.Str(FieldFun) }

// Arg are the arguments, unchanged. They are mostly a list; any other value is one argument.
func (j *Job) Arg() any { return j.load.Value(FieldArg) }

// Tgt is the target, unchanged: a text, or a list. TgtType says what it means.
func (j *Job) Tgt() any { return j.load.Value(FieldTgt) }

// Listed are the members of a target that is a list; nil if it is not a list.
func (j *Job) Listed() []any { return j.load.List(FieldTgt) }

// TgtType is the kind of target; "" is glob.
func (j *Job) TgtType() string { return j.load.Str(FieldTgtType) }

// Delimiter separates the parts of a target; "" is ":".
func (j *Job) Delimiter() string { return j.load.Str(fieldDelimiter) }

// User is the user who published the job.
func (j *Job) User() string { return j.load.Str(FieldUser) }

// Returners are the names of the returners that also get the return, besides the master. There are none if ret is not a
// text.
func (j *Job) Returners() (names []string) {
	for name := range strings.SplitSeq(j.load.Str(FieldRet), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Metadata is copied into the return; nil, which reads as empty, if it is not a map.
func (j *Job) Metadata() *Map { return j.load.Map(FieldMetadata) }

// Schedule is the job's name in the schedule; "" for a job from a master.
func (j *Job) Schedule() string { return j.load.Str("schedule") }

// StartEvent tells whether the minion must send an event when the job starts. Only the value true counts.
func (j *Job) StartEvent() bool { return j.load.Bool(fieldStartEvent) }
