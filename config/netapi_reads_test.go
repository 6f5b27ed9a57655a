package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// notNetapis are functions that the walk over salt-api skips, because they do not belong to salt-api.
var notNetapis = []string{
	// they turn files into options; the configuration of minions
	"(brine/config.Loader).load", "(*brine/config.loading).fill", "(brine/config.Loader).Minion",
	"brine/modules/runners",            // only the names of runner functions are read, none is run
	"brine/cmd/daemon.CheckStanding",   // for daemons that do not check themselves
	"(*brine/config.Client).readToken", // the token of a tool: salt-api gets the tokens of its clients
}

// handsOn are the functions that pass all options on. What the receivers read counts instead.
var handsOn = []string{
	"(*brine/cmd/saltapi.rights).follow", "brine/cmd/saltapi.start", // to modules/eauth, see asksSettings
	"brine/cmd/saltapi.runnerFinder", // to LimitsOf, see limitsOf
	// their names are in functions that have all of them
	"(*brine/config.Master).NetapiOptions", "(*brine/config.Master).underRoot",
	// to the words of the command line, whose names are those of options
	"(*brine/cmd/session.Session).merge",
	"(*brine/cmd/session.Session).tellLog",                        // between log options, for templates
	"brine/cmd/daemon.AddControl", "brine/cmd/daemon.crashReport", // they show all options
}

// asksSettings are functions that have all options under another name.
var asksSettings = []string{"brine/modules/eauth", "(brine/config.Loader).Client"}

// readBesides are options that the walk finds although changes of them do not concern salt-api, with the reason.
var readBesides = map[string]string{
	"conf_file":     "where the file is that has changed",
	"pidfile":       "the master's: api_pidfile takes its place",
	"publisher_acl": "whose log files are elsewhere: users of tools",
}

// TestNetapiTakesWhatIsRead compares the lists of options for salt-api with the options that its code reads: salt-api
// would silently ignore a change of a forgotten one.
func TestNetapiTakesWhatIsRead(t *testing.T) {
	p := loadProgram(t, "./cmd/saltapi")
	all := p.reached(notNetapis, "brine/cmd/saltapi.Run")
	now := p.reached(append([]string{"(*brine/config.Master).NetapiOptions", "brine/modules/eauth.newTokenStore"},
		notNetapis...),
		"(*brine/cmd/saltapi.service).Reload", "(*brine/config.Master).netapiLive",
		"(*brine/cmd/session.Session).FollowLevels")
	for _, root := range []string{"(*brine/cmd/saltapi.service).Reload", "(*brine/actors/netapi.Server).localBatch",
		"brine/actors/netapi/console.New"} {
		if all[root] == nil {
			t.Errorf("the walk does not come to %s", root)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(handsOn)), handing(all)); diff != "" {
		t.Errorf("functions that hand all options on: tell the walk what is asked of them (-want +got)\n%s", diff)
	}
	live := optionsOf(t, now)
	live["include"], live["default_include"] = true, true // the files are read again
	if diff := cmp.Diff(strings.Fields(netapiNow), slices.Sorted(maps.Keys(live))); diff != "" {
		t.Errorf("options that a running salt-api takes (-netapiNow +read)\n%s", diff)
	}
	read := optionsOf(t, all)
	for key := range readBesides {
		if !read[key] {
			t.Errorf("%s is not read: it needs no excuse", key)
		}
		delete(read, key)
	}
	maps.DeleteFunc(read, func(key string, _ bool) bool { return live[key] })
	if diff := cmp.Diff(strings.Fields(netapiLater), slices.Sorted(maps.Keys(read))); diff != "" {
		t.Errorf("options that salt-api reads at its start (-netapiLater +read)\n%s", diff)
	}
}

// foreignToMasters are options of other programs that the walk over a master finds, with the reason.
var foreignToMasters = map[string]string{
	"username": "of other maps: credentials, servers of returners", "password": "the same",
	"cluster_pki_dir":  "of tools beside Salt's masters of a cluster: a master with cluster_id does not start",
	"syndic_dir":       "made from cachedir, whatever the file says",
	"sqlite_queue_dir": "a folder that Salt's tools want; made, not used",
	"mine_functions":   "looked through at the start for functions that are not there, by minions and masters alike",
}

// TestForeignIsNotRead: a master ignores changes of options that it does not have, so it must not read them.
func TestForeignIsNotRead(t *testing.T) {
	p := loadProgram(t, "./cmd/saltmaster")
	ends := []string{"(brine/config.Loader).load", "(*brine/config.loading).fill",
		"(*brine/config.Master).NetapiOptions",
		"(*brine/config.Master).AsMinion"} // reactions see the options of the start
	read, known := optionsOf(t, p.reached(ends, "brine/cmd/saltmaster.Run")), standings(t)
	if !read["worker_threads"] || !read["signing_algorithm"] || !read["auth.pam.service"] {
		t.Errorf("the walk misses what is read: %d options", len(read))
	}
	for key := range read {
		if _, excused := foreignToMasters[key]; known[key].foreign(roleMaster) != excused {
			t.Errorf("%s: called none of a master's %v, excused %v", key, known[key].foreign(roleMaster), excused)
		}
	}
	for key := range foreignToMasters {
		if !read[key] {
			t.Errorf("%s is not read: it needs no excuse", key)
		}
	}
}

// handing are the functions that pass all options on.
func handing(reached map[string]*uses) (names []string) {
	for name, u := range reached {
		if u.hands {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// optionsOf are the options that functions read: fields of the structs, and texts in functions that have all options.
func optionsOf(t *testing.T, reached map[string]*uses) map[string]bool {
	t.Helper()
	known, keyOf := standings(t), map[string]string{}
	for _, f := range fields(reflect.TypeFor[Master]()) {
		keyOf[f.name] = f.key
	}
	out := map[string]bool{}
	for name, u := range reached {
		for _, field := range u.fields {
			if key := keyOf[field]; key != "" {
				out[key] = true
			}
		}
		if !slices.Contains(u.fields, "Raw") && !slices.ContainsFunc(asksSettings, func(from string) bool {
			return within(name, from)
		}) {
			continue
		}
		for _, key := range u.keys {
			if _, ok := known[key]; ok {
				out[key] = true
			}
		}
	}
	return out
}
