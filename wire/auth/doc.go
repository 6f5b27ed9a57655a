// Package auth is the sign-in exchange of Salt and the checks that depend on it, for both sides, as state machines:
// frames and values in, frames and decisions out. It holds no sockets, no files, no timers and no actors. The
// interfaces KeyStore, SessionStore, RuleFiles and TrustStore give access to keys and sessions (implemented over
// directories by modules/fleet/keys, and by wire/auth/trust for TrustStore).
//
// A Master answers sign-ins (Handle), opens requests and seals their replies (OpenRequest), seals publications and
// pillars, and keeps the shared key. A Minion makes sign-in requests and judges the replies, seals requests and opens
// their replies, and opens publications. Both are safe for concurrent use.
//
// Answers to salt/crypt.py (AsyncAuth), salt/channel/server.py, salt/channel/client.py and to AuthFuncs in
// salt/master.py. Both sides speak protocol versions 2 and 3; the master also speaks 0 and 1.
package auth
