package payload

import "fmt"

// NotTaken is an answer that is not an acknowledgement: the master received the request and did not carry it out.
type NotTaken struct {
	Why string
	// Refused means that a later try fails too, until an operator changes something on one of the two sides.
	Refused bool
}

func (e *NotTaken) Error() string { return "the master did not take it: " + e.Why }

// ReturnTaken judges a sealed answer to _return: nil, or a *NotTaken. A Salt master answers None when all is well, and
// only None counts. A brine master answers None when the return is on its disk. An answer in clear never counts,
// because anybody can send it.
//
// No Salt master promises more than that its handler has ended: it logs an exception of the job cache's returner, and
// still answers None. Source: salt/master.py, AESFuncs._return and run_func; salt/utils/job.py, store_job (3006, 3007,
// 3008).
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

// Taken judges the answer to a request that returns no data (such as _minion_event and _mine): nil, or a *NotTaken. A
// master that carried out the request answers None or True.
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
