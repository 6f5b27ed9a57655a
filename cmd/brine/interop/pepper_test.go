//go:build interop

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/cmd/tooltest/apiplay"
	"brine/wire/python/shlex"
)

// pepperKind is the name of pepper's environment beside those of the releases (.ci/salt-peers).
const pepperKind = "pepper"

// pepperCommand is one line of testdata/pepper.txt.
type pepperCommand struct {
	line        string
	why         string // the reason why brine answers otherwise; "" where it does not
	salt, brine string // both answers then
}

// readPepper reads the commands. A reason without two answers that differ is an error.
func readPepper(t *testing.T) (list []pepperCommand) {
	t.Helper()
	raw, err := os.ReadFile("testdata/pepper.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			list = append(list, pepperCommand{line: line})
			continue
		}
		c := &list[len(list)-1]
		word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		field, ok := map[string]*string{"why": &c.why, "salt": &c.salt, "brine": &c.brine}[word]
		if !ok {
			t.Fatalf("testdata/pepper.txt: %q", line)
		}
		*field = strings.TrimSpace(text)
	}
	for _, c := range list {
		if named := c.why != ""; named != (c.salt != c.brine) {
			t.Fatalf("testdata/pepper.txt: %s: a difference wants a reason and two answers that differ", c.line)
		}
	}
	return list
}

// TestAPIPepper runs pepper, the command line client of salt-api, beside brine's salt-api and beside the one of Salt
// 3008.3, each with a master and minions of its own kind: the same output and exit codes, but for what
// testdata/pepper.txt names, which has to be there.
func TestAPIPepper(t *testing.T) {
	if !*everyAPI {
		t.Skip("only with -api: two fleets for one client")
	}
	onlyWith(t, reference)
	commands := readPepper(t)
	answers := map[string][]string{reference: make([]string, len(commands)), brine: make([]string, len(commands))}
	t.Run("fleets", func(t *testing.T) {
		for kind, got := range answers {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				a := newAPISite(t, kind, kind, "")
				base := a.serve(kind, pepperKind, a.sheet("cherrypy").Conf).Base
				for i, c := range commands {
					got[i] = a.pepper(base, c.line)
				}
			})
		}
	})
	for i, c := range commands {
		theirs, ours := answers[reference][i], answers[brine][i]
		switch {
		case theirs == "" || ours == "": // a fleet has failed, and said so
		case c.why == "" && theirs != ours:
			t.Errorf("pepper %s\nbeside Salt   %s\nbeside brine  %s", c.line, theirs, ours)
		case c.why != "" && (theirs != c.salt || ours != c.brine):
			t.Errorf("pepper %s (%s)\nbeside Salt   %s\n       wanted %s\nbeside brine  %s\n       wanted %s", c.line,
				c.why, theirs, c.salt, ours, c.brine)
		}
	}
}

// pepper runs one command as admin and returns exit code, what it printed, and what it wrote to OUT.
func (a *apiSite) pepper(base, line string) string {
	a.t.Helper()
	out := filepath.Join(a.root, "out")
	words, err := shlex.Split(strings.ReplaceAll(line, "OUT", out))
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, toolPath(a.t, pepperKind, "pepper"),
		append([]string{"--saltapi-url=" + base, "--username=admin", "--password=" + apiplay.Secret,
			"--auth=sharedsecret"}, words...)...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = a.env(), &stdout, &stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		a.t.Fatalf("pepper %s: %v\n%s%s", line, err, &stdout, &stderr)
	}
	written, err := os.ReadFile(out)
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	said := fmt.Sprint(cmd.ProcessState.ExitCode())
	for _, raw := range [][]byte{stdout.Bytes(), written, stderr.Bytes()} {
		if text := printed(raw); text != "" {
			said += " " + text
		}
	}
	return said
}

// httpDebug are the lines about requests and headers that -H adds; those about replies ("reply: 'HTTP/1.1 200 OK\r\n'")
// stay.
var httpDebug = regexp.MustCompile(`(?m)^(?:send|header): .*\n`)

// printed is what pepper prints on one line, without what changes from run to run. Documents of JSON have no order
// among each other: pepper shows late returns as a set.
func printed(raw []byte) string {
	raw = httpDebug.ReplaceAll(raw, nil)
	var docs []string
	for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
		var doc json.RawMessage
		if d.Decode(&doc) != nil {
			return apiplay.Normal("", 0, http.Header{}, string(raw)).Body
		}
		line := apiplay.Normal("", 0, http.Header{"Content-Type": {"application/json"}}, string(doc)).Body
		docs = append(docs, strings.TrimPrefix(line, "not as Python writes it: ")) // pepper indents it
	}
	slices.Sort(docs)
	return strings.Join(docs, " ")
}
