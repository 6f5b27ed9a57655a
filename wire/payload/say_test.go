package payload_test

import (
	"slices"
	"testing"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// everyField is a map of all fields of requests that code reads, and one unknown field. Each value is its field's name.
func everyField(t *testing.T) *payload.Map {
	t.Helper()
	all := payload.M("of_nobody", "of_nobody")
	for _, name := range wiretest.FieldsOfRequests(t) {
		all.Set(name, name)
	}
	return all
}

// TestSayIsOfFields: everyField finds all fields that the tables name.
func TestSayIsOfFields(t *testing.T) {
	read := wiretest.FieldsOfRequests(t)
	for _, name := range []string{"cmd", "tgt", "tgt_type", "fun", "arg", "jid", "ret", "user", "key", "to", "kwargs",
		"kwarg", "auth_list", "delimiter", "metadata", "start_event", "nocache", "id", "master_id", "ret_config",
		"ret_kwargs", "module_executors", "executor_opts", "token", "eauth", "username", "password", "token_expire",
		"print_event", "full_return", "client"} {
		if !slices.Contains(read, name) {
			t.Errorf("%s is not among the fields that are read", name)
		}
	}
}

// TestByUser: of all known fields and an unknown one, a user with rules may set only those that a table opens. A new
// field is closed.
func TestByUser(t *testing.T) {
	open := []string{"cmd", "tgt", "tgt_type", "fun", "arg", "jid", "ret", "user", "to", "kwargs"}
	extra := []string{"delimiter", "metadata", "start_event", "token", "eauth", "username", "password"}
	opened := []string{"id", "nocache", "ret_config", "master_id", "auth_list", "of_nobody", "key"}
	load := everyField(t)
	load.Set("kwargs", everyField(t)).Set([]byte("fun"), "in bytes").Set("FUN", "in another case")
	load.Map("kwargs").Set(payload.Bytes("auth_list"), []any{".*"}).Set("AUTH_LIST", []any{".*"})
	before := packed(t, load)

	for _, may := range []struct{ opened, want []string }{{nil, extra},
		{opened, slices.Concat(extra, []string{"id", "nocache", "ret_config", "master_id"})}} {
		said, closed := payload.NewPublishRequest(load).ByUser(may.opened)
		if closed == "" || payload.SayOfExtras(closed) == payload.SayUser {
			t.Errorf("%q is said to be closed", closed)
		}
		same(t, "fields", said.Map(), open)
		same(t, "fields of kwargs", said.Sent(), may.want)
		said.Sent().Set("auth_list", "x")
		said.Number("1")
	}
	if string(packed(t, load)) != string(before) {
		t.Error("the request itself has changed")
	}
	if said, closed := payload.NewPublishRequest(payload.M("fun", "x", "kwargs", []any{"auth_list"})).ByUser(
		nil); closed != "" || said.Sent().Len() > 0 {
		t.Errorf("of kwargs that are no map: %v, %q", said.Map(), closed)
	}
	if said, closed := payload.NewPublishRequest(payload.M("fun", "x")).ByUser(nil); closed != "" ||
		said.Has("kwargs") {
		t.Errorf("of none: %v, %q", said.Map(), closed)
	}
}

func same(t *testing.T, what string, got *payload.Map, want []string) {
	t.Helper()
	names := payload.Texts(got.Keys())
	slices.Sort(names)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(names, want) {
		t.Errorf("%s: %q, want %q", what, names, want)
	}
}

// TestToolsSayForUsers: the fields that a tool copies from a user.
func TestToolsSayForUsers(t *testing.T) {
	all := everyField(t)
	same(t, "of a job", payload.ExtrasFor(all), []string{"delimiter", "metadata", "start_event", "token", "eauth",
		"username", "password", "ret_config", "ret_kwargs", "module_executors", "executor_opts", "master_id", "id",
		"nocache"})
	same(t, "of questions about a job", payload.Whose(all), []string{"delimiter", "token", "eauth", "username",
		"password"})
	same(t, "of a log-in", payload.NewCredentials(all).LogIn(), []string{"eauth", "username", "password",
		"token_expire"})

	all.Set("__user__", "root").Set("__jid__", "1").Set("__tag__", "salt/x").Set("arg", []any{"a"}).Set("kwarg",
		payload.M("b", 1)).Set("match", "m1")
	load := payload.WheelFor("key.accept", all)
	for _, name := range []string{"key", "user", "print_event", "full_return", "client", "__user__", "__jid__",
		"__tag__"} {
		if load.Has(name) {
			t.Errorf("a wheel request has %s of the user", name)
		}
	}
	if load.Str("cmd") != "wheel" || load.Str("fun") != "key.accept" || load.Str("match") != "m1" ||
		load.Str("token") != "token" {
		t.Errorf("a wheel request %v", load)
	}
	_, kw := payload.NewRunRequest(payload.M("cmd", "wheel", "fun", "x", "__user__", "root", "__jid__", "1", "__tag__",
		"x", "__new__", 1, "user", "root", "print_event", true, "full_return", true, "match", "m1")).WheelArguments()
	same(t, "arguments of a wheel function", kw, []string{"match"})
}

// TestWaits: a syndic calculates with the seconds.
func TestWaits(t *testing.T) {
	for _, v := range []any{int64(0), int64(5), uint64(86400)} {
		if !payload.NewPublishRequest(payload.M("to", v)).Waits() {
			t.Errorf("%v is none", v)
		}
	}
	for _, v := range []any{nil, "5", int64(-1), int64(86401), []any{}, 1.5} {
		if payload.NewPublishRequest(payload.M("to", v)).Waits() {
			t.Errorf("%v is one", v)
		}
	}
	if !payload.NewPublishRequest(payload.M()).Waits() {
		t.Error("without the field")
	}
}
