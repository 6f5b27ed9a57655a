// Package websocket is the server's side of RFC 6455, as far as streams of events need it: the handshake, frames of text to the client,
// messages from it within narrow bounds. It speaks no extension, so no compression: a frame that was made once can be sent to every
// client that has the same. It takes connections that were accepted elsewhere. Sizes are in bytes.
//
// Clients are not trusted: a frame that is not masked, too big, of an unknown kind or in the wrong place ends the connection with the
// status of RFC 6455, and so does a flood.
package websocket
