//go:build interop

package interop

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/cmd/tooltest/apiplay"
)

var recordAPI = flag.String("record-api", "", "write what the real salt-api answers into this folder "+
	"(cmd/tooltest/apiplay/testdata)")

// apiData is the folder of the tables of requests and answers.
const apiData = "../../tooltest/apiplay/testdata"

// apiSite is a site with the users and states in the tables. Daemons of salt-api run beside its master.
type apiSite struct {
	*site
	master string // the master's configuration, which every salt-api reads, too
	data   string // apiData, absolute
}

// newAPISite starts a master of a kind with the minions m1 and m2. extra is added to the master's
// configuration.
func newAPISite(t *testing.T, master, minions, extra string) *apiSite {
	t.Helper()
	a := &apiSite{site: newSite(t)}
	var err error
	if a.data, err = filepath.Abs(apiData); err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(a.data, "master.conf"))
	if err != nil {
		t.Fatal(err)
	}
	a.write(filepath.Join(a.root, "users.txt"), "gene:OceanMan\n")
	a.write(filepath.Join(a.root, "srv/top.sls"), "base:\n  '*':\n    - a\n")
	a.write(filepath.Join(a.root, "srv/a.sls"), "sucmd:\n  test.succeed_with_changes: []\n")
	a.configMaster(apiplay.Fill(string(conf), 0, a.root, a.data) + extra)
	raw, err := os.ReadFile(filepath.Join(a.masterDir(), "master"))
	if err != nil {
		t.Fatal(err)
	}
	// Salt's minions may be busy
	a.master = strings.Replace(string(raw), "gather_job_timeout: 3\n", "gather_job_timeout: 30\n", 1)
	a.write(filepath.Join(a.masterDir(), "master"), a.master)
	a.startMaster(master)
	for _, id := range []string{"m1", "m2"} {
		a.configMinion(id, "")
		a.startMinion(minions, id)
	}
	a.awaitReady("m1", "m2")
	a.awaitPing("m1", "m2")
	return a
}

// wsgiServer replaces the server of Salt's rest_wsgi. Under Python 3 the original answers every request with a
// 500, because its application gives text to a server that expects bytes. The application itself is the real
// one.
const wsgiServer = `
import os, sys
os.environ["SALT_MASTER_CONFIG"] = sys.argv[1]
from wsgiref.simple_server import make_server
from salt.netapi import rest_wsgi
def application(environ, start_response):
    return [part.encode() for part in rest_wsgi.application(environ, start_response)]
make_server("127.0.0.1", int(sys.argv[2]), application).serve_forever()
`

// serve starts a salt-api of a kind with the configuration of a sheet, and returns a player for it.
func (a *apiSite) serve(kind, name, conf string) *apiplay.Player {
	a.t.Helper()
	port := freePort(a.t)
	dir := filepath.Join(a.root, "api-"+kind+"-"+name)
	text := apiplay.MasterConf(a.master, apiplay.Fill(conf, port, a.root, a.data))
	a.write(filepath.Join(dir, "master"), fmt.Sprintf("%sapi_pidfile: %s/pid\napi_logfile: %s/log\n", text, dir, dir))
	tool, words := "salt-api", []string{"-c", dir, "-l", "info"}
	if name == "wsgi" && kind != brine {
		tool, words = "python", []string{"-c", wsgiServer, filepath.Join(dir, "master"), fmt.Sprint(port)}
	}
	d := a.start(kind+"-api-"+name, toolPath(a.t, kind, tool), words...)
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	a.eventually(patience, "the first answer of "+d.name, func() error {
		if d.ended() {
			return fmt.Errorf("%s ended", d.name)
		}
		res, err := http.Get(base)
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
	p := apiplay.NewPlayer(base, patience)
	a.t.Cleanup(p.Close)
	return p
}

// sheet reads one table.
func (a *apiSite) sheet(name string) *apiplay.Sheet {
	a.t.Helper()
	s, err := apiplay.ReadSheet(a.data, name)
	if err != nil {
		a.t.Fatal(err)
	}
	return s
}

// TestRecordAPI records the answers of the real salt-api 3008.3 to every request in the tables, beside a master
// and minions of its release. It runs only with -record-api. The quick test of cmd/brine compares with the
// recorded answers.
func TestRecordAPI(t *testing.T) {
	if *recordAPI == "" {
		t.Skip("nothing is to be recorded (-record-api DIR)")
	}
	a := newAPISite(t, reference, reference, "")
	for _, name := range apiplay.Sheets() {
		t.Run(name, func(t *testing.T) { a.record(t, name) })
	}
}

// record records the answers to one table.
func (a *apiSite) record(t *testing.T, name string) {
	t.Helper()
	s := a.sheet(name)
	p := a.serve(reference, name, s.Conf)
	if name == "tornado" {
		p.Patience = 30 * time.Second // it leaves one request without an answer
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# What the salt-api of Salt 3008.3 answers to %s.requests. Written by TestRecordAPI "+
		"(cmd/brine/interop).\n", name)
	for _, r := range s.Requests {
		start := time.Now()
		got, err := p.Send(context.Background(), r)
		if err != nil {
			t.Logf("%s: %v", name, err) // a missing answer is an answer, too
			got = apiplay.Answer{Name: r.Name, Body: "no answer"}
		}
		if took := time.Since(start); took > slow {
			t.Logf("%s %s: %v", name, r.Name, took)
		}
		b.WriteString(got.String())
	}
	if err := os.WriteFile(filepath.Join(*recordAPI, name+".salt3008"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
