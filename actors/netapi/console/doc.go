// Package console is the web console of salt-api: a page below /console that shows the fleet, its jobs, actors
// and events, and the JSON addresses below /console/api that the page uses. The page consists of plain HTML,
// CSS and ES modules inside the binary. It loads nothing from other sites. It has no counterpart in Salt.
//
// Every address is one row of the table in routes.go. A row contains the handler and the necessary right, and
// becomes a part of the OpenAPI file (docs/console-api.json). One stream of server-sent events per page carries
// the changes: patches of table rows (patch.go), and events.
//
// The package knows no sockets of Salt. salt-api gives it log-ins, calls and events (Front), and the control
// socket of a brine master (wire/control). A Salt master has no such socket. The page then says which data is
// missing.
//
// The rules of external_auth decide who may see a view. Each view corresponds to a function that shows the same
// on the command line, and a user who may call that function may see the view (rights.go, decision 0061). The
// page acts with the token of its user, so that the master checks each action as well.
package console
