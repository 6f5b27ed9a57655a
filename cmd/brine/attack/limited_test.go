package attack

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// This is the configuration with the limited user of these tests, who may do only what the rules name.
const limitedConf = `external_auth:
  sharedsecret:
    limited:
      - test.echo
      - honest:
        - cmd.run:
            args: ['echo.*']
            kwargs: {cwd: '/tmp$'}
        - test.arg:
            args: [null, 'safe']
      - '@wheel':
        - key.delete_dict:
            kwargs: {match: '.*pending_one.*'}
      - '@key':
        - accept:
            args: ['good$']
      - '@test':
        - arg:
            args: ['mine$']
            kwargs: {who: 'me$'}
    gone: []
sharedsecret: OpenSesame
`

// as adds the credentials of a user of external_auth to a request.
func as(user string, load *payload.Map) *payload.Map {
	return load.Set("eauth", "sharedsecret").Set("username", user).Set("password", "OpenSesame")
}

// publishAs publishes as a user of external_auth. change sets further fields of the load. It may be nil.
func (s *site) publishAs(user string, tgt, tgtType string, fun, arg any, change func(load, kwargs *payload.Map)) any {
	s.t.Helper()
	kw := as(user, payload.NewMap(0))
	load := payload.M("cmd", payload.CmdPublish, "user", user, "tgt", tgt, "tgt_type", tgtType, "fun", fun, "arg", arg,
		"ret", "", "jid", "", "kwargs", kw)
	if change != nil {
		change(load, kw)
	}
	v, err := s.stranger().ask(load)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// published tells whether a publication was accepted.
func published(v any) bool {
	m, _ := v.(*payload.Map)
	return m.Map("load").Str("jid") != ""
}

// TestLimitedArguments sends forbidden arguments in every form that a minion understands.
func TestLimitedArguments(t *testing.T) {
	s := newSite(t, limitedConf)
	mark := func(m *payload.Map) *payload.Map { return m.Set("__kwarg__", true) }
	for _, tt := range []struct {
		name string
		fun  any
		arg  any
		want bool
	}{
		{"as the rule says", "cmd.run", []any{"echo 1", mark(payload.M("cwd", "/tmp"))}, true},
		{"a keyword as a text", "cmd.run", []any{"echo 1", "cwd=/tmp"}, true},
		{"keywords first", "cmd.run", []any{mark(payload.M("cwd", "/tmp")), "echo 1"}, true},
		{"another command", "cmd.run", []any{"id", mark(payload.M("cwd", "/tmp"))}, false},
		{"a text overrides a keyword", "cmd.run", []any{"echo 1", mark(payload.M("cwd", "/tmp")), "cwd=/etc"}, false},
		{"a first map overrides nothing", "cmd.run", []any{"echo 1", mark(payload.M("cwd", "/etc")),
			mark(payload.M("cwd", "/tmp"))}, true},
		{"a second map overrides the first", "cmd.run", []any{"echo 1", mark(payload.M("cwd", "/tmp")),
			mark(payload.M("cwd", "/etc"))}, false},
		{"a text behind the map", "cmd.run", []any{"echo 1", mark(payload.M("cwd", "/etc")),
			payload.M("__kwarg__", false, "cwd", "/tmp")}, false},
		{"a mark that is not true", "cmd.run", []any{"echo 1", payload.M("__kwarg__", "yes", "cwd", "/tmp")}, false},
		{"the command as a keyword too", "cmd.run", []any{"cmd=id", mark(payload.M("cwd", "/tmp"))}, false},
		{"a keyword in the place of the first argument", "test.arg", []any{"a=b", "safe"}, false},
		{"and the second one elsewhere", "test.arg", []any{"a=b", "safe", "evil"}, false},
		{"as the second rule says", "test.arg", []any{"x", "safe"}, true},
		{"one function of two", []any{"test.echo", "cmd.run"}, []any{[]any{"x"}, []any{"id"}}, false},
		{"two functions that are allowed", []any{"test.echo", "test.arg"}, []any{[]any{"x"}, []any{"x", "safe"}}, true},
		{"fewer arguments than functions", []any{"test.echo", "test.arg"}, []any{[]any{"x"}}, false},
		{"arguments that are letters", []any{"test.echo", "test.echo"}, []any{[]any{"x"}, "xy"}, false},
		{"arguments in one text", "test.echo", "x", false},
		{"a function in bytes", []byte("cmd.run"), []any{"id"}, false},
		{"functions in bytes", []any{"test.echo", []byte("cmd.run")}, []any{[]any{"x"}, []any{"id"}}, false},
		{"find_job beside another", []any{"saltutil.find_job", "cmd.run"}, []any{[]any{"1"}, []any{"id"}}, false},
		{"find_job", "saltutil.find_job", []any{"20200101000000000000"}, true},
		{"no function", []any{}, []any{}, false},
	} {
		if got := published(s.publishAs("limited", honest, "list", tt.fun, tt.arg, nil)); got != tt.want {
			t.Errorf("%s: published %v, want %v", tt.name, got, tt.want)
		}
	}
	if published(s.publishAs("gone", honest, "list", "saltutil.find_job", []any{"20200101000000000000"}, nil)) {
		t.Error("a user without any rule asks for the jobs of others")
	}
	s.good()
}

// TestLimitedFields sends fields that change a minion's treatment of a job, or the owner of the job.
func TestLimitedFields(t *testing.T) {
	s := newSite(t, limitedConf)
	root, err := s.client().Publish(t.Context(), pingJob())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(load, kwargs *payload.Map)
		want   bool
	}{
		{"nothing", nil, true},
		{"metadata", func(_, kw *payload.Map) { kw.Set("metadata", payload.M("a", "b")) }, true},
		{"a returner", func(l, _ *payload.Map) { l.Set("ret", "local_cache") }, true},
		{"an executor", func(_, kw *payload.Map) { kw.Set("module_executors", []any{"docker"}) }, false},
		{"options of executors", func(_, kw *payload.Map) { kw.Set("executor_opts", payload.M("name", "x")) }, false},
		{"options of a returner", func(_, kw *payload.Map) {
			kw.Set("ret_kwargs", payload.M("renderer", "py"))
		}, false},
		{"a profile of a returner", func(_, kw *payload.Map) { kw.Set("ret_config", "x") }, false},
		{"another master", func(_, kw *payload.Map) { kw.Set("master_id", "x") }, false},
		{"in the name of a minion", func(_, kw *payload.Map) { kw.Set("id", honest) }, false},
		{"out of the job store", func(_, kw *payload.Map) { kw.Set("nocache", true) }, false},
		{"rules of his own", func(l, kw *payload.Map) {
			l.Set("fun", "cmd.run")
			kw.Set("auth_list", []any{".*"})
		}, false},
		{"the job of another", func(l, _ *payload.Map) { l.Set("jid", root.JID) }, false},
		{"a job id of his own", func(l, _ *payload.Map) { l.Set("jid", "20200101000000000001") }, true},
		{"the next part of his batch", func(l, _ *payload.Map) { l.Set("jid", "20200101000000000001") }, true},
	} {
		if got := published(s.publishAs("limited", honest, "list", "test.echo", []any{"x"},
			tt.change)); got != tt.want {
			t.Errorf("%s: published %v, want %v", tt.name, got, tt.want)
		}
	}
	s.good()
}

// TestLimitedTarget targets minions without cached data, with a rule for one of them.
func TestLimitedTarget(t *testing.T) {
	s := newSite(t, limitedConf)
	s.startMinion("other", "grains: {role: web}\n")
	s.startMinion(honest+"2", "")
	s.eventually("all minions", func() error {
		got, err := s.run(second(), pingJob())
		if err == nil && len(got) < 3 {
			err = fmt.Errorf("%d returns", len(got))
		}
		return err
	})
	jobs := s.listen()
	arg := []any{"echo 1", "cwd=/tmp"}
	for _, tgt := range [][2]string{{"*", "glob"}, {"other", "glob"}, {honest + ",other", "list"}, {"honest.*", "pcre"},
		{"not " + honest, "compound"}, {"* or " + honest, "compound"}, {honest, "nodegroup"}, {honest, "GLOB"},
		{"role:web", "grain"}} {
		if published(s.publishAs("limited", tgt[0], tgt[1], "cmd.run", arg, nil)) {
			t.Errorf("%s %q: published", tgt[1], tgt[0])
		}
	}
	// The master has the grains of one minion only, so it can evaluate the target only for that one. No other
	// minion may run the job.
	for _, id := range []string{"other", honest + "2"} {
		s.tool("salt-run", "cache.clear_grains", "tgt="+id)
	}
	if !published(s.publishAs("limited", "kernel:*", "grain", "cmd.run", arg, nil)) {
		t.Fatal("a grain target inside the rule is refused")
	}
	s.eventually("the publication", func() error {
		for _, e := range jobs.all() {
			if strings.HasSuffix(e.tag, "/publish") && e.data.Str("fun") == "cmd.run" {
				if to := e.data.List("tgt"); len(to) != 1 || to[0] != any(honest) || e.data.Str("tgt_type") != "list" {
					t.Errorf("published to %v (%s)", e.data.Value("tgt"), e.data.Str("tgt_type"))
				}
				return nil
			}
		}
		return errors.New("not yet")
	})
	s.good()
}

// TestLimitedPeer publishes as a minion whose rules name targets and arguments.
func TestLimitedPeer(t *testing.T) {
	s := newSite(t, "peer:\n  thief:\n    - test.ping\n    - honest: [{cmd.run: {args: ['echo.*'], kwargs: {cwd: "+
		"'/tmp$'}}}]\npeer_run:\n  thief: [manage.up]\n")
	th := s.thief("thief", nil)
	mark := func(cwd string) *payload.Map { return payload.M("__kwarg__", true, "cwd", cwd) }
	for _, tt := range []struct {
		name, fun, tgt string
		arg            []any
		want           bool
	}{
		{"a function for all", "test.ping", "*", []any{}, true},
		{"as the rule says", "cmd.run", honest, []any{"echo 1", mark("/tmp")}, true},
		{"a keyword as a text", "cmd.run", honest, []any{"echo 1", "cwd=/tmp"}, true},
		{"another target", "cmd.run", "*", []any{"echo 1", mark("/tmp")}, false},
		{"another command", "cmd.run", honest, []any{"id", mark("/tmp")}, false},
		{"another keyword", "cmd.run", honest, []any{"echo 1", mark("/tmp"), "cwd=/"}, false},
		{"another function", "test.arg", honest, []any{}, false},
		{"two functions", "test.ping,cmd.run", honest, []any{"", "id"}, false},
		{"find_job", "saltutil.find_job", honest, []any{"1"}, false},
		{"a publication of the other", "publish.publish", honest, []any{"*", "test.ping"}, false},
	} {
		v := th.must(payload.M("cmd", payload.CmdMinionPub, "id", "thief", "fun", tt.fun, "arg", tt.arg, "tgt", tt.tgt,
			"tgt_type", "glob", "ret", ""))
		if m, _ := v.(*payload.Map); (m.Str("jid") != "") != tt.want {
			t.Errorf("%s: got %v, want a publication: %v", tt.name, v, tt.want)
		}
	}
	for fun, want := range map[string]bool{"manage.up": true, "salt.cmd": false, "manage": false, "xmanage.up": false} {
		v, err := th.doWithin(patience/6, payload.M("cmd", payload.CmdMinionRunner, "id", "thief", "fun", fun, "arg",
			[]any{}))
		if m, _ := v.(*payload.Map); (err == nil && (m == nil || m.Len() > 0)) != want {
			t.Errorf("runner %s: got %v, %v", fun, v, err)
		}
	}
	s.good()
}

// TestLimitedForms sends the arguments of runner and wheel functions in every possible place of a load.
func TestLimitedForms(t *testing.T) {
	s := newSite(t, limitedConf)
	kw := payload.M
	refused := func(v any) bool {
		m, _ := v.(*payload.Map)
		return m.Has("error")
	}
	for _, tt := range []struct {
		name string
		load *payload.Map
		want bool
	}{
		{"as the rule says", kw("cmd", "runner", "fun", "test.arg", "kwarg", kw("arg", []any{"mine"}, "kwarg",
			kw("who", "me"))), true},
		{"arguments in the load", kw("cmd", "runner", "fun", "test.arg", "arg", []any{"mine"}, "kwarg",
			kw("who", "me")), true},
		{"a key beside overrides", kw("cmd", "runner", "fun", "test.arg", "kwarg", kw("arg", []any{"mine"}, "kwarg",
			kw("who", "me"), "who", "you")), false},
		{"arguments of the load come first", kw("cmd", "runner", "fun", "test.arg", "arg", []any{"evil"}, "kwarg",
			kw("arg", []any{"mine"}, "kwarg", kw("who", "me"))), false},
		{"nothing", kw("cmd", "runner", "fun", "test.arg", "kwarg", kw()), false},
		{"wheel as the rule says", kw("cmd", "wheel", "fun", "key.accept", "kwarg", kw("arg", []any{"good"}, "kwarg",
			kw())), true},
		{"wheel in the load", kw("cmd", "wheel", "fun", "key.accept", "arg", []any{"bad"}, "kwarg",
			kw("arg", []any{"good"}, "kwarg", kw())), false},
		{"wheel by its name", kw("cmd", "wheel", "fun", "key.accept", "match", "bad", "kwarg",
			kw("arg", []any{}, "kwarg", kw())), false},
		{"a keyword of the load", kw("cmd", "wheel", "fun", "key.delete_dict", "match",
			kw("minions_pre", []any{"pending_one"})), true},
		{"a keyword that another overrides", kw("cmd", "wheel", "fun", "key.delete_dict", "match",
			kw("minions_pre", []any{"pending_one"}), "kwarg", kw("match", kw("minions", []any{honest}))), false},
		{"and the other way", kw("cmd", "wheel", "fun", "key.delete_dict", "match", kw("minions", []any{honest}),
			"kwarg", kw("kwarg", kw("match", kw("minions", []any{honest})), "match", kw("minions", []any{honest}))),
			false},
	} {
		v, err := s.stranger().ask(as("limited", tt.load))
		if err != nil {
			t.Fatal(err)
		}
		if refused(v) == tt.want {
			t.Errorf("%s: got %v", tt.name, v)
		}
	}
	s.good()
}

// TestLimitedBlacklist uses a blacklist with the words of Salt's own example.
func TestLimitedBlacklist(t *testing.T) {
	s := newSite(t, limitedConf+`publisher_acl_blacklist:
  users: ['^(?!sudo_|root|limited).*$']
  modules: ['cmd.*|state', '(?!test).*\.echo']
`)
	if !published(s.publishAs("limited", honest, "list", "test.echo", []any{"x"}, nil)) {
		t.Error("an honest job is refused")
	}
	if published(s.publishAs("limited", honest, "list", "cmd.run", []any{"echo 1", "cwd=/tmp"}, nil)) {
		t.Error("a forbidden function is published")
	}
	if published(s.publishAs("gone", honest, "list", "test.echo", []any{"x"}, func(l, _ *payload.Map) {
		l.Set("user", "root")
	})) {
		t.Error("a forbidden user under another name publishes")
	}
	s.good()
}

// pingJob is a job of an honest user.
func pingJob() client.Job { return client.Job{Tgt: "*", Fun: "test.ping"} }
