package payload_test

import (
	"bytes"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestRequestsOfWrongTypes: a field of a wrong type reads as missing, and reading does not change a load.
func TestRequestsOfWrongTypes(t *testing.T) {
	for _, v := range wrong {
		load := payload.M("unknown", "kept")
		for _, name := range []string{"jid", "fun", "arg", "tgt", "tgt_type", "user", "key", "tag", "pretag", "events",
			"form", "tmo", "no_parse", "token", "eauth", "username", "password", "pillarenv", "saltenv", "env", "path",
			"loc", "clear", "env_only", "preserve_minion_cache", "kwarg"} {
			load.Set(name, v)
		}
		before := packed(t, load)
		p, c, e, m, f := payload.NewPublishRequest(load), payload.NewCredentials(load), payload.NewEventRequest(load),
			payload.NewMineRequest(load), payload.NewFilePiece(load)
		peer, run := payload.NewPeerRequest(load), payload.NewRunRequest(load)
		user, named := c.User()
		texts := []string{p.JID(), p.Function(), p.TgtType(), p.User(), c.Token(), c.Eauth(), c.Username(),
			c.Password(), user, e.Tag(), e.Pretag(), m.TgtType(), peer.JID(), peer.Runs(), payload.Command(load)}
		if diff := cmp.Diff(make([]string, len(texts)), texts); diff != "" {
			t.Errorf("%T: %s", v, diff)
		}
		if !named || !c.HasToken() || !c.HasEauth() || !c.HasUsername() || p.Args() != nil || peer.Full() ||
			m.Clear() || len(peer.NoParse()) > 0 ||
			payload.EnvOnly(load) || payload.PreservesCache(load) || peer.TgtType() != "glob" {
			t.Errorf("%T: some field of another type was believed", v)
		}
		if saltenv, pillarenv := payload.NewPillarRequest(load).Envs(); saltenv != nil || pillarenv != nil {
			t.Errorf("%T is an environment", v)
		}
		if _, ok := run.Function(); ok {
			t.Errorf("%T is a function", v)
		}
		if _, several := e.Events(); several {
			t.Errorf("%T is a list of events", v)
		}
		if _, whole := f.Parts(); whole {
			t.Errorf("%T is a path", v)
		}
		if !bytes.Equal(before, packed(t, load)) {
			t.Errorf("%T: the load has changed", v)
		}
	}
}

// TestPublication: the publication of a request, in Salt's order.
func TestPublication(t *testing.T) {
	load := payload.M("cmd", "publish", "tgt", "m*", "fun", "test.ping", "arg", []any{}, "key", "k", "tgt_type", "glob",
		"ret", "r", "jid", "1", "user", "root", "to", 5, "kwargs", payload.M("token", "t", "start_event", true,
			"metadata", "of a wrong type", "id", "m1", "delimiter", "|", "ret_config", nil, "later", 1))
	p := payload.NewPublishRequest(load)
	for _, tt := range []struct {
		name   string
		extras *payload.Map
		master any
		want   *payload.Map
	}{
		{"all", nil, "master", payload.M("fun", "test.ping", "arg", []any{}, "tgt", "m*", "jid", "1", "ret", "r",
			"master_id", "master", "delimiter", "|", "id", "m1", "tgt_type", "glob", "to", 5, "ret_config", nil,
			"metadata", "of a wrong type", "start_event", true, "user", "root")},
		{"nothing", payload.M("delimiter", ":", "start_event", 1), nil, payload.M("fun", "test.ping", "arg", []any{},
			"tgt", "m*", "jid", "1", "ret", "r", "tgt_type", "glob", "to", 5, "user", "root")},
		{"its own master_id", payload.M("master_id", nil), "master", payload.M("fun", "test.ping", "arg", []any{},
			"tgt", "m*", "jid", "1", "ret", "r", "master_id", nil, "tgt_type", "glob", "to", 5, "user", "root")},
	} {
		extras := p.Extras()
		if tt.extras != nil {
			extras = payload.NewPublishRequest(payload.M("kwargs", tt.extras)).Extras()
		}
		job := payload.NewPublication(p, extras, tt.master)
		if !bytes.Equal(packed(t, job.Map()), packed(t, tt.want)) {
			t.Errorf("%s: got %v, want %v", tt.name, job.Map(), tt.want)
		}
		if job.AimAt([]string{"m1"}); job.TgtType() != "list" || len(job.Listed()) != 1 || job.Delimiter() != "" ||
			p.TgtType() != "glob" {
			t.Errorf("%s: aimed at %v", tt.name, job.Map())
		}
	}
	bare := p.WithoutSecrets()
	want := payload.M("cmd", "publish", "tgt", "m*", "fun", "test.ping", "arg", []any{}, "tgt_type", "glob", "ret", "r",
		"jid", "1", "user", "root", "to", 5, "kwargs", payload.M("start_event", true, "metadata", "of a wrong type",
			"id", "m1", "delimiter", "|", "ret_config", nil, "later", 1))
	if !bytes.Equal(packed(t, bare), packed(t, want)) || p.Field("key") != "k" || !p.Sent().Has("token") {
		t.Errorf("without secrets %v, of %v", bare, load)
	}
}

// TestExtras: TakeAuthList removes the rules of another master from a copy.
func TestExtras(t *testing.T) {
	p := payload.NewPublishRequest(payload.M("kwargs", payload.M("auth_list", []any{"x"}, "nocache", true)))
	extras := p.Extras()
	if list, given, ok := extras.TakeAuthList(); len(list) != 1 || !given || !ok || !p.Sent().Has("auth_list") ||
		!extras.NoCache() {
		t.Errorf("took %v, %v, %v of %v", list, given, ok, p.Sent())
	}
	if list, given, ok := extras.TakeAuthList(); list != nil || given || !ok {
		t.Errorf("a second time: %v, %v, %v", list, given, ok)
	}
	for _, wrong := range []any{"x", int64(1), payload.M("x", 1)} {
		if list, given, ok := payload.NewPublishRequest(payload.M("kwargs",
			payload.M("auth_list", wrong))).Extras().TakeAuthList(); list != nil || !given || ok {
			t.Errorf("rules that are no list: %v, %v, %v", list, given, ok)
		}
	}
	if none := payload.NewPublishRequest(payload.M("kwargs", "x")).Extras(); none.Delimiter() != "" || none.NoCache() ||
		none.StartEvent() {
		t.Error("of no map there is something")
	}
}

func TestFunctions(t *testing.T) {
	for _, tt := range []struct {
		load *payload.Map
		funs []string
		args [][]any
	}{
		{payload.M("fun", "a.b", "arg", []any{"x"}), []string{"a.b"}, [][]any{{"x"}}},
		{payload.M("fun", []any{"a.b", int64(1), "c.d"}, "arg", []any{[]any{"x"}, "y"}), []string{"a.b", "", "c.d"},
			[][]any{{"x"}, nil, nil}},
		{payload.M("fun", int64(1)), []string{""}, [][]any{nil}},
	} {
		funs, args := payload.NewPublishRequest(tt.load).Functions()
		if !cmp.Equal(funs, tt.funs) || !cmp.Equal(args, tt.args) {
			t.Errorf("%v: %v, %v", tt.load, funs, args)
		}
	}
}

// TestRunArguments: the possible places of the arguments of runner and wheel functions.
func TestRunArguments(t *testing.T) {
	for _, tt := range []struct {
		name     string
		load     *payload.Map
		args     []any
		kw       *payload.Map
		wheel    []any
		ofWheel  *payload.Map
		function string
	}{
		{"salt-run", payload.M("cmd", "runner", "fun", "a.b", "kwarg", payload.M("kwarg", payload.M("x", 1, "y", 1),
			"arg", []any{"p"}, "y", 2), "key", "k", "user", "u"), []any{"p"}, payload.M("x", 1, "y", 2), []any{"p"},
			payload.M("x", 1, "y", 2), "a.b"},
		{"beside", payload.M("cmd", "wheel", "fun", "a.b", "arg", []any{"p"}, "kwarg", payload.M("x", 1), "match", "m*",
			"token", "t"), []any{"p"}, payload.M("x", 1), []any{"p"}, payload.M("match", "m*", "x", 1), "a.b"},
		{"none", payload.M("fun", "a.b"), nil, nil, nil, payload.NewMap(0), "a.b"},
	} {
		r := payload.NewRunRequest(tt.load)
		before := packed(t, tt.load)
		args, kw := r.Arguments()
		wheel, ofWheel := r.WheelArguments()
		if !cmp.Equal(args, tt.args) || !kw.Equal(tt.kw) || !cmp.Equal(wheel, tt.wheel) || !ofWheel.Equal(tt.ofWheel) {
			t.Errorf("%s: %v, %v; wheel %v, %v", tt.name, args, kw, wheel, ofWheel)
		}
		if name, ok := r.Function(); name != tt.function || !ok || !bytes.Equal(before, packed(t, tt.load)) {
			t.Errorf("%s: function %q; load %v", tt.name, name, tt.load)
		}
	}
}

// TestPeerRequest: several functions in one text, and how long a minion waits.
func TestPeerRequest(t *testing.T) {
	p := payload.NewPeerRequest(payload.M("fun", "a.b,c.d,e.f", "arg", []any{"x y", []any{"z"}, int64(1)}, "tgt", "*",
		"ret", "", "id", "m1", "tmo", "3", "timeout", 7.5, "form", "full"))
	p.Split()
	if want := []any{[]any{"x", "y"}, []any{"z"}, []any{}}; !cmp.Equal(p.Args(), want) || !cmp.Equal(p.Request().Fun(),
		[]any{"a.b", "c.d", "e.f"}) {
		t.Errorf("split into %v of %v", p.Request().Fun(), p.Args())
	}
	if !p.Publishes() || p.Seconds() != 7.5 || !p.Full() || payload.NewPeerRequest(payload.M("tmo", "x", "timeout",
		-1)).Seconds() != 0 {
		t.Errorf("%v, %v", p.Publishes(), p.Seconds())
	}
}

// TestSyndicReturns: fields that the returns of one job share are in each return.
func TestSyndicReturns(t *testing.T) {
	one := payload.M("jid", "1", "fun", "a.b", "fun_args", []any{}, "return",
		payload.M("m1", payload.M("return", true, "retcode", 0, "jid", "9", "fun", "own")))
	all := payload.NewSyndicReturns(payload.M("cmd", "_syndic_return", "load", []any{one, "no map"})).List()
	if len(all) != 1 || all[0].JID() != "1" || all[0].Returns().Len() != 1 {
		t.Fatalf("got %v", all)
	}
	want := payload.M("jid", "1", "id", "m1", "return", true, "retcode", 0, "fun", "own", "fun_args", []any{})
	if got := all[0].Return("m1", all[0].Returns().Value("m1")).Map(); !bytes.Equal(packed(t, got), packed(t, want)) {
		t.Errorf("got %v, want %v", got, want)
	}
	want = payload.M("jid", "1", "id", "m2", "return", "text", "fun", "a.b", "fun_args", []any{})
	if got := all[0].Return("m2", "text").Map(); !bytes.Equal(packed(t, got), packed(t, want)) {
		t.Errorf("got %v, want %v", got, want)
	}
	alone := payload.NewSyndicReturns(payload.M("jid", "1", "load", payload.M("fun", "a.b"))).List()
	if job, has := alone[0].Job(); len(alone) != 1 || !has || job.Function() != "a.b" {
		t.Errorf("got %v", alone)
	}
}

// TestRequestsOfMinions: the fields of the other requests.
func TestRequestsOfMinions(t *testing.T) {
	e := payload.NewEventRequest(payload.M("tag", "t", "data", payload.M("message", "m"), "id", "m1"))
	if id, text := e.Error(); id != "m1" || text != "m" || !e.HasData() || e.Data().Str("message") != "m" {
		t.Errorf("event %q, %q", id, text)
	}
	if flat := payload.NewEventRequest(payload.M("tag", "t", "x", 1)); !flat.Data().Has("x") {
		t.Errorf("an event without data says %v", flat.Data())
	}
	f := payload.NewFilePiece(payload.M("path", []any{"a"}, "loc", 4, "data", "xyz"))
	if parts, whole := f.Parts(); len(parts) != 1 || !whole || f.Loc() != 4 || string(f.Data()) != "xyz" {
		t.Errorf("piece %v, %v", parts, whole)
	}
	if _, whole := payload.NewFilePiece(payload.M("path", []any{"a"}, "loc", -1, "data", "")).Parts(); whole {
		t.Error("a piece before the beginning is whole")
	}
	if ids, has := payload.Resources(payload.M("resources", payload.M("x", []any{"r1", 1, "r2"}, "y", "z"))); !has ||
		!cmp.Equal(ids, []string{"r1", "r2"}) {
		t.Errorf("resources %v, %v", ids, has)
	}
	if _, has := payload.Resources(payload.NewMap(0)); has {
		t.Error("resources in an empty load")
	}
	if m := payload.NewMineRequest(payload.M("expr_form", "list")); m.TgtType() != "list" {
		t.Errorf("tgt_type %q", m.TgtType())
	}
}
