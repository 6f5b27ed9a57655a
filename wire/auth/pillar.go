package auth

// PillarReply returns the frame of the private reply to a _pillar request: the pillar under a fresh key that
// is encrypted to the minion's RSA key, signed above version 1. false counts as an empty pillar, as in Salt.
func (m *Master) PillarReply(o *Opened, pillar any) ([]byte, error) { return nil, nil }
