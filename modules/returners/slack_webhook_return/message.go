package slack_webhook_return

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/returners"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// message is the payload of a webhook: an attachment about the job, then either one with the return or three with
// the counts of a run of states. Source: salt/returners/slack_webhook_return.py, _generate_report and
// _generate_payload.
func message(c *loader.Call, opt options.Values, ret *payload.Map, event bool) *payload.Map {
	success := ret.Value("retcode") == int64(0) || ret.Value("retcode") == false
	title := "failure_title"
	if success {
		title = "success_title"
	}
	author := sprinkle(c, "{id}")
	if event {
		author = returners.Word(ret, "id")
	}
	text := "Function: " + returners.Word(ret, "fun") + "\n"
	if args := ret.List("fun_args"); len(args) > 0 {
		words := make([]any, len(args))
		for i, a := range args {
			words[i] = python.Str(a)
		}
		text += "Function Args: " + python.Repr(words) + "\n"
	}
	text += "JID: " + returners.Word(ret, "jid") + "\n"
	run, isRun := runOf(ret.Value("return"))
	if isRun {
		text += fmt.Sprintf("Total: %d\nDuration: %.2f secs", run.total, run.duration/1000)
	}
	about := payload.M("fallback", sprinkle(c, opt.Text(title)), "color", "#272727", "author_name", author,
		"author_link", sprinkle(c, "{localhost}"), "author_icon", opt["author_icon"], "title",
		"Success: "+python.Str(success), "text", text)
	if isRun {
		return payload.M("attachments", append([]any{about}, run.attachments(python.Truth(opt["show_tasks"]))...))
	}
	color := "danger"
	if success {
		color = "good"
	}
	return payload.M("attachments",
		[]any{about, payload.M("color", color, "title", "Return: "+returnText(ret.Value("return")))})
}

// returnText shows a return: maps as YAML.
func returnText(v any) string {
	if m, ok := v.(*payload.Map); ok {
		return "\n" + outputters.DumpYAML(m, outputters.FlowLeaves, 2)
	}
	return python.Str(v)
}

// stateRun is what happened in a run of states.
type stateRun struct {
	total           int
	changed, failed []any   // "SLS.sls | ID"
	duration        float64 // in ms
}

// runOf counts states; not ok for what is none.
// Unlike Salt: a map that only begins like a run of states is no run, where Salt fails.
func runOf(v any) (run stateRun, ok bool) {
	states, isMap := v.(*payload.Map)
	if !isMap || states.Len() == 0 {
		return run, false
	}
	type row struct {
		id    string
		state *payload.Map
	}
	var rows []row
	for k, v := range states.All() {
		tag, _ := k.(string)
		parts := strings.Split(tag, "_|-")
		state, isMap := v.(*payload.Map)
		if len(parts) != 4 || !isMap || len(rows) == 0 && !state.Has("__id__") {
			return run, false
		}
		rows = append(rows, row{parts[1], state})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(runNumber(a.state), runNumber(b.state)) })
	for _, r := range rows {
		task := payload.M("value", returners.Word(r.state, "__sls__")+".sls | "+r.id, "short", false)
		if r.state.Has("result") && !python.Truth(r.state.Value("result")) {
			run.failed = append(run.failed, task)
		}
		if python.Truth(r.state.Value("changes")) {
			run.changed = append(run.changed, task)
		}
		run.total++
		if d, ok := python.Number(r.state.Value("duration")); ok {
			run.duration += d
		} else if d, err := strconv.ParseFloat(strings.TrimSpace(r.state.Str("duration")), 64); err == nil {
			run.duration += d
		}
	}
	return run, true
}

func runNumber(state *payload.Map) int64 {
	n, _ := loader.ToInt(state.Value("__run_num__"))
	return n
}

// attachments are the three of the counts, with the states that changed and failed where they are to be shown.
func (r stateRun) attachments(tasks bool) []any {
	counted := func(color, name string, list []any) *payload.Map {
		m := payload.M("color", color, "title", fmt.Sprintf("%s: %d", name, len(list)))
		if tasks && len(list) > 0 {
			m.Set("fields", list)
		}
		return m
	}
	return []any{payload.M("color", "good", "title", fmt.Sprintf("Unchanged: %d",
		r.total-len(r.failed)-len(r.changed))),
		counted("warning", "Changed", r.changed), counted("danger", "Failed", r.failed)}
}
