// Package auth is the sign-in exchange of Salt and the checks that stand on it, for both sides, as state
// machines: frames and values in, frames and decisions out. It holds no sockets, no files, no timers and no
// actors; keys and sessions are kept behind the interfaces KeyStore, SessionStore, RuleFiles and TrustStore
// (over directories: modules/fleet/keys, and wire/auth/trust for the last).
//
// A Master answers sign-ins (Handle), opens requests and seals their replies (OpenRequest), seals
// publications and pillars, and keeps the shared key. A Minion makes sign-in requests and judges the
// replies, seals requests and opens their replies, and opens publications. Both are safe for concurrent use.
//
// Answers to salt/crypt.py (AsyncAuth), salt/channel/server.py, salt/channel/client.py and to AuthFuncs in
// salt/master.py. Protocol versions 2 and 3 are spoken by both, 0 and 1 by the master.
package auth
