package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
)

// TestAPIDay simulates the log-ins and lost clients of a day. Some clients log in, run a function and log out.
// Others break off an event stream, a running job, or a request. Memory and descriptors of salt-api stay
// constant. With BRINE_API_DAY=1 there are as many visits as one in ten seconds makes in a day, otherwise a few
// hundred.
func TestAPIDay(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of log-ins")
	}
	rounds, most := 240, 32<<10 // KB; the race detector takes 5 to 8 MB for each hundred visits
	if os.Getenv("BRINE_API_DAY") != "" {
		rounds, most = 8640, 12<<10
	}
	s := newAPISite(t, "m1")
	conf, err := os.ReadFile(filepath.Join(s.data, "cherrypy.conf"))
	if err != nil {
		t.Fatal(err)
	}
	base := s.serve("day", string(conf))
	proc := fmt.Sprintf("/proc/%d", s.last.Process.Pid)
	if pid := childOf(s.last.Process.Pid); pid != 0 { // the parent only waits for the end of this child
		proc = fmt.Sprintf("/proc/%d", pid)
	}
	var memory, files int
	for i := range rounds {
		if i == rounds/2 { // all caches are filled by now
			memory, files = residentKB(t, proc), openFiles(t, proc)
		}
		visit(t, base)
	}
	// for connections to the master: salt-api keeps at most four open, each with a few descriptors
	const kept = 16
	s.await("the descriptors of lost clients", func() error {
		if n := openFiles(t, proc); n > files+kept {
			return fmt.Errorf("%d files are open, %d were half-way", n, files)
		}
		return nil
	})
	grown := residentKB(t, proc) - memory
	t.Logf("%d visits: %d KB more than half-way, %d files open", rounds, grown, openFiles(t, proc))
	if grown > most {
		t.Errorf("resident memory grew by %d KB in the second half", grown)
	}
}

// visit does what one user does.
func visit(t *testing.T, base string) {
	t.Helper()
	p := apiplay.NewPlayer(base, casePatience)
	defer p.Close()
	ask := func(method, path, body string) {
		r := apiplay.Request{Name: path, Method: method, Path: path, As: "admin", Body: body, NoBody: body == "",
			Header: [][2]string{{"Content-Type", "application/json"}}}
		if a, err := p.Send(t.Context(), r); err != nil || a.Status != 200 {
			t.Fatalf("%s: %v, %v", path, a, err)
		}
	}
	ask("POST", "/", `[{"client": "local", "tgt": "m1", "fun": "test.ping"}]`)
	id, err := p.Session(t.Context(), "admin")
	if err != nil {
		t.Fatal(err)
	}
	own := [][2]string{{"X-Auth-Token", id}, {"Content-Type", "application/json"}}
	ctx, cancel := context.WithTimeout(t.Context(), casePatience)
	defer cancel()
	w, err := apiplay.Dial(ctx, base, apiplay.Request{Name: "stream", Method: "GET", Path: "/events", Header: own[:1],
		NoBody: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	const sleep = `[{"client": "local", "tgt": "m1", "fun": "test.sleep", "arg": [1]}]`
	for _, half := range []string{"POST / HTTP/1.1\r\nHost: x\r\n", // the second client waits for a job
		fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nX-Auth-Token: %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\n\r\n%s", id, len(sleep), sleep)} {
		c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Write([]byte(half))
		c.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	ask("POST", "/logout", "")
}

func residentKB(t *testing.T, proc string) int {
	t.Helper()
	raw, err := os.ReadFile(proc + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func openFiles(t *testing.T, proc string) int {
	t.Helper()
	list, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
