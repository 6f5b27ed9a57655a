package outputters

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// golden are recorded runs of the salt command.
type golden map[string]struct {
	Stdout     string  `json:"stdout"`
	Stdout3007 *string `json:"stdout_3007"`
}

func loadGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases golden }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// token stands for what changed from run to run; the data of these tests has one value for each.
var token = strings.NewReplacer("{HMS}", "10:56:01.123456", "{DUR}", "0.5", "{JID}", "20261121105627000651", "{TMP}",
	"/tmp")

var totalTime = regexp.MustCompile(`Total run time: +[0-9.]+ m?s`)

func echoed() *payload.Map {
	return payload.M("web1", payload.M("a", 1, "b", []any{"x", payload.M("c", 2), []any{int64(3), int64(4)}},
		"d", payload.NewMap(0), "e", []any{}, "f", nil, "g", "two\nlines", "h", true, "i", 1.5, "j", ""))
}

func numbered(n int) Indent { return Indent{Kind: IndentNumber, N: n} }

func TestGoldenOutputs(t *testing.T) {
	small := payload.M("web1", payload.M("b", []any{int64(1)}, "a", "x"))
	ports := []any{payload.M("name", "eth0", "up", true), payload.M("name", "lo", "up", false)}
	lost := "Minion did not return. [No response]\nThe minions may not have all finished running and any remaining " +
		"minions will return upon completion. To look up the return data for this job later, run the following " +
		"command:\n\nsalt-run jobs.lookup_jid {JID}"
	cases := loadGolden(t)
	for _, tt := range []struct {
		id, out string
		data    any
		o       Options
	}{
		{"out-nested", "nested", echoed(), Options{}},
		{"out-json", "json", echoed(), Options{}},
		{"out-yaml", "yaml", echoed(), Options{}},
		{"out-raw", "raw", echoed(), Options{}},
		{"out-txt", "txt", echoed(), Options{}},
		{"out-pprint", "pprint", echoed(), Options{}},
		{"out-newline_values_only", "newline_values_only", echoed(), Options{}},
		{"out-quiet", "quiet", echoed(), Options{}},
		{"out-highstate", Choose("highstate", "", false, "test.echo"), echoed(), Options{}},
		{"out-table", "table", echoed(), Options{}},
		{"out-no_return", "no_return", echoed(), Options{}},
		{"out-nosuch", "nosuch", echoed(), Options{}},
		{"out-json-indent2", "json", small, Options{Indent: numbered(2)}},
		{"out-json-line", "json", small, Options{Indent: numbered(-1)}},
		{"out-yaml-indent", "yaml", payload.M("web1", payload.M("b", []any{int64(1)}, "a", payload.M("c", "d"))),
			Options{Indent: numbered(4)}},
		{"out-yaml-flow", "yaml", small, Options{Indent: numbered(-1)}},
		{"out-nvo-list", "newline_values_only", payload.M("web1", []any{"a", int64(1), nil}), Options{}},
		{"out-table-dicts", "table", payload.M("web1", payload.M("out", ports)), Options{}},
		{"color-nested", "", echoed(), Options{Color: true}},
		{"color-nested-fail", "", payload.M("web1", payload.M("test.ping", true, "test.retcode", true)),
			Options{Color: true, Retcode: 5}},
		{"color-json", "json", payload.M("web1", true), Options{Color: true}},
		{"color-table", "table", payload.M("web1", ports[:1]), Options{Color: true}},
		{"color-tty", "", payload.M("web1", payload.M("a", "x")), Options{Color: true}},
		{"nocolor-tty", "", payload.M("web1", payload.M("a", "x")), Options{}},
		{"escape-strip", "", payload.M("web1", "\x1b[31mred\x1b[0m"), Options{}},
		{"dead-color", "no_return", payload.M("dead1", token.Replace(lost)), Options{Color: true, Retcode: 1}},
		{"state-render-error", "highstate", payload.M("web1",
			[]any{"Rendering SLS 'base:brk' failed: mapping values are not allowed in this context"}), Options{}},
		{"state-missing", "highstate", payload.M("web1", []any{"No matching sls found for 'nosuch' in env 'base'"}),
			Options{}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			c, ok := cases[tt.id]
			if !ok {
				t.Fatal("no such recorded case")
			}
			want := c.Stdout
			if c.Stdout3007 != nil { // outputters 3008 does not ship any more
				want = *c.Stdout3007
			}
			text, _ := Format(tt.out, tt.data, tt.o)
			if text != "" {
				text += "\n"
			}
			if diff := cmp.Diff(token.Replace(want), text); diff != "" {
				t.Errorf("(-salt +brine)\n%s", diff)
			}
		})
	}
}

// stateReturn is a state's return in the order of fields Salt gives it.
func stateReturn(id string, run int, result any, comment string, changes *payload.Map) *payload.Map {
	return payload.M("name", id, "changes", changes, "result", result, "comment", comment, "__sls__", "bad",
		"__run_num__", run, "start_time", "10:56:01.123456", "duration", 0.5, "__id__", id)
}

func pretended() *payload.Map {
	return payload.M("testing", payload.M("old", "Unchanged", "new", "Something pretended to change"))
}

func badStates() *payload.Map {
	none := payload.NewMap(0)
	return payload.M("web1", payload.M(
		"test_|-warned_|-warned_|-configurable_test_state",
		stateReturn("warned", 3, true, "some comment", pretended()).Set("warnings", []any{"careful now"}),
		"test_|-good one_|-good one_|-succeed_without_changes", stateReturn("good one", 0, true, "Success!", none),
		"test_|-bad one_|-bad one_|-fail_without_changes", stateReturn("bad one", 1, false, "Failure!", none),
		"test_|-dependent_|-dependent_|-succeed_with_changes",
		stateReturn("dependent", 2, false, "One or more requisite failed: bad.bad one", none)))
}

func fileState(result any, comment string, changes *payload.Map) *payload.Map {
	return payload.M("web1", payload.M("file_|-/tmp/salt-golden-file_|-/tmp/salt-golden-file_|-managed",
		stateReturn("/tmp/salt-golden-file", 0, result, comment, changes)))
}

func okStates(host string) *payload.Map {
	none := payload.NewMap(0)
	return payload.M(host, payload.M(
		"test_|-first_|-first_|-succeed_without_changes", stateReturn("first", 0, true, "Success!", none),
		"test_|-second_|-second_|-succeed_with_changes", stateReturn("second", 1, true, "Success!", pretended()),
		"test_|-third_|-third_|-nop", stateReturn("third", 2, true, "Success!", none)))
}

func TestGoldenStates(t *testing.T) {
	cases := loadGolden(t)
	state := func(opts ...any) Options { return FromOpts(payload.M(opts...)) }
	colored := state()
	colored.Color = true
	for _, tt := range []struct {
		id   string
		data any
		o    Options
	}{
		{"state-ok", okStates("web1"), state()},
		{"state-ok-color", okStates("web1"), colored},
		{"state-bad", badStates(), state()},
		{"state-bad-color", badStates(), colored},
		{"state-test", fileState(nil, "The file /tmp/salt-golden-file is set to be changed\nNote: No changes made, "+
			"actual changes may\nbe different due to other states.", payload.M("newfile", "/tmp/salt-golden-file")),
			state()},
		{"state-file", fileState(true, "File /tmp/salt-golden-file updated", payload.M("diff", "New file")), state()},
		{"state-mixed", badStates(), state("state_output", "mixed")},
		{"state-changes", badStates(), state("state_output", "changes")},
		{"state-filter", badStates(), state("state_output", "filter",
			"arg", []any{"bad", payload.M("__kwarg__", true, "exclude", "True,")})},
		{"state-quiet-ok", badStates(), state("state_verbose", false)},
		{"state-diff", okStates("web1"), state("state_output_diff", true)},
		{"state-highstate", okStates("db1"), state("state_output", "full", "state_verbose", true)},
		{"state-static", okStates("web1"), state()},
	} {
		t.Run(tt.id, func(t *testing.T) {
			text, err := Format("highstate", tt.data, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got := totalTime.ReplaceAllString(text+"\n", "Total run time: {TOTAL}")
			if diff := cmp.Diff(token.Replace(cases[tt.id].Stdout), got); diff != "" {
				t.Errorf("(-salt +brine)\n%s", diff)
			}
		})
	}
}
