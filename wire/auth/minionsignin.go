package auth

// Request returns the frame of a new sign-in request. The reply to an earlier one is no longer accepted.
func (m *Minion) Request() ([]byte, error) { return nil, nil }

// Reply judges the reply to the last Request.
func (m *Minion) Reply(frame []byte) Step { return Step{} }

// TimedOut says what to do when no reply came in auth_timeout and auth_tries.
func (m *Minion) TimedOut() Step { return Step{} }
