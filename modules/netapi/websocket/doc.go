// Package websocket is the server's side of websockets (RFC 6455), as far as streams of events need it:
// github.com/gorilla/websocket with the bounds that clients of salt-api are held to. A message that is the same for
// many readers is framed once (Message), many messages go to a client in one write, and a connection keeps no buffer
// for writing. No extension is spoken, so nothing is compressed. Sizes are in bytes.
//
// Clients are not trusted: what RFC 6455 forbids ends the connection with the status that it gives, and so do a message
// of more than MessageMax and a flood.
package websocket
