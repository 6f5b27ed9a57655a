// Package tornado is the server rest_tornado. It gives the answers of Salt's server at its addresses, over the
// API of actors/netapi. A client that has logged in sends the eauth token itself, in a header or a cookie. The
// package does not listen and does not ask a master itself. Answers to salt/netapi/rest_tornado/saltnado.py and
// saltnado_websockets.py.
package tornado
