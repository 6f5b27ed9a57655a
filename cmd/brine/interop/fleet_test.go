//go:build interop

package interop

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fleet is a site with a running master and running minions, and their kinds.
type fleet struct {
	*site
	master string            // kind of the master
	tools  string            // kind of salt, salt-key and salt-run for the steps
	kinds  map[string]string // kind of each minion
	ids    []string          // the minions, sorted
	member *regexp.Regexp    // matches any of their ids

	stranger *daemon // see refuse
}

// variant is a set of options that change the messages on the network.
type variant struct{ name, master, minion string }

// plain is the configuration of most steps: the minions check the master's signatures.
var plain = variant{"plain", "", "sign_pub_messages: True\n"}

// variants are the other forms of a publication.
var variants = []variant{
	{"filtering", "zmq_filtering: True\n", "zmq_filtering: True\nsign_pub_messages: True\n"},
	{"unsigned", "sign_pub_messages: False\n", ""},
	{"signed key", "master_sign_pubkey: True\n", "verify_master_pubkey_sign: True\nsign_pub_messages: True\n"},
}

// fleetMaster lets the minions of every release join, publish and be found by their grains. It has data for
// every kind of target.
const fleetMaster = `minimum_auth_version: 0
version_2_grains: True
peer:
  .*:
    - test.*
nodegroups:
  webs: 'G@role:web'
  both:
    - 'webs'
    - 'and'
    - 'm*'
`

const fleetMinion = `rejected_retry: True
grains:
  role: web
`

// newFleet writes the configuration of a fleet. It starts nothing.
func newFleet(t *testing.T, master, tools string, kinds map[string]string, v variant) *fleet {
	t.Helper()
	f := &fleet{site: newSite(t), master: master, tools: tools, kinds: kinds, ids: slices.Sorted(maps.Keys(kinds))}
	f.member = regexp.MustCompile(`\b(?:` + strings.Join(f.ids, "|") + `)\b`)
	f.write(f.masterPath("pillar/top.sls"), "base:\n  '*':\n    - roles\n")
	f.write(f.masterPath("pillar/roles.sls"), "role: db\n")
	f.configure(v)
	return f
}

// configure writes the files of all members for a variant.
func (f *fleet) configure(v variant) {
	f.t.Helper()
	f.configMaster(fleetMaster + fmt.Sprintf("pillar_roots:\n  base:\n    - %s\n", f.masterPath("pillar")) + v.master)
	for _, id := range f.ids {
		f.configMinion(id, fleetMinion+v.minion)
	}
}

// startAll starts the master and then the minions.
func (f *fleet) startAll() {
	f.t.Helper()
	f.startMaster(f.master)
	f.startMinions()
}

func (f *fleet) startMinions() {
	f.t.Helper()
	for _, id := range f.ids {
		f.copySigningKey(id)
		f.startMinion(f.kinds[id], id)
	}
}

// stopMinions stops all minions concurrently.
func (f *fleet) stopMinions() {
	stopTogether(slices.Collect(maps.Values(f.minions))...)
	clear(f.minions)
}

// restartAll stops everything and starts it again with the files of a variant.
func (f *fleet) restartAll(v variant) {
	f.t.Helper()
	stopTogether(f.daemons()...)
	clear(f.minions)
	f.configure(v)
	f.startAll()
	f.awaitReady(f.ids...)
	f.awaitPing(f.ids...)
}

// acceptAll waits for the keys of all minions and accepts them.
func (f *fleet) acceptAll() {
	f.t.Helper()
	f.awaitKey("minions_pre", f.ids...)
	f.mustRun(f.tools, "salt-key", "-y", "-A")
	f.awaitReady(f.ids...)
	f.awaitPing(f.ids...)
}

// copySigningKey gives a minion the key that signs the master's key, if the master has one.
func (f *fleet) copySigningKey(id string) {
	f.t.Helper()
	b, err := os.ReadFile(f.masterPath("etc/salt/pki/master/master_sign.pub"))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(filepath.Join(f.minionRoot(id), "etc/salt/pki/minion/master_sign.pub"), string(b))
}

// list is a target of type list with all minions.
func (f *fleet) list() string { return strings.Join(f.ids, ",") }

// step runs a part of a test as a subtest. The processes outlive it.
func (f *fleet) step(name string, do func(f *fleet)) bool {
	outer := f.t
	return outer.Run(name, func(t *testing.T) {
		f.t = t
		before := f.dumps
		defer func() {
			if t.Failed() && f.dumps == before { // no step inside this one has shown the logs
				f.dumpLogs()
			}
			f.t = outer
		}()
		do(f)
	})
}
