package salt

import (
	"strings"
	"testing"

	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/cmd/tooltest"
	"brine/wire/client"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

func TestReadCommand(t *testing.T) {
	for _, tt := range []struct {
		name string
		argv []string
		want saltCommand
	}{
		{"plain", []string{"*", "test.ping"}, saltCommand{tgt: "*", tgtType: "glob", fun: "test.ping", arg: []any{}}},
		{"typed", []string{"-G", "a:b", "test.arg", "1", "k=v"}, saltCommand{tgt: "a:b", tgtType: "grain",
			fun: "test.arg",
			arg: []any{int64(1), payload.M("__kwarg__", true, "k", "v")}}},
		{"not typed", []string{"--no-parse=k,j", "*", "test.arg", "k=1", "j=2", "i=3"},
			saltCommand{tgt: "*", tgtType: "glob", fun: "test.arg",
				arg: []any{payload.M("__kwarg__", true, "k", "1", "j", "2", "i", int64(3))}}},
		{"list with commas", []string{"-L", "a, b,c", "test.ping"}, saltCommand{tgt: []any{"a", "b", "c"},
			tgtType: "list", fun: "test.ping", arg: []any{}}},
		{"list with blanks", []string{"-L", " a  b ", "test.ping"}, saltCommand{tgt: []any{"a", "b"}, tgtType: "list",
			fun: "test.ping", arg: []any{}}},
		{"preview", []string{"--preview-target", "web*"}, saltCommand{tgt: "web*", tgtType: "glob", fun: previewFun,
			arg: []any{}}},
		{"all documentation", []string{"-d"}, saltCommand{tgt: "*", tgtType: "glob", fun: "sys.doc", arg: []any{},
			doc: true}},
		{"documentation of a target", []string{"-d", "web1"}, saltCommand{tgt: "web1", tgtType: "glob", fun: "sys.doc",
			arg: []any{}, doc: true}},
		{"documentation of a function", []string{"-d", "web1", "test"}, saltCommand{tgt: "web1", tgtType: "glob",
			fun: "sys.doc", arg: []any{"test"}, doc: true}},
		{"several functions", []string{"*", "a.b,c.d", "1", ",", "x=2"}, saltCommand{tgt: "*", tgtType: "glob",
			fun: []any{"a.b", "c.d"},
			arg: []any{[]any{int64(1)}, []any{payload.M("__kwarg__", true, "x", int64(2))}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readCommand(tooltest.MustOpen(t, saltParser, "", tt.argv...).Session)
			if err != nil {
				t.Fatal(err)
			}
			same := cmp.Comparer(func(a, b *payload.Map) bool { return tooltest.Packed(t, a) == tooltest.Packed(t, b) })
			if d := cmp.Diff(tt.want, *got, cmp.AllowUnexported(saltCommand{}), same); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadCommandRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		argv []string
		code int
		text string
	}{
		{"nothing", nil, tool.ExitMissing, "\nCannot execute command without defining a target.\n\n"},
		{"target only", []string{"web1"}, tool.ExitMissing, "\nIncomplete options passed.\n\n"},
		{"too few arguments", []string{"*", "a.b,c.d"}, tool.ExitMissing,
			"Cannot execute compound command without defining all arguments.\n"},
		{"too many arguments", []string{"*", "a.b,c.d", "x,y,z"}, tool.ExitMissing,
			"Cannot execute compound command with more arguments than commands.\n"},
		{"two functions to explain", []string{"-d", "*", "a.b", "c.d"}, tool.ExitUsage,
			"You can only get documentation for one method at one time.\n"},
		{"two target types", []string{"-G", "-C", "x", "y"}, tool.ExitUsage,
			"The options --grain/--compound are mutually exclusive. Please only choose one of them\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tooltest.MustOpen(t, saltParser, "", tt.argv...)
			_, err := readCommand(r.Session)
			if code := r.Finish(err); code != tt.code || !strings.HasSuffix(r.Err.String(), tt.text) {
				t.Errorf("exit %d, stderr %q, want %d, %q", code, r.Err, tt.code, tt.text)
			}
		})
	}
}

func TestSplitGroups(t *testing.T) {
	for _, tt := range []struct {
		words     string
		n         int
		separator string
		want      string // groups, separated by |
	}{
		{"a , b", 2, ",", "a|b"},
		{"a , , b", 3, ",", "a||b"},
		{"a,b :: c,d", 2, "::", "a,b|c,d"},
		{"a,b", 2, ",", "a|b"},
		{"x a,b y", 2, ",", "x a|b y"},
		{", , a", 3, ",", "||a"},
		{"a,,b", 3, ",", "a||b"},
	} {
		got, err := splitGroups(strings.Fields(tt.words), tt.n, tt.separator)
		if err != nil {
			t.Errorf("%q: %v", tt.words, err)
			continue
		}
		var groups []string
		for _, g := range got {
			groups = append(groups, strings.Join(g, " "))
		}
		if text := strings.Join(groups, "|"); text != tt.want {
			t.Errorf("%q: got %q, want %q", tt.words, text, tt.want)
		}
	}
}

// TestJob: the options travel with the job in Salt's order. Node groups are written out.
func TestJob(t *testing.T) {
	const groups = "nodegroups:\n  webs: 'L@web1,web2'\n  all: 'N@webs or db*'\n"
	r := tooltest.MustOpen(t, saltParser, groups, "-C", "--return=redis", "--metadata={a: 1}", "--module-executors=[x]",
		"--start-event", "-t", "9", "N@all and not G@a:b", "test.ping")
	cmd, err := readCommand(r.Session)
	if err != nil {
		t.Fatal(err)
	}
	salt := &saltTool{Session: r.Session, cmd: cmd, wire: masterlink.NewClient(r.Session)}
	got, err := salt.job(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := payload.M("show_timeout", true, "show_jid", false, "delimiter", ":", "module_executors", []any{"x"},
		"metadata", payload.M("a", 1), "start_event", true)
	if d := cmp.Diff(tooltest.Packed(t, want), tooltest.Packed(t, got.Kwargs)); d != "" {
		t.Error(d)
	}
	if got.Tgt != "( ( L@web1,web2 ) or db* ) and not G@a:b" || got.TgtType != "compound" || got.Ret != "redis" ||
		got.Timeout.Seconds() != 9 {
		t.Errorf("target %q %s, returners %s, timeout %v", got.Tgt, got.TgtType, got.Ret, got.Timeout)
	}
	cmd.tgt = "N@nope"
	if _, err := salt.job(t.Context()); err == nil || err.Error() != "Node group nope unavailable in "+
		r.Master.ConfFile {
		t.Errorf("unknown node group: %v", err)
	}
}

// TestTimeout: -t counts if it is above 0, otherwise the option of the file, otherwise 5.
func TestTimeout(t *testing.T) {
	for _, tt := range []struct {
		conf string
		argv []string
		want float64
	}{{"", nil, 5}, {"timeout: 20\n", nil, 20}, {"timeout: 20\n", []string{"-t", "3"}, 3},
		{"timeout: 20\n", []string{"-t", "0"}, 20}, {"", []string{"-t", "-1"}, 5}} {
		r := tooltest.MustOpen(t, saltParser, tt.conf, append(tt.argv, "*", "test.ping")...)
		if got := (&saltTool{Session: r.Session}).timeout().Seconds(); got != tt.want {
			t.Errorf("%q %q: got %v, want %v", tt.conf, tt.argv, got, tt.want)
		}
	}
}

func TestTally(t *testing.T) {
	seen := &tally{}
	seen.add(client.Return{ID: "a"}, true, 0)
	seen.add(client.Return{ID: "b"}, "x", 3)
	seen.add(client.Return{ID: "c", Silence: client.NoResponse}, "Minion did not return. [No response]\n...", 1)
	seen.add(client.Return{ID: "d", Silence: client.NoResponse}, "Minion did not return. [Not connected]", 1)
	rule := strings.Repeat("-", 43) + "\n"
	short := "\n\n" + rule + "Summary\n" + rule + "# of minions targeted: 4\n# of minions returned: 2\n" +
		"# of minions that did not return: 2\n# of minions with errors: 1\n"
	if d := cmp.Diff(short+rule, seen.text(false)); d != "" {
		t.Error(d)
	}
	more := "Minions not connected: d\nMinions not responding: c\nMinions with failures: b\n"
	if d := cmp.Diff(short+more+rule, seen.text(true)); d != "" || !seen.failed {
		t.Errorf("failed %v, %s", seen.failed, d)
	}
}

func TestRetcodeOf(t *testing.T) {
	for _, tt := range []struct {
		data *payload.Map
		want int
	}{
		{payload.M("retcode", 4), 4}, {payload.M(), 0}, {payload.M("retcode", nil), 0},
		{payload.M("retcode", payload.M("a", 1, "b", 7, "c", 0)), 7}, {payload.M("retcode", payload.M()), 0}, {nil, 0},
	} {
		if got := retcodeOf(payload.NewReturn(tt.data)); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.data, got, tt.want)
		}
	}
}

// TestShowDocs: the texts of all minions are shown by function. Silences and trimmed returns are left out.
func TestShowDocs(t *testing.T) {
	r := tooltest.MustOpen(t, saltParser, "", "-d", "*", "test")
	salt := &saltTool{Session: r.Session, cmd: &saltCommand{doc: true}}
	err := salt.showDocs(payload.M("web1", payload.M("test.ping", "Ping.\n", "test.arg", ""), "dead1",
		"Minion did not return. [No response]", "web2", payload.M("test.ping", "Other.", "test.arg", "Show.", "a.b",
			valueTrimmed), "web3", valueTrimmed))
	if want := "test.arg:\nShow.\n\ntest.ping:\nPing.\n\n"; err != nil || r.Out.String() != want {
		t.Errorf("%v, got %q, want %q", err, r.Out, want)
	}
	if code := r.Finish(salt.showDocs(payload.NewMap(0))); code != tool.ExitNoReturn ||
		r.Err.String() != "No minions found to gather docs from\n" {
		t.Errorf("nobody: exit %d, %q", code, r.Err)
	}
}
