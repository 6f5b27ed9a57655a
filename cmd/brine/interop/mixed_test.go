//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/wire/python/shlex"
)

// command is a line of testdata/commands.txt.
type command struct {
	line   string
	words  []string
	bySalt bool              // also by Salt's own command line
	keys   bool              // only the keys of the answer count
	differ map[string]string // kind → reason
}

func readCommands(t *testing.T) []command {
	t.Helper()
	text, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []command
	differ := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '!':
			kinds, reason, ok := strings.Cut(line[1:], ": ")
			if !ok || reason == "" {
				t.Fatalf("no reason: %s", line)
			}
			for _, kind := range strings.Fields(kinds) {
				differ[kind] = reason
			}
			continue
		}
		c := command{line: strings.TrimLeft(line, "@%"), bySalt: line[0] == '@', keys: line[0] == '%', differ: differ}
		differ = map[string]string{}
		if c.words, err = shlex.Split(c.line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, c)
	}
	return out
}

// TestMixedFleet gives the same commands to a brine minion and to Salt minions of four releases on one brine master.
// The brine minion must answer as Salt 3008; how the other releases differ from that stands in testdata/commands.txt.
func TestMixedFleet(t *testing.T) {
	t.Parallel()
	// Salt's jobs run in processes, as by default: where they are threads, two imports at a time may end in a KeyError.
	f := newFleet(t, brine, brine, allKinds(), plain)
	f.startAll()
	f.acceptAll()
	f.step("commands", func(f *fleet) {
		for i, c := range readCommands(t) {
			f.sameAnswers(fmt.Sprintf("%03d %s", i, c.words[0]), c)
			if f.site.master.ended() {
				f.t.Fatal("the master ended")
			}
		}
	})
}

// sameAnswers gives one command to all minions and compares what they answer.
func (f *fleet) sameAnswers(name string, c command) {
	f.step(name, func(f *fleet) {
		f.judge(c, f.answers(c.words))
		if c.bySalt {
			f.judge(c, f.staticAnswers(c.words))
			f.judge(c, f.rawAnswers(c.words))
		}
	})
}

// judge compares the answers of all minions with the reference's.
func (f *fleet) judge(c command, got map[string]string) {
	f.t.Helper()
	for _, id := range f.ids {
		if _, ok := got[id]; !ok {
			f.t.Errorf("no answer of %s: %v", id, slices.Sorted(maps.Keys(got)))
			return
		}
	}
	want, refID := got["m"+reference], "m"+reference
	for _, id := range f.ids {
		same := got[id] == want || f.neutral(got[id], id) == f.neutral(want, refID) ||
			f.anyone(got[id], id) == f.anyone(want, refID)
		if c.keys {
			same = onlyKeys(got[id]) == onlyKeys(want)
		}
		_, listed := c.differ[f.kinds[id]]
		switch {
		case !same && !listed:
			f.t.Errorf("%s:\n got %s\n3008 %s", f.kinds[id], f.neutral(got[id], id), f.neutral(want, refID))
		case same && listed:
			f.t.Errorf("%s answers as 3008 now; testdata/commands.txt says it does not: %s", f.kinds[id],
				c.differ[f.kinds[id]])
		}
	}
}

var (
	anyJID = regexp.MustCompile(`\b20\d{18}\b`)
	anyPID = regexp.MustCompile(`(["']_?pid["']): ?\d+`)
	// frames are the lines of a traceback between its head and the exception: files and lines of Python.
	frames = regexp.MustCompile(`(Traceback \(most recent call last\):).*?\\n([A-Za-z])`)
	// help is the docstring below the text of an argument error: brine has help texts of its own.
	help   = regexp.MustCompile(`("Passed invalid arguments to (?:[^"\\]|\\[^n])*)\\n(?:[^"\\]|\\.)*"`)
	values = regexp.MustCompile(`: ?"(?:[^"\\]|\\.)*"`)
)

func onlyKeys(text string) string { return values.ReplaceAllString(text, "") }

// impersonal takes out of an answer the id and the directories of its minion.
func (f *fleet) impersonal(text, id string) string {
	text = strings.ReplaceAll(text, f.minionRoot(id)+"/", "DIR/")
	return f.member.ReplaceAllStringFunc(text, func(found string) string {
		if found == id {
			return "ID"
		}
		return found
	})
}

// neutral takes out of an answer what belongs to one minion, one job, or Python alone.
func (f *fleet) neutral(text, id string) string {
	text = f.impersonal(text, id)
	text = frames.ReplaceAllString(text, "$1 $2")
	text = help.ReplaceAllString(text, `$1"`)
	text = anyJID.ReplaceAllString(text, "JID")
	return anyPID.ReplaceAllString(text, "$1: PID")
}

// anyone is neutral, without the names of the others.
func (f *fleet) anyone(text, id string) string {
	return f.member.ReplaceAllString(f.neutral(text, id), "ID")
}

// answers runs a job with `salt --out=json` and returns for each minion what was printed, and what the master has on
// file of the job: value, exit code, success, outputter. Order of keys counts.
func (f *fleet) answers(words []string) map[string]string {
	f.t.Helper()
	r := f.run(brine, "salt", append([]string{"-v", "--out=json", "--out-indent=-1", "-t", f.wait, "*"}, words...)...)
	start := strings.Index(r.stdout, "{\"")
	if start < 0 {
		f.t.Fatalf("salt %q: exit %d\n%s%s", words, r.code, r.stdout, r.stderr)
	}
	stored := f.stored(anyJID.FindString(r.stdout))
	out := map[string]string{}
	printed := json.NewDecoder(strings.NewReader(r.stdout[start:]))
	for {
		var one map[string]json.RawMessage
		err := printed.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			f.t.Fatalf("salt %q: %v\n%s", words, err, r.stdout)
		}
		for id, v := range one {
			out[id] = compact(v) + "\n     stored " + compact(stored[id])
		}
	}
}

// staticAnswers runs a job with Salt's own `salt --out=json --static`.
func (f *fleet) staticAnswers(words []string) map[string]string {
	f.t.Helper()
	r := f.run(reference, "salt", append([]string{"--static", "--out=json", "-t", f.wait, "*"}, words...)...)
	var printed map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.stdout), &printed); err != nil {
		f.t.Fatalf("salt %q: %v\n%s%s", words, err, r.stdout, r.stderr)
	}
	out := map[string]string{}
	for id, v := range printed {
		out[id] = compact(v)
	}
	return out
}

// stored reads a job's returns from the job cache.
func (f *fleet) stored(jid string) map[string]json.RawMessage {
	f.t.Helper()
	var job struct{ Result map[string]json.RawMessage }
	f.eventually(patience, "job "+jid+" in the job cache", func() error {
		job.Result = nil
		r := f.run(brine, "salt-run", "--out=json", "jobs.list_job", jid)
		if err := json.Unmarshal([]byte(r.stdout), &job); err != nil {
			return fmt.Errorf("%w\n%s%s", err, r.stdout, r.stderr)
		}
		for _, id := range f.ids {
			if job.Result[id] == nil {
				return fmt.Errorf("no %s in %s", id, r.stdout)
			}
		}
		return nil
	})
	return job.Result
}

// rawAnswers runs a job with Salt's own `salt --out=raw`: a line for each minion.
func (f *fleet) rawAnswers(words []string) map[string]string {
	f.t.Helper()
	r := f.run(reference, "salt", append([]string{"--out=raw", "-t", f.wait, "*"}, words...)...)
	out := map[string]string{}
	for line := range strings.Lines(r.stdout) {
		id, value, _ := strings.Cut(strings.TrimPrefix(line, "{'"), "': ")
		out[id] = value
	}
	return out
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}
