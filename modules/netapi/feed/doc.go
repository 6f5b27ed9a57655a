// Package feed is the stream of events as the readers of salt-api have it: a Ring that keeps each event once, a Stream
// that is the place of one reader in it, and Tokens that knows whose eauth tokens still hold. It joins no bus and
// writes to no client (see actors/netapi/events). A reader that is too slow falls out of the ring; it never delays
// another. Sizes are in bytes. Answers to EventListener in salt/netapi/rest_tornado/saltnado.py.
package feed
