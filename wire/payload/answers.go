package payload

import "fmt"

// NotTaken is an answer that is no acknowledgement: the master got the request and did not do what it was asked.
type NotTaken struct {
	Why string
	// Refused says that it will not either, before somebody changes something on one of the two sides.
	Refused bool
}

func (e *NotTaken) Error() string { return "the master did not take it: " + e.Why }

// ReturnTaken judges what a sealed answer to _return says: nil, or a *NotTaken. A master of Salt answers None when all
// is well, and that alone counts; a master of brine answers so when the return is on its disk. What comes in clear is
// no answer to begin with: anybody can send it.
//
// None of Salt's masters promises more than that its handler came to its end: what the returner of the job cache raises
// is logged there, and the answer is None all the same. Source: salt/master.py, AESFuncs._return and run_func;
// salt/utils/job.py, store_job (3006, 3007, 3008).
func ReturnTaken(v any) error {
	if v == nil {
		return nil
	}
	if v == false {
		return &NotTaken{"it answers False, as to a return without the signature that it wants " +
			"(require_minion_sign_messages, " +
			"drop_messages_signature_fail on the master; minion_sign_messages here)", true}
	}
	return notTaken(v)
}

// Taken judges the answer to a request whose answer is of no other use (_minion_event, _mine and its like): nil, or a
// *NotTaken. Those of masters that did it are None and True.
func Taken(v any) error {
	if v == nil || v == true {
		return nil
	}
	return notTaken(v)
}

func notTaken(v any) error {
	switch v := v.(type) {
	case string:
		if v == "" {
			return &NotTaken{"it failed with it, as when it cannot store what it got; its log tells more", false}
		}
		return &NotTaken{fmt.Sprintf("it says %s", Show(v)), false}
	case *Map:
		if v.Len() == 0 {
			return &NotTaken{"it does not do that for this minion: the key is not accepted any more, or the command " +
				"is unknown to it", true}
		}
	case bool:
		return &NotTaken{fmt.Sprintf("it answers %v", v), !v}
	}
	return &NotTaken{fmt.Sprintf("it answers with a %T", v), false}
}
