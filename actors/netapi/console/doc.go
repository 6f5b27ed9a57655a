// Package console is the web console of salt-api: a page below /console that shows the fleet, its jobs, actors and
// events, and the JSON addresses below /console/api that the page stands on. The page is plain HTML, CSS and ES modules
// inside the binary; nothing comes from elsewhere. It has no counterpart in Salt.
//
// Every address is one row of the table in routes.go. The row is served, says who may ask, and becomes a part of the
// OpenAPI file (docs/console-api.json). One stream of server-sent events per page carries what changes: rows of tables,
// as patches (patch.go), and events.
//
// It knows no sockets of Salt: salt-api gives it log-ins, calls and events (Front), and the control socket of a brine
// master (wire/control). Beside a master of Salt there is no such socket; the page then says what is missing.
//
// Who may see what follows the rules of external_auth: each view stands for a function that shows the same on the
// command line, and whoever may call that function may see the view (rights.go, decision 0061). What the page does is
// done with the token of its user, so that the master decides once more.
package console
