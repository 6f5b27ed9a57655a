package console

import "encoding/json"

// These are the types of bodies and answers. The tag doc is the description of a field in the OpenAPI file.
type (
	// Problem is the body of every answer without success.
	Problem struct {
		Error string `json:"error" doc:"what is wrong, in words"`
	}
	// Done is the answer to an action without a result.
	Done struct {
		Done bool `json:"done"`
	}
	// Login is the body of a log-in.
	Login struct {
		Username string `json:"username"`
		Password string `json:"password"`
		Eauth    string `json:"eauth" doc:"kind of external authentication"`
	}
	// Identity is the logged-in user.
	Identity struct {
		User    string   `json:"user" doc:"empty when nobody is"`
		Can     []string `json:"can" doc:"what the rules allow: fleet, keys, grains, jobs, events, actors, stacks, run"`
		Eauths  []string `json:"eauths" doc:"kinds of external authentication that the master knows"`
		Brine   bool     `json:"brine" doc:"the master has a control socket: it is one of brine's, and runs"`
		Missing string   `json:"missing" doc:"what is missing without, in words"`
		Version string   `json:"version"`
	}
	// Grains are the grains of a minion.
	Grains struct {
		ID     string          `json:"id"`
		Grains json.RawMessage `json:"grains" doc:"null when it has told none"`
	}
	// KeyAct is an action on a key.
	KeyAct struct {
		Act string `json:"act" doc:"accept, reject or delete"`
	}
	// Target holds the minions that a target matches.
	Target struct {
		Count   int      `json:"count"`
		Minions []string `json:"minions" doc:"the first thousand, sorted"`
		Missing []string `json:"missing" doc:"ids that the target names and that have no accepted key"`
	}
	// Actor is one actor as brine tree --json shows it (docs/admin.md).
	Actor struct {
		Node json.RawMessage `json:"node"`
	}
	// Stack is the activity of goroutines.
	Stack struct {
		Path  string `json:"path"`
		Stack string `json:"stack" doc:"empty when no goroutine works for the actor"`
	}
)

// These are the rows of the tables in streams.
type (
	// Minion is a row of the table fleet.
	Minion struct {
		ID        string `json:"id"`
		Key       string `json:"key" doc:"accepted, pending, rejected or denied"`
		Connected string `json:"connected" doc:"yes, no, unknown; empty when nothing tells"`
		Brine     bool   `json:"brine" doc:"it is a minion of brine"`
		Version   string `json:"version" doc:"of Salt, or the one that a minion of brine answers as; from its grains"`
		Protocol  int64  `json:"protocol"`
		Heard     string `json:"heard" doc:"when it was last heard"`
		Refused   int64  `json:"refused" doc:"how often it was refused something"`
		JID       string `json:"jid" doc:"its last job"`
		Fun       string `json:"fun"`
		Ran       string `json:"ran" doc:"when that was"`
	}
	// Node is a row of the table actors.
	Node struct {
		Path      string  `json:"path"`
		Name      string  `json:"name"`
		Order     int     `json:"order" doc:"place in the tree, parents before their children"`
		Depth     int     `json:"depth"`
		State     string  `json:"state"`
		Since     string  `json:"since"`
		Restarts  int64   `json:"restarts"`
		Recent    int64   `json:"restarts_hour"`
		Mailbox   int64   `json:"mailbox"`
		OldestMS  int64   `json:"oldest_ms"`
		Received  int64   `json:"received"`
		Lost      int64   `json:"lost"`
		Rate      float64 `json:"rate"`
		Busy      float64 `json:"busy"`
		InHand    string  `json:"in_hand"`
		Note      string  `json:"note"`
		DiedAt    string  `json:"died_at"`
		DiedOf    string  `json:"died_of"`
		P50US     int64   `json:"p50_us"`
		P99US     int64   `json:"p99_us"`
		Inc       int64   `json:"incarnation"`
		Abandoned int64   `json:"stuck"`
	}
)
