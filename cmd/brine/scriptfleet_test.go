package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"brine/cmd/session"
	"brine/wire/loopback"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands of scripts, beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"config": writeConfig, "fleet": startScriptFleet,
		"until": until}
}

// startScriptFleet is the command "fleet ID...". It starts a master with the configuration directory etc/master
// and, for each id, a minion with etc/ID. It waits until all of them answer. The files master.extra and
// minion.extra extend the configurations. The daemons end with the script.
func startScriptFleet(ts *testscript.TestScript, neg bool, ids []string) {
	if neg {
		ts.Fatalf("fleet cannot be negated")
	}
	root, err := os.MkdirTemp("", "bf") // short, because sockets live in it
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(root) })
	var ports [2]*loopback.Port
	for i := range ports {
		if ports[i], err = loopback.Reserve(); err != nil {
			ts.Check(err)
		}
		ts.Defer(func() { _ = ports[i].Release() })
	}
	common := fmt.Sprintf("user: %s\npublish_port: %d\n", session.RunningUser(), ports[0].Number)
	write := func(name, role, text string) string {
		dir := ts.MkAbs(filepath.Join("etc", name))
		ts.Check(os.MkdirAll(dir, 0o755))
		more, _ := os.ReadFile(ts.MkAbs(role + ".extra")) // the file may be missing
		text = fmt.Sprintf("root_dir: %s\n%s%s%s", filepath.Join(root, name), common, text, more)
		ts.Check(os.WriteFile(filepath.Join(dir, role), []byte(text), 0o644))
		return dir
	}
	master := write("master", "master", fmt.Sprintf("interface: 127.0.0.1\nret_port: %d\nauto_accept: True\n",
		ports[1].Number))
	startDaemon(ts, "salt-master", master)
	for _, id := range ids {
		startDaemon(ts, "salt-minion", write(id, "minion", fmt.Sprintf("master: 127.0.0.1\nmaster_port: %d\nid: "+
			"%s\nacceptance_wait_time: 1\n", ports[1].Number, id)))
	}
	if len(ids) == 0 {
		until(ts, false, []string{"0 answered|EventPublisher", "brine", "tree", "-c", master})
		return
	}
	until(ts, false, []string{fmt.Sprintf("(?s)(: true.*){%d}", len(ids)), "salt", "-c", master, "-t", "2", "--static",
		"--out=json", "*", "test.ping"})
}

// startDaemon starts a daemon in the background and ends it with the script.
func startDaemon(ts *testscript.TestScript, tool, config string) {
	log, err := os.Create(config + ".log")
	ts.Check(err)
	cmd := exec.Command(tool, "-c", config)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = ts.MkAbs(".")
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(stopPatience, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Wait()
		_ = log.Close()
	})
}

// until is the command "until REGEXP CMD...". It runs a command until the output matches, including stderr.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP CMD...")
	}
	want := regexp.MustCompile(args[0])
	var out []byte
	for limit := time.Now().Add(fleetPatience); time.Now().Before(limit); {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Dir = ts.MkAbs(".")
		out, _ = cmd.CombinedOutput() // only the output counts
		if want.Match(out) {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	logs, _ := filepath.Glob(ts.MkAbs("etc/*.log"))
	for _, name := range logs {
		text, _ := os.ReadFile(name)
		out = append(out, fmt.Sprintf("\n== %s\n%s", filepath.Base(name), bytes.TrimSpace(text))...)
	}
	ts.Fatalf("%s did not come to match %q; last:\n%s", strings.Join(args[1:], " "), args[0], out)
}
