// Package netapi is the daemon salt-api: a supervisor with a child for each server and its listener, the
// sessions of logged-in users, and an actor for every request that waits for minions or runners. The packages
// below contain the servers. They see the daemon as an API. It reaches its master through wire/client, as any
// tool does, so it also runs beside a Salt master. Answers to salt/cli/api.py and salt/client/netapi.py.
//
//	salt-api
//	├─ Sessions        who has logged in: session id → eauth token
//	├─ Listening       keeps the subscription to the master's bus that all calls share
//	├─ EventHub        one subscription to the master's bus, for all streams
//	├─ Calls           requests at work
//	│   └─ Call-N      one chunk of a lowstate; it ends with its client
//	└─ rest_cherrypy   the listener of a server
package netapi
