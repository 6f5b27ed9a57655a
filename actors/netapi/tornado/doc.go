// Package tornado is the server rest_tornado: what Salt's answers at its addresses, over the API of actors/netapi. Who
// has logged in shows the eauth token itself, in a header or a cookie. It listens nowhere and asks no master itself.
// Answers to salt/netapi/rest_tornado/saltnado.py and saltnado_websockets.py.
package tornado
