package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd/session"
	"brine/cmd/tooltest/apiplay"
	"brine/wire/wiretest"
)

// apiData is the folder of the tables of requests and answers, and of the transcripts.
const apiData = "../tooltest/apiplay/testdata"

// apiSite is a master with minions and the users in the tables. Daemons of salt-api run beside it, each in its
// own process.
type apiSite struct {
	t       *testing.T
	root    string
	data    string // apiData, absolute
	master  string // configuration of the master
	minions []string
	ports   [2]int
	server  *exec.Cmd // the master
	last    *exec.Cmd // the daemon started last
}

// newAPISite starts a master and its minions, and waits until all of them answer.
func newAPISite(t *testing.T, minions ...string) *apiSite {
	t.Helper()
	root, err := os.MkdirTemp("", "ba") // short, because sockets live in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	s := &apiSite{t: t, root: root, minions: minions}
	if s.data, err = filepath.Abs(apiData); err != nil {
		t.Fatal(err)
	}
	for i := range s.ports {
		s.ports[i], _ = strconv.Atoi(freePort(t))
	}
	s.write("users.txt", "gene:OceanMan\n")
	s.write("srv/top.sls", "base:\n  '*':\n    - a\n")
	s.write("srv/a.sls", "sucmd:\n  test.succeed_with_changes: []\n")
	conf, err := os.ReadFile(filepath.Join(s.data, "master.conf"))
	if err != nil {
		t.Fatal(err)
	}
	s.master = fmt.Sprintf("root_dir: %s/m\nuser: %s\ninterface: 127.0.0.1\npublish_port: %d\nret_port: "+
		"%d\ngather_job_timeout: 3\n%s", root, session.RunningUser(), s.ports[0], s.ports[1], apiplay.Fill(string(conf),
		0, root, s.data))
	s.write("m/etc/master", s.master)
	s.server = s.start("salt-master", filepath.Join(root, "m/etc"))
	for _, id := range minions {
		s.write(id+"/etc/minion", fmt.Sprintf("root_dir: %s/%s\nuser: %s\nmaster: 127.0.0.1\npublish_port: "+
			"%d\nmaster_port: %d\nid: %s\nacceptance_wait_time: 1\n",
			root, id, session.RunningUser(), s.ports[0], s.ports[1], id))
		s.start("salt-minion", filepath.Join(root, id, "etc"))
	}
	s.await("the minions", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), tryPatience)
		defer cancel()
		out, err := exec.CommandContext(ctx, "salt", "-c", filepath.Join(root, "m/etc"), "-t", "2", "--static",
			"--out=json", "*", "test.ping").CombinedOutput()
		if strings.Count(string(out), ": true") != len(minions) {
			return fmt.Errorf("%v: %s", err, out)
		}
		return nil
	})
	return s
}

func (s *apiSite) write(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// start starts a daemon that ends with the test. Its output goes to a file beside its configuration.
func (s *apiSite) start(tool, config string) *exec.Cmd {
	s.t.Helper()
	log, err := os.Create(config + ".console")
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(tool, "-c", config, "-l", "info")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "HOME="+s.root)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.last = cmd
	s.t.Cleanup(func() {
		defer log.Close()
		s.stop(cmd)
		if s.t.Failed() {
			raw, _ := os.ReadFile(log.Name())
			s.t.Logf("== %s\n%s", log.Name(), raw[max(0, len(raw)-4000):])
		}
	})
	return cmd
}

// stop ends a daemon with SIGTERM.
func (s *apiSite) stop(cmd *exec.Cmd) {
	if cmd.ProcessState != nil {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(stopPatience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
}

// serve starts a salt-api with further configuration and returns the address of its server.
func (s *apiSite) serve(name, conf string) string {
	s.t.Helper()
	port, _ := strconv.Atoi(freePort(s.t))
	text := apiplay.MasterConf(s.master, apiplay.Fill(conf, port, s.root, s.data))
	s.write("api-"+name+"/master", fmt.Sprintf("%sapi_pidfile: %s/api-%s/pid\napi_logfile: %s/api-%s/log\n", text,
		s.root, name, s.root, name))
	s.start("salt-api", filepath.Join(s.root, "api-"+name))
	at := fmt.Sprintf("127.0.0.1:%d", port)
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s.await("an answer of the salt-api "+name, func() error {
		// a connection alone proves little: salt-api opens its port once before it starts
		res, err := once.Get("http://" + at)
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
	return "http://" + at
}

// await calls try until it returns nil.
func (s *apiSite) await(what string, try func() error) {
	s.t.Helper()
	var err error
	for end := time.Now().Add(fleetPatience); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	s.t.Fatalf("%s: %v", what, err)
}

// certificate writes server.crt and server.key for this machine's loopback.
func (s *apiSite) certificate() {
	s.t.Helper()
	wiretest.Certificate(s.t, filepath.Join(s.root, "server.crt"), filepath.Join(s.root, "server.key"), 1)
}
