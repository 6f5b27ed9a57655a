package auth

// VerifyReturn checks the signature of a _return and takes sig out of its load. Not accepted means that the
// return is to be dropped and answered with false. The error says what is wrong with the signature, also
// when the return is accepted nevertheless: it belongs in the log.
func (m *Master) VerifyReturn(o *Opened) (accept bool, err error) { return true, nil }
