package auth

import "brine/wire/payload"

// Seal packs a request. load is not changed; it is completed with what the protocol version asks for: nonce,
// ts, tok, id and sig. The nonce is what Open and OpenPillar want with the reply. ErrNotSignedIn.
func (m *Minion) Seal(load *payload.Map) (frame []byte, nonce string, err error) { return nil, "", nil }

// Open opens the reply to a request. ErrReauth: the master answered with text, or with a key we do not have;
// crypt.ErrBadNonce: the reply to another request; ErrBadReply.
func (m *Minion) Open(reply []byte, nonce string) (any, error) { return nil, nil }

// OpenPillar opens the private reply to a _pillar request, with the errors of Open. An error that the master
// names in the reply is ErrReauth as well, as it is for Salt.
func (m *Minion) OpenPillar(reply []byte, nonce string) (*payload.Map, error) { return nil, nil }

// OpenPublication opens one publication and takes its serial out. ErrReauth: sealed with a key we do not
// have; ErrIgnore: repeated or empty; crypt.ErrBadSignature: refused by sign_pub_messages.
func (m *Minion) OpenPublication(frame []byte) (*payload.Map, error) { return nil, nil }
