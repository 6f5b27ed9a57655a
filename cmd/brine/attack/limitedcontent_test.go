package attack

import (
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestLimitedContent: a user who may run one function of a minion and one of the master cannot run functions
// for files, pillars, events, schedules or job caches, in any form of a request.
func TestLimitedContent(t *testing.T) {
	s := newSite(t, limitedConf)
	e := s.listen()
	var allowed []string
	for _, fun := range []string{"jobs.lookup_jid", "jobs.list_jobs", "jobs.last_run", "fileserver.update",
		"fileserver.clear_cache", "fileserver.clear_lock", "fileserver.file_list", "fileserver.envs",
		"git_pillar.update", "pillar.show_pillar", "pillar.show_top", "pillar.show_pillar_cache",
		"pillar.clear_pillar_cache", "event.send", "saltutil.sync_all", "saltutil.sync_runners", "reactor.list",
		"reactor.add", "reactor.delete", "reactor.set_leader", "cache.pillar", "cache.clear_pillar", "salt.cmd",
		"mine.get", "manage.up", "config.get"} {
		kw := payload.M("minion", honest, "jid", "20260101000000000001", "ext_source", "redis", "tag", "salt/key",
			"data", payload.M("x", forged), "event", "my/*", "reactors", []any{"/x.sls"}, "tgt", "*", "fun", "cmd.run")
		for _, load := range []*payload.Map{
			payload.M("cmd", payload.CmdRunner, "fun", fun, "kwarg", kw), payload.M("cmd", payload.CmdRunner, "fun",
				fun, "arg", []any{honest}, "kwarg", payload.NewMap(0)), payload.M("cmd", payload.CmdRunner, "fun",
				[]any{"test.arg", fun}, "kwarg", kw), payload.M("cmd", payload.CmdRunner, "fun", " "+fun, "kwarg", kw),
			payload.M("cmd", payload.CmdRunner, "fun", []byte(fun), "kwarg", kw), payload.M("cmd", payload.CmdRunner,
				"fun", "test.arg", "kwarg", payload.M("fun", fun, "who", "me")),
			payload.M("cmd", payload.CmdWheel, "fun", fun, "kwarg", kw),
		} {
			v, err := s.stranger().ask(as("limited", load))
			if err != nil {
				t.Fatalf("%v: %v", load, err)
			}
			if begun(v) || strings.Contains(fmt.Sprint(v), forged) {
				allowed = append(allowed, fmt.Sprintf("%v %v", load.Value("fun"), v))
			}
		}
	}
	for _, fun := range []string{"schedule.add", "schedule.run_job", "schedule.delete", "schedule.save", "pillar.items",
		"pillar.get", "cp.push", "cp.get_file_str", "event.send", "event.fire_master", "saltutil.sync_all",
		"saltutil.refresh_pillar", "slsutil.renderer", "jinja.load_map", "config.get", "config.option", "cmd.script",
		"saltutil.runner", "saltutil.wheel"} {
		for _, arg := range []any{[]any{"x"}, []any{}, []any{payload.M("__kwarg__", true, "name", "x")}} {
			if v := s.publishAs("limited", honest, "list", fun, arg, nil); published(v) {
				allowed = append(allowed, fmt.Sprint(fun, v))
			}
			if v := s.publishAs("limited", honest, "list", []any{"test.echo", fun}, []any{[]any{"x"}, arg},
				nil); published(v) {
				allowed = append(allowed, fmt.Sprint("test.echo and ", fun, v))
			}
		}
	}
	if len(allowed) > 0 {
		t.Errorf("a limited user does %q", allowed)
	}
	if e.has(func(tag string, data *payload.Map) bool {
		return tag == "salt/key" || strings.HasPrefix(tag, "salt/run/") && strings.HasSuffix(tag, "/new")
	}) {
		t.Errorf("events: %v", e.all())
	}
	v, err := s.stranger().ask(as("limited", payload.M("cmd", payload.CmdRunner, "fun", "test.arg", "arg",
		[]any{"mine"}, "kwarg", payload.M("who", "me"))))
	if err != nil || !begun(v) {
		t.Errorf("what he may do: %v, %v", v, err)
	}
	s.good()
}

// begun tells whether the master has started the user's function.
func begun(v any) bool {
	m, _ := v.(*payload.Map)
	return m.Str("jid")+m.Map("data").Str("jid") != ""
}
