package payload

import "strings"

// Job is a job as a master publishes it and a minion gets it: the load in the envelope of a Publication. Nobody changes
// it once it is published. Source: salt/master.py, ClearFuncs._prep_pub; salt/minion.py,
// Minion._handle_decoded_payload.
//
//	jid         text      job id
//	fun         text, or a list of texts: several functions in one job
//	arg         list of arguments; with several functions a list of such lists
//	tgt         text, or a list of ids with tgt_type list
//	tgt_type    text      how tgt is meant; glob when there is none
//	delimiter   text      between the parts of a grain or pillar target; ":" when there is none
//	user        text      who asked, as the master knows him
//	ret         text      names of returners, with commas
//	ret_config  any       alternative configuration of those
//	ret_kwargs  any       arguments of those
//	metadata    map       goes back with the return
//	schedule    text      name in the schedule, of a job that the minion has begun itself
//	master_id   text      with a master of masters
//	start_event bool      the minion tells when it begins (3008)
//	module_executors, executor_opts, id, to, auth_list, nocache: passed on
type Job struct{ view }

// AimAt replaces the target of a job that a master is about to publish by the minions that were compared with the
// rules. What a minion would make of the target is its own affair: it may have grains that this master has not heard
// of. Unlike Salt: it publishes the target as it was written.
func (j *Job) AimAt(ids []string) { j.aim(AnyList(ids), "list") }

// Aim gives a job that a master is about to publish another target, which needs no delimiter.
func (j *Job) Aim(tgt any, tgtType string) { j.aim(tgt, tgtType) }

// Restrict sends along by which rules a master below this one is to judge the job: auth_list.
func (j *Job) Restrict(list []any) { j.load.Set(fieldAuthList, list) }

// NewJob is the view of a load.
func NewJob(load *Map) *Job { return &Job{view{load}} }

// Lacks names a field without which a load is no job, "" when all are there. Their types do not count. Salt drops what
// lacks one without a word.
func (j *Job) Lacks() string {
	return j.lacks(FieldTgt, FieldJID, FieldFun, FieldArg)
}

// JID is the job id; "" when it is no text: such a job nobody can answer.
func (j *Job) JID() string { return j.load.Str(FieldJID) }

// Fun is what is to be called, as it came: a text, or a list of texts.
func (j *Job) Fun() any { return j.load.Value(FieldFun) }

// Function is the one function to be called; "" when there are several, or it is no text.
func (j *Job) Function() string { return j.load.Str(FieldFun) }

// Arg are the arguments as they came, mostly a list. What is no list is one argument.
func (j *Job) Arg() any { return j.load.Value(FieldArg) }

// Tgt is whom the job is for, as it came: a text, or a list. What it means tells TgtType.
func (j *Job) Tgt() any { return j.load.Value(FieldTgt) }

// Listed are the members of a target that is a list; nil when it is none.
func (j *Job) Listed() []any { return j.load.List(FieldTgt) }

// TgtType is how Tgt is meant; "" is glob.
func (j *Job) TgtType() string { return j.load.Str(FieldTgtType) }

// Delimiter separates the parts of a target; "" is ":".
func (j *Job) Delimiter() string { return j.load.Str(fieldDelimiter) }

// User is who asked.
func (j *Job) User() string { return j.load.Str(FieldUser) }

// Returners are the names of the returners that get the return beside the master, none when ret is no text.
func (j *Job) Returners() (names []string) {
	for name := range strings.SplitSeq(j.load.Str(FieldRet), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Metadata goes back with the return; nil, which reads as empty, when it is no map.
func (j *Job) Metadata() *Map { return j.load.Map(FieldMetadata) }

// Schedule is the name that the job has in the schedule, "" for one that came from a master.
func (j *Job) Schedule() string { return j.load.Str("schedule") }

// StartEvent tells whether the minion is to tell when it begins. Only true does.
func (j *Job) StartEvent() bool { return j.load.Bool(fieldStartEvent) }
